// heddle-heart's steps on a GPU, each a graph, compared with those on a CPU.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "heart/tissue.hpp"
#include "support/gpu.hpp"

namespace heddle::heart::test::heart_gpu {
namespace {

using namespace heddle::test;

class HeartOnGpu : public OnGpu, public testing::WithParamInterface<const char*> {};

/// Two membranes, a wall's fibres, probes and electrodes.
json mixed_case() {
  json of = slab_case();
  of["mesh"]["slab"] = {6, 3, 2};
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  of["regions"].push_back({{"membrane", {{"model", "aliev-panfilov"}}},
                           {"box", {{"from", {3, 0, 0}}, {"to", {6, 3, 2}}}}});
  of["fibres"] = {{"from", {{"group", "z-least"}}},
                  {"to", {{"group", "z-greatest"}}},
                  {"angles", {60, -60}},
                  {"axis", {0, 1, 0}}};
  of["points"] = {{"a", {1.3, 0.7, 0.4}}, {"b", {5, 2, 1}}};
  of["electrodes"] = {{"near", {7, 1, 0.5}}, {"far", {-9, 3, 2}}};
  of["time"] = {{"step", 0.02}, {"end", 8}};
  of["solver"] = {{"tolerance", 1e-11}};
  return of;
}

/// Runs `steps` steps with equal potentials, activations and solves.
void expect_steps_of_a_cpu(const json& of, long long steps, const char* plan,
                           const Device& device) {
  const Tissue tissue(of);
  Simulation here(tissue), there(tissue, plan, device);
  EXPECT_LE(difference(there.system.traces_now(), here.system.traces_now()), 1e-9);
  here.run(steps);
  there.run(steps);
  const std::vector<double> V = here.system.potential_of_vertices();
  EXPECT_GT(*std::max_element(V.begin(), V.end()), 0);
  EXPECT_LE(difference(there.system.potential_of_vertices(), V), 1e-5);
  EXPECT_LE(difference(there.system.activation_of_vertices(), here.system.activation_of_vertices()),
            1e-5);
  const long long last = (steps - 1) % HeartSystem::max_steps;
  EXPECT_LE(difference(there.system.traces_after(last), here.system.traces_after(last)), 1e-5);
  EXPECT_EQ(there.system.record().solves, steps);
  const auto iterations = static_cast<double>(here.system.record().iterations);
  EXPECT_NEAR(static_cast<double>(there.system.record().iterations), iterations, 0.03 * iterations);
  EXPECT_LE(there.system.record().worst_residual, tissue.given.solver.tolerance);
  EXPECT_TRUE(std::isfinite(there.system.largest_potential()));
}

TEST_P(HeartOnGpu, StepsAreThoseOfACpu) {
  for (const char* splitting : {"godunov", "strang"}) {
    const json of = with(mixed_case(), "/time/splitting", splitting);
    for (const bool tables : {false, true}) {
      expect_steps_of_a_cpu(with(of, "/tables", tables), 400, GetParam(), device);
    }
  }
}

/// Membranes at integration points: a slab with a wave that has begun.
json point_case() {
  json of = mixed_case();
  of["time"]["ionic_current"] = "integration-points";
  of["solver"]["tolerance"] = 1e-12;
  return of;
}

TEST_P(HeartOnGpu, StepsOfMembranesAtPointsAreThoseOfACpu) {
  for (const char* splitting : {"godunov", "strang"}) {
    expect_steps_of_a_cpu(with(point_case(), "/time/splitting", splitting), 150, GetParam(),
                          device);
  }
}

/// Continues past the steps that a GPU keeps at once.
TEST_P(HeartOnGpu, GoOnFromAStateWithTheSameBits) {
  for (const json& of : {mixed_case(), point_case()}) {
    const Tissue tissue(of);
    Simulation whole(tissue, GetParam(), device), first(tissue, GetParam(), device),
        second(tissue, GetParam(), device);
    expect_to_go_on_from_a_state(whole, first, second, 77, HeartSystem::max_steps + 22);
  }
}

TEST_P(HeartOnGpu, ImagesAreThoseOfTheChanges) {
  const Tissue tissue(mixed_case());
  Simulation simulation(tissue, GetParam(), device);
  simulation.run(40);
  const SystemState state = simulation.system.state();
  const Operator<Number>& A = simulation.system.matrix();
  for (const auto& [change, image] :
       {std::pair{&state.change, &state.image}, {&state.change_before, &state.image_before}}) {
    Potential x = A.field(), y = A.field();
    x.scalars() = Array<double>(std::span<const double>(*change), device);
    A.apply(1, std::as_const(x).view(), 0, y.view(), device.stream());
    const std::vector<double> expected = y.scalars().to_host();
    double size = 0;
    for (const double v : expected) size = std::max(size, std::abs(v));
    EXPECT_LE(difference(*image, expected), 1e-12 * size);
  }
}

TEST_P(HeartOnGpu, TellTheStepThatFailed) {
  json of = mixed_case();
  of["solver"] = {{"tolerance", 1e-13}, {"max_iterations", 1}};
  const Tissue tissue(of);
  Simulation limited(tissue, GetParam(), device);
  limited.system.advance(10);
  EXPECT_EQ(limited.system.record().failed_step, 0);
  EXPECT_EQ(limited.system.record().failed_status, Status::iteration_limit);

  const Tissue good(mixed_case());
  Simulation broken(good, GetParam(), device);
  broken.run(5);
  std::vector<double> V = broken.system.potential_of_vertices();
  V[17] = std::nan("");
  broken.system.set_potential(V);
  broken.system.advance(10);
  EXPECT_EQ(broken.system.record().failed_step, 5);
  EXPECT_EQ(broken.system.record().failed_status, Status::not_finite);
  const std::vector<double> after = broken.system.potential_of_vertices();
  for (std::size_t v = 0; v < after.size(); ++v) EXPECT_EQ(std::isnan(after[v]), v == 17) << v;
}

INSTANTIATE_TEST_SUITE_P(All, HeartOnGpu,
                         testing::Values("CSR", "pJDS,loop=persistent",
                                         "Sl-32,order=rcm,loop=graph"));

}  // namespace
}  // namespace heddle::heart::test::heart_gpu
