// Heart muscle as it is computed: a checked mesh with fibres and diffusivities in its elements, and
// membranes and stimuli at its vertices. Numbering is that of the mesh file; messages count from 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../mesh/solid_mesh.hpp"
#include "../simulation/boundary.hpp"
#include "case_file.hpp"
#include "element_geometry.hpp"

namespace heddle::heart {

using simulation::Tetrahedron;

/// mm2/ms: conductivity / (chi Cm).
struct Diffusivity {
  double along = 0;
  double across = 0;

  /// a . D b with fibres along f, a unit vector.
  double product(const Point& f, const Point& a, const Point& b) const {
    using namespace points;
    return across * dot(a, b) + (along - across) * (dot(a, f) * dot(b, f));
  }
};

struct Model {
  std::vector<Point> position;           // mm
  std::vector<Tetrahedron> tetrahedron;  // volumes are positive
  std::vector<Point> fibre;              // per tetrahedron, of length 1
  std::vector<MembraneChoice> membrane;  // per region
  std::vector<Diffusivity> diffusivity;
  std::vector<std::uint16_t> region;             // per tetrahedron
  std::vector<std::uint16_t> region_of_vertex;   // the last region that meets there
  std::vector<Stimulus> stimuli;                 // mV/ms
  std::vector<std::uint32_t> stimuli_of_vertex;  // bit k: stimulus k acts there

  Index vertices() const { return static_cast<Index>(position.size()); }
  Offset elements() const { return static_cast<Offset>(tetrahedron.size()); }

  std::array<Point, 4> corners(std::size_t element) const {
    std::array<Point, 4> at{};
    for (std::size_t a = 0; a < 4; ++a) {
      at[a] = position[static_cast<std::size_t>(tetrahedron[element][a])];
    }
    return at;
  }
  const Diffusivity& diffusivity_in(std::size_t element) const {
    return diffusivity[region[element]];
  }
  /// Values at the corners of an element, from values at the vertices.
  std::array<double, 4> at_corners(std::size_t element, std::span<const double> of_vertex) const {
    std::array<double, 4> at{};
    for (std::size_t a = 0; a < 4; ++a) {
      at[a] = of_vertex[static_cast<std::size_t>(tetrahedron[element][a])];
    }
    return at;
  }
};

/// Makes the model from a case and its mesh. Throws `Error` with one line: like
/// `simulation::check_and_orient`; malformed_file for a case that does not fit the mesh, and for a
/// mesh whose size no heart muscle in mm can have.
Model make_model(mesh::SolidMesh mesh, const Case& given);

}  // namespace heddle::heart
