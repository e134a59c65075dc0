#include "mass.hpp"

#include "heddle/tools/team.hpp"

namespace heddle::elastic {

ElementPattern pattern_of(const Model& model) {
  return element_pattern({model.vertices(), model.elements(), model.tetrahedron.front().data(), 4});
}

std::vector<double> consistent_mass(const Model& model, const ElementPattern& pattern) {
  const CornerCode& code = pattern.code;
  std::vector<double> mass(pattern.column.size());
  parallel_for(default_threads(), mass.size(), [&](std::size_t i) {
    for (unsigned at = pattern.first_term[i]; at < pattern.first_term[i + 1]; ++at) {
      const unsigned term = pattern.term[at];
      const Offset e = code.element_of_term(term);
      const double both = model.material_in(e).density * model.volume(e) / 20;
      mass[i] += code.first_of_term(term) == code.last(term) ? 2 * both : both;
    }
  });
  return mass;
}

}  // namespace heddle::elastic
