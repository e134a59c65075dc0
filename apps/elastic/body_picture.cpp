#include "body_picture.hpp"

#include <algorithm>
#include <utility>

#include "../mesh/mesh_summary.hpp"
#include "../simulation/solid_picture.hpp"

namespace heddle::elastic {

using namespace points;
using simulation::Triangle;

namespace {

mesh::DrawnSurface drawn(const Model& model, const std::vector<Triangle>& surface,
                         const std::vector<Point>& displacement, double size) {
  double largest = 0;
  for (const Point& u : displacement) largest = std::max(largest, length(u));
  const double scale = largest > 0 ? 0.1 * size / largest : 0;
  std::vector<Point> position = model.position;
  for (std::size_t v = 0; v < position.size(); ++v) {
    position[v] = position[v] + scale * displacement[v];
  }
  std::vector<mesh::Colour> colour;
  for (const Triangle& triangle : surface) {
    double moved = 0;
    for (const Index v : triangle) moved += length(displacement[static_cast<std::size_t>(v)]) / 3;
    colour.push_back(mesh::colour_of(moved, largest));
  }
  return simulation::drawn_surface(position, surface, std::move(colour));
}

}  // namespace

void write_body_picture(const std::string& path, const Model& model,
                        std::span<const std::vector<Point>* const> displacements) {
  const mesh::Box box = mesh::box_of(model.position);
  const double size = length(box.most - box.least);
  const std::vector<Triangle> surface = simulation::Boundary(model.tetrahedron).triangles();
  std::vector<mesh::DrawnSurface> surfaces;
  for (const auto* const displacement : displacements) {
    surfaces.push_back(drawn(model, surface, *displacement, size));
  }
  const int side = surfaces.size() == 1 ? 640 : 320;
  mesh::write_picture(path, surfaces, side);
}

}  // namespace heddle::elastic
