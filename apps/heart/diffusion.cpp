#include "diffusion.hpp"

#include <cmath>
#include <numeric>

#include "heddle/tools/team.hpp"

namespace heddle::heart {

namespace {

/// Collects `entry(element, a, b)` for each pair of corners.
template <class Entry>
std::vector<double> of_elements(const Model& model, const Entry& entry) {
  std::vector<double> values(16 * model.tetrahedron.size());
  parallel_for(default_threads(), model.tetrahedron.size(), [&](std::size_t e) {
    const ElementGeometry element(model.corners(e));
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) values[16 * e + 4 * a + b] = entry(element, e, a, b);
    }
  });
  return values;
}

}  // namespace

ElementPattern pattern_of(const Model& model) {
  return element_pattern({model.vertices(), model.elements(), model.tetrahedron.front().data(), 4});
}

std::vector<double> diffusion_of_elements(const Model& model) {
  return of_elements(
      model, [&](const ElementGeometry& element, std::size_t e, std::size_t a, std::size_t b) {
        return element.volume * model.diffusivity_in(e).product(model.fibre[e], element.gradient[a],
                                                                element.gradient[b]);
      });
}

std::vector<double> mass_of_elements(const Model& model, Mass mass) {
  return of_elements(
      model, [&](const ElementGeometry& element, std::size_t, std::size_t a, std::size_t b) {
        if (mass == Mass::lumped) return a == b ? element.volume / 4 : 0;
        return element.volume / (a == b ? 10 : 20);
      });
}

double norm_of_mass(const Model& model) {
  std::vector<double> of_vertex(model.position.size());
  for (std::size_t e = 0; e < model.tetrahedron.size(); ++e) {
    const double part = ElementGeometry(model.corners(e)).volume / 4;
    for (const Index v : model.tetrahedron[e]) of_vertex[static_cast<std::size_t>(v)] += part;
  }
  return std::sqrt(std::inner_product(of_vertex.begin(), of_vertex.end(), of_vertex.begin(), 0.0));
}

}  // namespace heddle::heart
