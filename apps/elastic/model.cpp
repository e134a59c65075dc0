#include "model.hpp"

#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "../simulation/boundary.hpp"
#include "../simulation/check_mesh.hpp"
#include "../simulation/message_text.hpp"
#include "../simulation/selection.hpp"
#include "heddle/error.hpp"

namespace heddle::elastic {

using namespace points;
using simulation::Boundary;
using simulation::Selector;
using simulation::shortest;
using simulation::Triangle;

namespace {

[[noreturn]] void refuse(const Case& given, const std::string& what) {
  throw Error(ErrorKind::malformed_file, given.path + ": " + what);
}

void assign_materials(Model& model, const Case& given, const Selector& selector) {
  constexpr auto none = std::numeric_limits<std::uint16_t>::max();
  if (given.materials.size() >= none) refuse(given, "materials has too many entries");
  model.material_of.assign(model.tetrahedron.size(), none);
  model.material.clear();
  for (const MaterialCase& material : given.materials) {
    const auto number = static_cast<std::uint16_t>(model.material.size());
    model.material.push_back({material.young, material.poisson, material.density.value_or(0)});
    for (const Offset t : selector.tetrahedra(material.where)) {
      model.material_of[static_cast<std::size_t>(t)] = number;
    }
  }
  for (std::size_t t = 0; t < model.material_of.size(); ++t) {
    if (model.material_of[t] == none) {
      refuse(given,
             "no entry of materials covers tetrahedron " + std::to_string(t + 1) + " of the mesh");
    }
  }
}

/// The entry of the case that gave each component of a vertex its displacement.
using Givers = std::vector<std::array<const DisplacementCase*, 3>>;

void give_displacement(Model& model, const Case& given, const DisplacementCase& one, Index vertex,
                       Givers& givers) {
  const auto v = static_cast<std::size_t>(vertex);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!one.component[k]) continue;
    const double value = *one.component[k];
    const DisplacementCase*& giver = givers[v][k];
    if (giver != nullptr && model.displacement[v][k] != value) {
      refuse(given, one.where.path + " moves vertex " + std::to_string(vertex + 1) + " by " +
                        shortest(value) + " along " + "xyz"[k] + ", " + giver->where.path + " by " +
                        shortest(model.displacement[v][k]));
    }
    giver = &one;
    model.displacement[v][k] = value;
    model.fixed[v] = static_cast<std::uint8_t>(model.fixed[v] | 1U << k);
  }
}

/// A force that is uniform on a triangle goes to its corners in equal parts.
void add_surface_load(Model& model, const SurfaceLoadCase& load, const Selector& selector) {
  for (const Triangle& triangle : selector.triangles(load.where)) {
    const auto at = [&](std::size_t a) -> const Point& {
      return model.position[static_cast<std::size_t>(triangle[a])];
    };
    const Point outward = 0.5 * cross(at(1) - at(0), at(2) - at(0));  // its length is the area
    const Point force = length(outward) * load.traction - load.pressure * outward;
    for (const Index v : triangle) {
      Point& sum = model.load[static_cast<std::size_t>(v)];
      sum = sum + (1.0 / 3) * force;
    }
  }
}

void add_gravity(Model& model, const Point& gravity) {
  for (Offset e = 0; e < model.elements(); ++e) {
    const Point force = (model.volume(e) * model.material_in(e).density / 4) * gravity;
    for (const Index v : model.tetrahedron[static_cast<std::size_t>(e)]) {
      Point& sum = model.load[static_cast<std::size_t>(v)];
      sum = sum + force;
    }
  }
}

}  // namespace

Model Model::make(std::vector<Point> position, std::vector<Tetrahedron> tetrahedron,
                  const Material& material) {
  Model model;
  model.position = std::move(position);
  model.tetrahedron = std::move(tetrahedron);
  model.material = {material};
  model.material_of.resize(model.tetrahedron.size());
  model.fixed.resize(model.position.size());
  model.displacement.resize(model.position.size());
  model.load.resize(model.position.size());
  model.velocity.resize(model.position.size());
  return model;
}

long long Model::unknowns() const {
  auto unknowns = 3 * static_cast<long long>(vertices());
  for (const std::uint8_t bits : fixed) unknowns -= std::popcount(bits);
  return unknowns;
}

double Model::volume(Offset element) const {
  const auto [a, b, c, d] = corners(element);
  return volume6(a, b, c, d) / 6;
}

Model make_model(mesh::SolidMesh mesh, const Case& given) {
  simulation::check_and_orient(mesh);
  const Boundary boundary(mesh.tetrahedron);
  const Selector selector(mesh, boundary, given.path);
  Model model = Model::make(mesh.position, mesh.tetrahedron, {});
  assign_materials(model, given, selector);
  Givers givers(model.position.size());
  for (const DisplacementCase& one : given.displacements) {
    for (const Index v : selector.vertices(one.where)) {
      give_displacement(model, given, one, v, givers);
    }
  }
  for (const SurfaceLoadCase& load : given.loads) add_surface_load(model, load, selector);
  add_gravity(model, given.gravity);
  for (Point& velocity : model.velocity) velocity = given.analysis.initial_velocity;
  if (model.unknowns() == 0) refuse(given, "the supports leave nothing free to move");
  return model;
}

}  // namespace heddle::elastic
