#include "selection.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "heddle/error.hpp"
#include "message_text.hpp"

namespace heddle::simulation {

namespace {

bool lies_in(const Selection::Box& box, const Point& p) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (p[k] < box.least[k] || p[k] > box.most[k]) return false;
  }
  return true;
}

/// True if the text is a number and nothing else.
bool read_number(const std::string& text, int& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc() && stop == end;
}

const char* plural_of(int dimension) { return dimension == 3 ? "tetrahedra" : "triangles"; }

}  // namespace

Selection read_selection(const CaseObject& object) {
  Selection where;
  where.path = object.path();
  if (object.has("group") && object.has("box")) {
    object.refuse(object.path(), "has both a group and a box; give only one of them");
  }
  if (object.has("group")) {
    const nlohmann::json& group = object.at("group");
    if (group.is_number_integer()) {
      where.group = group.dump();
      where.by_number = true;
    } else if (group.is_string() && !group.get<std::string>().empty()) {
      where.group = group.get<std::string>();
    } else {
      object.refuse(object.path_of("group"), "must be the name of a group or its number");
    }
  }
  if (object.has("box")) {
    const CaseObject box = object.object("box");
    box.check_keys({"from", "to"});
    where.box = Selection::Box{box.point("from"), box.point("to")};
    for (int k = 0; k < 3; ++k) {
      if (where.box->least[k] > where.box->most[k]) {
        object.refuse(object.path_of("box"),
                      "begins beyond its end; 'from' must have the smaller numbers");
      }
    }
  }
  return where;
}

Selection read_place(const CaseObject& object) {
  Selection where = read_selection(object);
  if (where.is_everywhere()) object.refuse(object.path(), "needs a group or a box");
  return where;
}

Selector::Selector(const mesh::SolidMesh& mesh, const Boundary& boundary, std::string file)
    : mesh_(mesh), boundary_(boundary), file_(std::move(file)) {}

void Selector::refuse(const Selection& where, const std::string& what) const {
  throw Error(ErrorKind::malformed_file, file_ + ": " + where.path + " " + what);
}

bool Selector::find_group(const Selection& where, int dimension, int& number) const {
  for (const mesh::Group& group : mesh_.names) {
    if (!where.by_number && group.dimension == dimension && group.name == where.group) {
      number = group.number;
      return true;
    }
  }
  if (!read_number(where.group, number)) return false;
  const std::vector<int>& numbers = dimension == 3 ? mesh_.region : mesh_.surface;
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string Selector::names_of(int dimension) const {
  std::set<int> numbers;
  for (const int number : dimension == 3 ? mesh_.region : mesh_.surface) {
    if (number != 0) numbers.insert(number);
  }
  constexpr std::size_t most = 8;
  std::string list;
  std::size_t listed = 0;
  for (const int number : numbers) {
    if (++listed > most) return list + ", ...";
    const auto named =
        std::find_if(mesh_.names.begin(), mesh_.names.end(), [&](const mesh::Group& group) {
          return group.dimension == dimension && group.number == number;
        });
    list += (list.empty() ? "" : ", ") +
            (named != mesh_.names.end() ? printable(named->name) : std::to_string(number));
  }
  return list.empty() ? "none" : list;
}

int Selector::group_number(const Selection& where, int dimension) const {
  int number = 0;
  if (find_group(where, dimension, number)) return number;
  refuse(where, "names the group " + printable(where.group) +
                    ", which the mesh does not have; its groups of " + plural_of(dimension) +
                    " are: " + names_of(dimension));
}

std::vector<Offset> Selector::tetrahedra(const Selection& where) const {
  const int number = where.group.empty() ? 0 : group_number(where, 3);
  std::vector<Offset> found;
  for (std::size_t t = 0; t < mesh_.tetrahedron.size(); ++t) {
    bool taken = true;
    if (where.box) {
      taken = std::all_of(mesh_.tetrahedron[t].begin(), mesh_.tetrahedron[t].end(), [&](Index v) {
        return lies_in(*where.box, mesh_.position[static_cast<std::size_t>(v)]);
      });
    } else if (!where.group.empty()) {
      taken = mesh_.region[t] == number;
    }
    if (taken) found.push_back(static_cast<Offset>(t));
  }
  if (found.empty()) refuse(where, "selects no tetrahedra");
  return found;
}

std::vector<Index> Selector::vertices(const Selection& where) const {
  std::vector<bool> taken(mesh_.position.size());
  const auto take = [&](const auto& elements, const std::vector<int>& groups, int number) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (groups[i] != number) continue;
      for (const Index v : elements[i]) taken[static_cast<std::size_t>(v)] = true;
    }
  };
  int number = 0;
  if (where.box) {
    for (std::size_t v = 0; v < taken.size(); ++v) {
      taken[v] = lies_in(*where.box, mesh_.position[v]);
    }
  } else if (find_group(where, 2, number)) {
    take(mesh_.triangle, mesh_.surface, number);
  } else if (find_group(where, 3, number)) {
    take(mesh_.tetrahedron, mesh_.region, number);
  } else {
    refuse(where, "names the group " + printable(where.group) +
                      ", which the mesh does not have; its groups of triangles are: " +
                      names_of(2) + "; of tetrahedra: " + names_of(3));
  }
  std::vector<Index> found;
  for (std::size_t v = 0; v < taken.size(); ++v) {
    if (taken[v]) found.push_back(static_cast<Index>(v));
  }
  if (found.empty()) refuse(where, "selects no vertices");
  return found;
}

std::vector<Triangle> Selector::triangles(const Selection& where) const {
  std::vector<Triangle> found;
  if (where.box) {
    for (const Triangle& triangle : boundary_.triangles()) {
      if (std::all_of(triangle.begin(), triangle.end(), [&](Index v) {
            return lies_in(*where.box, mesh_.position[static_cast<std::size_t>(v)]);
          })) {
        found.push_back(triangle);
      }
    }
  } else {
    const int number = group_number(where, 2);
    std::vector<const Triangle*> selected;
    for (std::size_t i = 0; i < mesh_.triangle.size(); ++i) {
      if (mesh_.surface[i] != number) continue;
      const Triangle* const outside = boundary_.find(mesh_.triangle[i]);
      if (outside == nullptr) {
        refuse(where, "selects triangle " + std::to_string(i + 1) +
                          " of the mesh, which is not on the boundary of the solid");
      }
      selected.push_back(outside);
    }
    // A triangle that the file lists twice counts once.
    std::sort(selected.begin(), selected.end());
    selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
    for (const Triangle* const triangle : selected) found.push_back(*triangle);
  }
  if (found.empty()) refuse(where, "selects no triangles of the boundary");
  return found;
}

}  // namespace heddle::simulation
