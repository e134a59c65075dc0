#include "group_text.hpp"

#include "../command/readable.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::simulation {

using cli::readable_count;
using io::printable;
using nlohmann::ordered_json;

ordered_json to_json(const mesh::GroupSize& size) {
  ordered_json json = {{"number", size.group.number},
                       {"of", size.group.dimension == 3 ? "tetrahedra" : "triangles"},
                       {"elements", size.elements}};
  if (!size.group.name.empty()) json["name"] = printable(size.group.name);
  return json;
}

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

}  // namespace heddle::simulation
