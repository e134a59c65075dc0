#include "modes_file.hpp"

#include <span>

#include "../mesh/vtu_file.hpp"

namespace heddle::elastic {

void write_modes(const std::string& path, const Model& model, const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= modes.size(); ++i) names.push_back("mode_" + std::to_string(i));
  std::vector<mesh::VtuArray> of_points;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const std::vector<Point>& shape = modes[i].shape;
    of_points.push_back({names[i], 3, std::span(shape.front().data(), 3 * shape.size())});
  }
  mesh::write_vtu(path, {model.position, model.tetrahedron, of_points, {}});
}

}  // namespace heddle::elastic
