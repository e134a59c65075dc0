#include "run_summary.hpp"

#include <cstdio>
#include <span>

#include "../command/readable.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::simulation {

using cli::readable_count;
using io::printable;
using nlohmann::ordered_json;

namespace {

ordered_json to_json(const mesh::GroupSize& size) {
  ordered_json json = {{"number", size.group.number},
                       {"of", size.group.dimension == 3 ? "tetrahedra" : "triangles"},
                       {"elements", size.elements}};
  if (!size.group.name.empty()) json["name"] = printable(size.group.name);
  return json;
}

/// "inlay (120), 7 (96)": a dimension's first groups with their numbers of elements; or "none".
std::string groups_text(std::span<const mesh::GroupSize> groups, int dimension) {
  constexpr int most = 8;
  std::string list;
  int listed = 0;
  for (const auto& [group, elements] : groups) {
    if (group.dimension != dimension) continue;
    if (++listed > most) return list + ", ...";
    list += (list.empty() ? "" : ", ") +
            (group.name.empty() ? std::to_string(group.number) : printable(group.name)) + " (" +
            readable_count(elements) + ")";
  }
  return list.empty() ? "none" : list;
}

}  // namespace

void RunSummary::take_mesh(const mesh::SolidMesh& mesh) {
  vertices = static_cast<long long>(mesh.position.size());
  tetrahedra = static_cast<long long>(mesh.tetrahedron.size());
  left_out = static_cast<long long>(mesh.left_out.size());
  reoriented = mesh.reoriented;
  box = mesh::box_of(mesh.position);
  groups = mesh::group_sizes(mesh);
}

void RunSummary::add_mesh_to(ordered_json& json) const {
  json["vertices"] = vertices;
  json["tetrahedra"] = tetrahedra;
  json["left_out"] = left_out;
  json["turned"] = reoriented;
  json["box"] = {{"least", box.least}, {"most", box.most}};
  json["groups"] = ordered_json::array();
  for (const mesh::GroupSize& size : groups) json["groups"].push_back(to_json(size));
}

void RunSummary::add_matrix_to(ordered_json& json) const {
  json["entries"] = entries;
  json["device"] = device;
  json["plan"] = choice.text();
  json["plan_reason"] = choice.reason;
  json["memory"] = memory.total();
  json["lists"] = lists;
}

void RunSummary::print_mesh(const std::string& name, const std::string& unit) const {
  std::printf("mesh       %s: %s vertices, %s tetrahedra\n", printable(name).c_str(),
              readable_count(vertices).c_str(), readable_count(tetrahedra).c_str());
  if (left_out > 0) {
    std::printf(
        "note       %s more vertices belong to no element: they are left out, and the "
        "others are numbered without them\n",
        readable_count(left_out).c_str());
  }
  if (reoriented > 0) {
    std::printf(
        "note       %s tetrahedra have their corners in the opposite order: they are reoriented\n",
        readable_count(reoriented).c_str());
  }
  const auto& [least, most] = box;
  std::printf("box        %.6g to %.6g, %.6g to %.6g, %.6g to %.6g%s\n", least[0], most[0],
              least[1], most[1], least[2], most[2], unit.c_str());
  std::printf("groups     of tetrahedra: %s; of triangles: %s\n", groups_text(groups, 3).c_str(),
              groups_text(groups, 2).c_str());
}

void RunSummary::print_matrix() const {
  std::printf("device     %s\n", device.c_str());
  std::printf("plan       %s\n", choice.text().c_str());
  std::printf("reason     %s\n", printable(choice.reason).c_str());
  const std::string lists_text =
      lists > 0 ? ", assembly lists " + cli::readable_bytes(static_cast<double>(lists)) : "";
  std::printf("memory     %s%s\n", to_string(memory).c_str(), lists_text.c_str());
}

void print_file(const std::optional<std::string>& path, const std::string& more) {
  if (path) std::printf("written    %s%s\n", printable(*path).c_str(), more.c_str());
}

}  // namespace heddle::simulation
