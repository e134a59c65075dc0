#include "model.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "../mesh/mesh_summary.hpp"
#include "../simulation/boundary.hpp"
#include "../simulation/check_mesh.hpp"
#include "fibres.hpp"
#include "heddle/error.hpp"

namespace heddle::heart {

using namespace points;
using simulation::Selector;

namespace {

[[noreturn]] void refuse(const Case& given, const std::string& what) {
  throw Error(ErrorKind::malformed_file, given.path + ": " + what);
}

void check_size(const mesh::SolidMesh& mesh) {
  const mesh::Box box = mesh::box_of(mesh.position);
  const Point sides = box.most - box.least;
  check_width(std::max({sides[0], sides[1], sides[2]}));
}

void assign_regions(Model& model, const Case& given, const Selector& selector) {
  constexpr auto none = std::numeric_limits<std::uint16_t>::max();
  if (given.regions.size() >= none) refuse(given, "regions has too many entries");
  model.region.assign(model.tetrahedron.size(), none);
  const double per_membrane = given.chi * given.Cm;
  for (const RegionCase& region : given.regions) {
    const auto number = static_cast<std::uint16_t>(model.membrane.size());
    model.membrane.push_back(region.membrane);
    model.diffusivity.push_back(
        {region.conductivity.along / per_membrane, region.conductivity.across / per_membrane});
    for (const Offset t : selector.tetrahedra(region.where)) {
      model.region[static_cast<std::size_t>(t)] = number;
    }
  }
  model.region_of_vertex.assign(model.position.size(), 0);
  for (std::size_t t = 0; t < model.region.size(); ++t) {
    if (model.region[t] == none) {
      refuse(given,
             "no entry of regions covers tetrahedron " + std::to_string(t + 1) + " of the mesh");
    }
    for (const Index v : model.tetrahedron[t]) {
      std::uint16_t& of_vertex = model.region_of_vertex[static_cast<std::size_t>(v)];
      of_vertex = std::max(of_vertex, model.region[t]);
    }
  }
}

void assign_stimuli(Model& model, const Case& given, const Selector& selector) {
  model.stimuli_of_vertex.assign(model.position.size(), 0);
  for (std::size_t k = 0; k < given.stimuli.size(); ++k) {
    const StimulusCase& stimulus = given.stimuli[k];
    model.stimuli.push_back({stimulus.start, stimulus.duration,
                             stimulus.amplitude / (given.chi * given.Cm), stimulus.period,
                             stimulus.count});
    for (const Index v : selector.vertices(stimulus.where)) {
      model.stimuli_of_vertex[static_cast<std::size_t>(v)] |= 1U << k;
    }
  }
}

}  // namespace

Model make_model(mesh::SolidMesh mesh, const Case& given) {
  check_size(mesh);
  simulation::check_and_orient(mesh);
  const simulation::Boundary boundary(mesh.tetrahedron);
  const Selector selector(mesh, boundary, given.path);
  Model model;
  model.position = mesh.position;
  model.tetrahedron = mesh.tetrahedron;
  assign_regions(model, given, selector);
  assign_stimuli(model, given, selector);
  model.fibre = find_fibres(model, given, selector);
  return model;
}

}  // namespace heddle::heart
