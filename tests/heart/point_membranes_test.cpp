// Membranes at integration points: integration and projection, orders in time, and properties
// shared with membranes at vertices.
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "../../apps/heart/point_membranes.hpp"
#include "heart/tissue.hpp"

namespace heddle::heart::test {
namespace {

json at_points(json of) { return with(std::move(of), "/time/ionic_current", "integration-points"); }

/// Products of linear functions in an element are quadratic: no error except rounding.
TEST(PointMembranes, IntegrateAsTheConsistentMass) {
  const Tissue tissue(slab_case());
  Assembly<Number> mass(pattern_of(tissue.model), parse_plan("pJDS,order=rcm"), Device::cpu());
  mass.assemble(mass_of_elements(tissue.model, Mass::consistent));
  const Operator<Number>& M = mass.matrix();
  Potential V = M.field(), integral = M.field(), expected = M.field();
  std::mt19937 random(3);
  for (double& v : V.scalars()) {
    v = std::uniform_real_distribution<double>(-80, 20)(random);
  }
  std::vector<Index> corner;
  std::vector<double> volume;
  for (std::size_t e = 0; e < tissue.model.tetrahedron.size(); ++e) {
    for (const Index v : tissue.model.tetrahedron[e]) {
      corner.push_back(M.row_basis()->position(v));
    }
    volume.push_back(ElementGeometry(tissue.model.corners(e)).volume);
  }
  std::vector<double> at_point(corner.size()), before(corner.size(), 1.5);
  run(InterpolatePass{static_cast<Offset>(at_point.size()), corner.data(), V.scalars().data(),
                      nullptr, at_point.data()},
      Stream());
  for (double& v : at_point) v += 1.5;
  integrate(mass, {before.data(), at_point.data(), volume.data()}, integral.view());
  M.apply(1, std::as_const(V).view(), 0, expected.view(), Stream());
  EXPECT_LE(difference(integral.scalars().to_host(), expected.scalars().to_host()), 1e-13);
}

/// If the tissue is the same everywhere, interpolation has no effect.
TEST(PointMembranes, UniformTissueIsThatOfVertices) {
  json of = slab_case();
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  of["stimuli"][0]["box"] = {{"from", {0, 0, 0}}, {"to", {4, 2, 1}}};
  of["solver"]["tolerance"] = 1e-13;
  for (const char* splitting : {"godunov", "strang"}) {
    const json of_vertices = with(of, "/time/splitting", splitting);
    const Tissue here(of_vertices), there(at_points(of_vertices));
    Simulation vertices(here), points(there);
    vertices.run(100);
    points.run(100);
    const std::vector<double> V = vertices.system.potential_of_vertices();
    EXPECT_GT(V[0], 10);
    EXPECT_LE(difference(points.system.potential_of_vertices(), V), 1e-7);
    EXPECT_LE(difference(points.system.activation_of_vertices(),
                         vertices.system.activation_of_vertices()),
              1e-8);
  }
}

TEST(PointMembranes, WavesHaveTheOrderOfTheirScheme) {
  expect_orders_of_splittings(with(at_points(slab_case()), "/time/end", 2), {0.25, 0.125, 0.0625},
                              1. / 128, 0.2, smooth_wave);
}

/// In mm/ms: the speed of a plane wave along a bar, between 1.5 and 2.5 mm.
double speed(json of, double h) {
  of["mesh"] = {{"slab", {3, h, h}}, {"h", h}};
  of["stimuli"][0] = {
      {"box", {{"from", {0, 0, 0}}, {"to", {1, 1, 1}}}}, {"duration", 1}, {"amplitude", 100}};
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  of["conductivity"] = {{"along", 0.018}, {"across", 0.018}};
  of["time"]["end"] = 30;
  of["points"] = {{"a", {1.5, 0, 0}}, {"b", {2.5, 0, 0}}};
  const Tissue tissue(of);
  Simulation simulation(tissue);
  simulation.run(tissue.given.time.steps);
  const std::vector<double> activation = simulation.system.activation_of_vertices();
  return 1 / (tissue.traces.probes[1].of(activation) - tissue.traces.probes[0].of(activation));
}

/// Elements wider than the front make waves fast if currents are evaluated at interpolated
/// potentials, and slow if the currents are interpolated (Pathmanathan et al., Int. J. Numer. Meth.
/// Biomed. Eng. 27, 2011). Both converge to one speed.
TEST(PointMembranes, ConvergeToThoseOfVertices) {
  const auto apart = [](double h) {
    return speed(at_points(slab_case()), h) / speed(slab_case(), h) - 1;
  };
  EXPECT_GT(apart(0.5), 1);
  const double coarse = apart(0.25), middle = apart(0.125), fine = apart(0.0625);
  EXPECT_GT(coarse, 5 * middle);
  EXPECT_GT(middle, 5 * std::abs(fine));
}

/// Two models; vertices between the regions rest like the last of them.
json two_regions() {
  json of = at_points(slab_case());
  of["regions"].push_back({{"membrane", {{"model", "ten-tusscher-panfilov"}}},
                           {"box", {{"from", {2, 0, 0}}, {"to", {4, 2, 1}}}}});
  return of;
}

TEST(PointMembranes, RestAsTheRegionsOfVertices) {
  json of = two_regions();
  const Tissue here(of);
  of["time"]["ionic_current"] = "nodes";
  const Tissue there(of);
  EXPECT_EQ(Simulation(here).system.potential_of_vertices(),
            Simulation(there).system.potential_of_vertices());
}

TEST(PointMembranes, GoOnFromAStateWithTheSameBitsOnAnyThreads) {
  for (const char* splitting : {"godunov", "strang"}) {
    const Tissue tissue(with(two_regions(), "/time/splitting", splitting));
    Simulation whole(tissue, "pJDS", Device::cpu(1)), first(tissue, "pJDS", Device::cpu(2)),
        second(tissue, "pJDS", Device::cpu(3));
    expect_to_go_on_from_a_state(whole, first, second, 37, 60);
    json of_vertices = two_regions();
    of_vertices["time"]["ionic_current"] = "nodes";
    const Tissue other(of_vertices);
    Simulation vertices(other, "pJDS");
    EXPECT_THROW(vertices.system.set_state(whole.system.state()), Error);
  }
}

TEST(PointMembranes, EndWhereAProjectionFails) {
  json of = at_points(slab_case());
  of["solver"] = {{"tolerance", 1e-13}, {"max_iterations", 1}};
  const Tissue tissue(of);
  Simulation simulation(tissue);
  simulation.system.advance(10);
  EXPECT_EQ(simulation.system.record().failed_status, Status::iteration_limit);
  EXPECT_EQ(simulation.system.record().failed_step, 0);
  EXPECT_EQ(simulation.system.record().solves, 0);
  EXPECT_EQ(simulation.system.steps(), 1);
}

}  // namespace
}  // namespace heddle::heart::test
