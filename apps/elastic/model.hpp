// A solid as it is computed: a checked mesh with a material in each element, and the supports and
// loads of each vertex. Numbering is that of the mesh file; messages count from 1.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../mesh/solid_mesh.hpp"
#include "../simulation/boundary.hpp"
#include "case_file.hpp"
#include "tetrahedron.hpp"

namespace heddle::elastic {

using simulation::Tetrahedron;

struct Material {
  double young = 1;
  double poisson = 0.3;
  double density = 0;

  Lame lame() const {
    return {young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))};
  }
};

struct Model {
  std::vector<Point> position;
  std::vector<Tetrahedron> tetrahedron;  // volumes are positive
  std::vector<Material> material;
  std::vector<std::uint16_t> material_of;  // per tetrahedron
  std::vector<std::uint8_t> fixed;  // bit k: component k of the vertex's displacement is given
  std::vector<Point> displacement;  // given ones; zero elsewhere
  std::vector<Point> load;          // force on the vertex
  std::vector<Point> velocity;      // at the start

  /// All free, without loads, at rest.
  static Model make(std::vector<Point> position, std::vector<Tetrahedron> tetrahedron,
                    const Material& material);

  Index vertices() const { return static_cast<Index>(position.size()); }
  Offset elements() const { return static_cast<Offset>(tetrahedron.size()); }
  /// Number of components that are not given.
  long long unknowns() const;

  std::array<Point, 4> corners(Offset element) const {
    const Tetrahedron& t = tetrahedron[static_cast<std::size_t>(element)];
    return {position[static_cast<std::size_t>(t[0])], position[static_cast<std::size_t>(t[1])],
            position[static_cast<std::size_t>(t[2])], position[static_cast<std::size_t>(t[3])]};
  }
  double volume(Offset element) const;
  const Material& material_in(Offset element) const {
    return material[material_of[static_cast<std::size_t>(element)]];
  }
};

/// Makes the model from a case and its mesh. Throws `Error` with one line: singular for elements
/// without positive volume, malformed_file for a mesh with vertices outside of all elements and for
/// a case that does not fit the mesh.
Model make_model(mesh::SolidMesh mesh, const Case& given);

/// Adds the forces of a body force (per volume) on the vertices to the loads, by a quadrature that
/// is exact for polynomials of degree 2 (Hughes, The Finite Element Method, section 3.I).
template <class Force>
void add_body_force(Model& model, const Force& force) {
  using namespace points;
  // Four points, each near a corner.
  constexpr double near = 0.58541019662496845, far = 0.13819660112501052;
  for (Offset e = 0; e < model.elements(); ++e) {
    const std::array<Point, 4> p = model.corners(e);
    const double weight = model.volume(e) / 4;
    for (int q = 0; q < 4; ++q) {
      Point at{};
      for (int a = 0; a < 4; ++a) at = at + (a == q ? near : far) * p[a];
      const Point f = weight * force(at);
      for (int a = 0; a < 4; ++a) {
        const auto v = static_cast<std::size_t>(model.tetrahedron[static_cast<std::size_t>(e)][a]);
        model.load[v] = model.load[v] + (a == q ? near : far) * f;
      }
    }
  }
}

}  // namespace heddle::elastic
