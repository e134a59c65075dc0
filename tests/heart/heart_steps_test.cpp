// Steps in time: orders of splitting, activation, traces, restarts, and irrelevant choices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "heart/tissue.hpp"
#include "heddle/assembly.hpp"

namespace heddle::heart::test {
namespace {

/// Membranes that only take up a constant current in some of the tissue do so exactly, for any
/// step: what remains is the error of the splitting and of Crank and Nicolson's rule.
TEST(HeartSteps, SplittingHasItsOrder) {
  json of = passive_case();
  of["mesh"]["slab"] = {4, 1, 0.5};
  of["stimuli"][0]["duration"] = 100;
  of["time"]["end"] = 4;
  expect_orders_of_splittings(of, {0.5, 0.25}, 1. / 32, 0.2, potential_after);
}

/// Tests cells, diffusion and their splitting together.
TEST(HeartSteps, WavesHaveTheOrderOfTheirScheme) {
  for (const char* model : {"aliev-panfilov", "fitzhugh-nagumo"}) {
    SCOPED_TRACE(model);
    json of = with(slab_case(), "/regions/0/membrane", {{"model", model}});
    of["time"]["end"] = 4;
    expect_orders_of_splittings(of, {0.25, 0.125, 0.0625}, 1. / 256, 0.2, smooth_wave);
  }
}

/// The fronts of real cells are steep: the order shows in shorter steps.
TEST(HeartSteps, WavesOfRealCellsHaveTheOrderOfTheirScheme) {
  json of = with(slab_case(), "/regions/0/membrane", {{"model", "ten-tusscher-panfilov"}});
  of["time"]["end"] = 4;
  expect_orders_of_splittings(of, {1. / 128, 1. / 256, 1. / 512}, 1. / 4096, 0.1, smooth_wave);
}

/// The potential rises by 20 mV/ms everywhere, and passes 0 mV between steps.
TEST(HeartSteps, ActivationIsInterpolated) {
  json of = passive_case();
  of["stimuli"][0] = {{"box", {{"from", {0, 0, 0}}, {"to", {4, 2, 1}}}},
                      {"duration", 100},
                      {"amplitude", 20 * 1.4}};
  of["time"] = {{"step", 0.3}, {"end", 6}};
  for (const char* splitting : {"godunov", "strang"}) {
    of["time"]["splitting"] = splitting;
    const Tissue tissue(of);
    Simulation simulation(tissue);
    simulation.run(13);
    for (const double time : simulation.system.activation_of_vertices()) {
      EXPECT_TRUE(std::isnan(time));
    }
    simulation.run(7);
    for (const double time : simulation.system.activation_of_vertices()) {
      EXPECT_NEAR(time, 4, 1e-11);
    }
    // A second crossing does not change the result.
    simulation.system.set_potential(std::vector<double>(tissue.model.position.size(), -1));
    simulation.run(1);
    EXPECT_NEAR(simulation.system.activation_of_vertices()[0], 4, 1e-11);
  }
}

TEST(HeartSteps, TracesAreWeightsTimesPotentials) {
  json of = slab_case();
  of["points"] = {{"inside", {1.3, 0.7, 0.4}}, {"corner", {0, 0, 0}}};
  of["electrodes"] = {{"near", {5, 1, 0.5}}, {"far", {-9, 3, 2}}};
  const Tissue tissue(of);
  Simulation simulation(tissue, "pJDS,order=rcm");
  const auto expected = [&] {
    const std::vector<double> V = simulation.system.potential_of_vertices();
    std::vector<double> values;
    for (const Place& place : tissue.traces.probes) values.push_back(place.of(V));
    for (const auto& weights : tissue.traces.electrodes) {
      values.push_back(std::inner_product(V.begin(), V.end(), weights.begin(), 0.0));
    }
    return values;
  };
  EXPECT_LE(difference(simulation.system.traces_now(), expected()), 1e-10);
  simulation.system.advance(100);
  simulation.system.advance(60);
  EXPECT_LE(difference(simulation.system.traces_after(59), expected()), 1e-10);
  // The wave leaves one electrode and approaches the other; names are in alphabetical order.
  EXPECT_LT(expected()[2], -1e-3);
  EXPECT_GT(expected()[3], 0.1);
}

TEST(HeartSteps, GoOnFromAStateWithTheSameBits) {
  for (const char* splitting : {"godunov", "strang"}) {
    const Tissue tissue(with(slab_case(), "/time/splitting", splitting));
    Simulation whole(tissue, "pJDS"), first(tissue, "pJDS"), second(tissue, "pJDS");
    expect_to_go_on_from_a_state(whole, first, second, 37, 100);
  }
}

Operator<Number> matrix_of(const Tissue& tissue, const std::vector<double>& of_elements) {
  Assembly<Number> assembly(pattern_of(tissue.model), parse_plan("CSR"), Device::cpu());
  assembly.assemble(of_elements);
  return assembly.matrix();
}

std::vector<double> product(const Operator<Number>& A, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  A.apply(1, FieldView<const double>(std::span(x)), 0, FieldView<double>(std::span(y)), Stream());
  return y;
}

double length_of(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// The sums on which the next guess is based are products with the matrix.
TEST(HeartSteps, ImagesAreThoseOfTheChanges) {
  for (const char* splitting : {"godunov", "strang"}) {
    const Tissue tissue(with(slab_case(), "/time/splitting", splitting));
    Simulation simulation(tissue, "pJDS,order=rcm");
    const auto image_of = [&](const std::vector<double>& change) {
      const Operator<Number>& A = simulation.system.matrix();
      Potential x = A.field(), y = A.field();
      std::copy(change.begin(), change.end(), x.scalars().data());
      A.apply(1, std::as_const(x).view(), 0, y.view(), Stream());
      return y.scalars().to_host();
    };
    simulation.run(40);
    const SystemState state = simulation.system.state();
    const std::vector<double> image = image_of(state.change);
    const std::vector<double> before = image_of(state.change_before);
    EXPECT_LE(difference(state.image, image), 1e-12 * length_of(image));
    EXPECT_LE(difference(state.image_before, before), 1e-12 * length_of(before));
    EXPECT_GT(difference(image, before), 1e-6 * length_of(image));
  }
}

TEST(HeartSteps, ResidualsAreRelativeToTheMassOf80Millivolts) {
  for (const Mass mass : {Mass::consistent, Mass::lumped}) {
    Tissue tissue(slab_case());
    tissue.given.time.mass = mass;
    const std::size_t count = tissue.model.position.size();
    const Operator<Number> M = matrix_of(tissue, mass_of_elements(tissue.model, mass));
    const double norm = length_of(product(M, std::vector<double>(count, 1)));
    EXPECT_NEAR(norm_of_mass(tissue.model), norm, 1e-12 * norm);

    const Operator<Number> K = matrix_of(tissue, diffusion_of_elements(tissue.model));
    Simulation simulation(tissue);
    double worst = 0;
    for (int step = 0; step < 60; ++step) {
      simulation.run(1);
      // V' = V + c, and the residual is -dt K V - (M + dt / 2 K) c.
      const SystemState state = simulation.system.state();
      std::vector<double> middle = state.potential;
      for (std::size_t i = 0; i < count; ++i) middle[i] -= state.change[i] / 2;
      std::vector<double> r = product(M, state.change);
      const std::vector<double> flow = product(K, middle);
      for (std::size_t i = 0; i < count; ++i) r[i] += tissue.given.time.step * flow[i];
      worst = std::max(worst, length_of(r));
    }
    const double reported = simulation.system.record().worst_residual;
    EXPECT_NEAR(worst / (80 * norm), reported, 1e-4 * reported);
    EXPECT_LE(reported, tissue.given.solver.tolerance);
    EXPECT_GT(reported, 1e-3 * tissue.given.solver.tolerance);
  }
}

TEST(HeartSteps, ThreadsAndLayoutsDoNotMatter) {
  const Tissue tissue(slab_case());
  Simulation one(tissue, "CSR", Device::cpu(1)), three(tissue, "CSR", Device::cpu(3));
  Simulation other(tissue, "C=8,sigma=64,order=rcm");
  for (Simulation* const simulation : {&one, &three, &other}) simulation->run(100);
  EXPECT_EQ(one.system.potential_of_vertices(), three.system.potential_of_vertices());
  EXPECT_LE(difference(one.system.potential_of_vertices(), other.system.potential_of_vertices()),
            1e-5);
}

/// Uses another numbering, and another position and orientation in space.
TEST(HeartSteps, NumberingAndRotationDoNotMatter) {
  json of = with(slab_case(), "/solver/tolerance", 1e-13);
  of["fibres"] = {{"direction", {2, 1, 0}}};
  const Tissue tissue(of);
  Model rotated = tissue.model;
  std::vector<Index> number(rotated.position.size());
  std::iota(number.begin(), number.end(), 0);
  std::mt19937 random(7);
  std::shuffle(number.begin(), number.end(), random);
  const auto turn = [](const Point& p) {
    const double c = 0.6, s = 0.8;
    return Point{c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]};
  };
  for (std::size_t v = 0; v < number.size(); ++v) {
    const auto to = static_cast<std::size_t>(number[v]);
    rotated.position[to] = turn(turn(
        {tissue.model.position[v][2], tissue.model.position[v][0], tissue.model.position[v][1]}));
    rotated.region_of_vertex[to] = tissue.model.region_of_vertex[v];
    rotated.stimuli_of_vertex[to] = tissue.model.stimuli_of_vertex[v];
  }
  for (Tetrahedron& corners : rotated.tetrahedron) {
    for (Index& v : corners) v = number[static_cast<std::size_t>(v)];
  }
  for (Point& f : rotated.fibre) f = turn(turn({f[2], f[0], f[1]}));
  Simulation here(tissue), there(rotated, tissue.given);
  here.run(100);
  there.run(100);
  const std::vector<double> a = here.system.activation_of_vertices();
  const std::vector<double> b = there.system.activation_of_vertices();
  std::size_t activated = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    const double other = b[static_cast<std::size_t>(number[v])];
    if (std::isnan(a[v])) {
      EXPECT_TRUE(std::isnan(other));
    } else {
      EXPECT_NEAR(other, a[v], 1e-9);
      ++activated;
    }
  }
  EXPECT_GT(activated, 20U);
}

TEST(HeartSteps, GuessesChangeNoSolution) {
  const json of = with(slab_case(), "/solver/tolerance", 1e-11);
  std::vector<std::vector<double>> potential;
  std::vector<long long> iterations;
  for (const char* guess : {"last", "extrapolated"}) {
    const Tissue tissue(with(of, "/solver/guess", guess));
    Simulation simulation(tissue);
    simulation.run(100);
    potential.push_back(simulation.system.potential_of_vertices());
    iterations.push_back(simulation.system.record().iterations);
  }
  EXPECT_LE(difference(potential[0], potential[1]), 1e-5);
  EXPECT_LT(iterations[1], iterations[0]);
}

TEST(HeartSteps, EndWhereASolveFails) {
  json of = slab_case();
  of["solver"] = {{"tolerance", 1e-13}, {"max_iterations", 1}};
  const Tissue tissue(of);
  Simulation simulation(tissue);
  simulation.system.advance(10);
  const SolveRecord& record = simulation.system.record();
  EXPECT_EQ(record.failed_status, Status::iteration_limit);
  EXPECT_EQ(record.failed_step, 0);
  EXPECT_EQ(record.solves, 1);
}

TEST(HeartSteps, ANumberThatIsNoneStaysAtItsVertex) {
  const Tissue tissue(slab_case());
  Simulation simulation(tissue);
  std::vector<double> V(tissue.model.position.size(), -80);
  V[17] = std::numeric_limits<double>::quiet_NaN();
  simulation.system.set_potential(V);
  EXPECT_FALSE(std::isfinite(simulation.system.largest_potential()));
  simulation.system.advance(3);
  EXPECT_EQ(simulation.system.record().failed_status, Status::not_finite);
  const std::vector<double> after = simulation.system.potential_of_vertices();
  for (std::size_t v = 0; v < after.size(); ++v) EXPECT_EQ(std::isnan(after[v]), v == 17) << v;
}

TEST(HeartSteps, RefusesAStepThatMembranesDoNotBear) {
  json of = slab_case();
  of["time"] = {{"step", 2}, {"end", 10}};
  const Tissue tissue(of);
  try {
    const Simulation simulation(tissue);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()),
              "a time step of 2 ms is unstable for the membranes; at most 0.5 ms are stable");
  }
  // Strang's splitting takes half of the step at a time.
  of["time"] = {{"step", 1}, {"end", 10}, {"splitting", "strang"}};
  EXPECT_NO_THROW(Simulation simulation{Tissue(of)});
}

}  // namespace
}  // namespace heddle::heart::test
