#include "diffusion.hpp"

#include "heddle/tools/team.hpp"

namespace heddle::heart {

std::vector<double> volumes(const Model& model) {
  std::vector<double> volume(model.tetrahedron.size());
  parallel_for(default_threads(), volume.size(),
               [&](std::size_t e) { volume[e] = ElementGeometry(model.corners(e)).volume; });
  return volume;
}

std::vector<double> diffusion_matrix(const Model& model, const MeshPattern& pattern) {
  std::vector<double> values(pattern.column.size());
  parallel_for(default_threads(), values.size(), [&](std::size_t i) {
    for (unsigned at = pattern.first_term[i]; at < pattern.first_term[i + 1]; ++at) {
      const unsigned code = pattern.term[at];
      const std::size_t e = code >> 4;
      const ElementGeometry element(model.corners(e));
      values[i] += element.volume * model.diffusivity_in(e).product(model.fibre[e],
                                                                    element.gradient[code >> 2 & 3],
                                                                    element.gradient[code & 3]);
    }
  });
  return values;
}

std::vector<double> mass_matrix(const Model& model, const MeshPattern& pattern, Mass mass) {
  std::vector<double> consistent = simulation::consistent_mass(volumes(model), pattern);
  if (mass == Mass::consistent) return consistent;
  std::vector<double> lumped(consistent.size());
  for (Index v = 0; v < pattern.vertices(); ++v) {
    double sum = 0;
    std::size_t diagonal = 0;
    for (Offset i = pattern.offsets[static_cast<std::size_t>(v)];
         i < pattern.offsets[static_cast<std::size_t>(v) + 1]; ++i) {
      const auto entry = static_cast<std::size_t>(i);
      sum += consistent[entry];
      if (pattern.column[entry] == v) diagonal = entry;
    }
    lumped[diagonal] = sum;
  }
  return lumped;
}

}  // namespace heddle::heart
