// Newton's method for tissue on a GPU, where a step is a graph, compared with the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heart/tissue.hpp"
#include "heddle/problems.hpp"
#include "newton/newton_scheme.hpp"
#include "newton/newton_system.hpp"
#include "support/on_gpu.hpp"

namespace newton_gpu {
namespace {

using namespace heddle;
using namespace heddle::heart;
using heddle::heart::test::difference, heddle::heart::test::json, heddle::heart::test::Tissue;

class NewtonOnGpu : public heddle::test::OnGpu {};

TEST_F(NewtonOnGpu, StepsAsOnTheCpu) {
  const TetrahedronMesh solid = random_solid(3000, 5);
  std::vector<Point> position;
  std::vector<double> start;
  for (const Point& p : solid.position) {
    position.push_back({6 * p[0], 6 * p[1], 6 * p[2]});
    start.push_back(-80 + 100 / (1 + std::exp(24 * p[0] - 6)));
  }
  const std::vector<std::array<Index, 4>> tetrahedra(solid.tetrahedron.begin(),
                                                     solid.tetrahedron.end());
  const std::vector<Point> fibre(tetrahedra.size(), Point{1, 0, 0});
  AlievPanfilov slow;
  slow.t_scale = 20;
  const std::vector<NewtonRegion> regions = {{{}, 0.05, 0.2}, {{slow}, 0.1, 0.1}};
  std::vector<std::uint16_t> region(tetrahedra.size());
  for (std::size_t e = 0; e < region.size(); ++e) region[e] = e % 2;
  NewtonOptions options;
  options.step = 0.5;
  std::vector<std::vector<double>> potential, recovery;
  NewtonScheme resumed({position, tetrahedra, fibre, regions, region}, parse_plan("K1rs"), device,
                       options);
  for (const Device& on : {Device::cpu(2), device}) {
    NewtonScheme scheme({position, tetrahedra, fibre, regions, region}, parse_plan("K1rs"), on,
                        options);
    scheme.set_potential(start);
    for (int i = 0; i < 20; ++i) {
      const NewtonStep step = scheme.advance();
      ASSERT_TRUE(step.converged) << i;
      ASSERT_LE(step.residual.size(), 6U);
      if (i != 11) continue;
      resumed.set_potential(scheme.potential());
      resumed.set_recovery(scheme.recovery());
    }
    potential.push_back(scheme.potential());
    recovery.push_back(scheme.recovery());
  }
  // `resumed` continues from the GPU's state.
  for (int i = 12; i < 20; ++i) ASSERT_TRUE(resumed.advance().converged) << i;
  EXPECT_EQ(resumed.potential(), potential[1]);
  EXPECT_EQ(resumed.recovery(), recovery[1]);
  for (std::size_t v = 0; v < start.size(); ++v) {
    ASSERT_NEAR(potential[1][v], potential[0][v], 1e-6);
  }
  for (std::size_t e = 0; e < fibre.size(); ++e) {
    ASSERT_NEAR(recovery[1][e], recovery[0][e], 1e-8);
  }
  // The front has moved.
  EXPECT_GT(std::count_if(potential[0].begin(), potential[0].end(), [](double v) { return v > 0; }),
            std::count_if(start.begin(), start.end(), [](double v) { return v > 0; }));
}

/// A wave from a pulse, with a probe and an electrode.
json wave_case() {
  json of = heart::test::slab_case();
  of["points"] = {{"a", {1.3, 0.7, 0.4}}};
  of["electrodes"] = {{"far", {-9, 3, 2}}};
  of["time"] = {{"step", 0.1}, {"end", 20}, {"scheme", "newton"}};
  of["solver"] = {{"tolerance", 1e-11}};
  return of;
}

TEST_F(NewtonOnGpu, RunsWithoutTheHostAsOnTheCpu) {
  const Tissue tissue(wave_case());
  for (const char* text : {"CSR", "K1rs,loop=persistent", "Sl-32,order=rcm,loop=graph",
                           "K1rs,iteration-precision=single"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    NewtonSystem here(tissue.model, plan, Device::cpu(2), tissue.given, tissue.traces),
        there(tissue.model, plan, device, tissue.given, tissue.traces),
        by_one(tissue.model, plan, device, tissue.given, tissue.traces);
    EXPECT_LE(difference(there.traces_now(), here.traces_now()), 1e-9);
    here.advance(100);
    there.advance(100);
    for (int i = 0; i < 100; ++i) by_one.advance(1);
    const std::vector<double> V = here.potential_of_vertices();
    EXPECT_GT(*std::max_element(V.begin(), V.end()), 0);
    EXPECT_LE(difference(there.potential_of_vertices(), V), 1e-5);
    EXPECT_LE(difference(there.activation_of_vertices(), here.activation_of_vertices()), 1e-6);
    EXPECT_LE(difference(there.traces_after(99), here.traces_after(99)), 1e-5);
    EXPECT_NEAR(static_cast<double>(there.newton_iterations()),
                static_cast<double>(here.newton_iterations()), 2);
    EXPECT_EQ(there.record().solves, 100);
    EXPECT_EQ(there.record().failed_step, -1);
    const SystemState a = there.state(), b = by_one.state();
    EXPECT_EQ(a.potential, b.potential);
    EXPECT_EQ(a.membranes, b.membranes);
    EXPECT_EQ(difference(a.activation, b.activation), 0);
    const StepTimes times = there.times_so_far();
    EXPECT_GT(times.assembly, 0);
    EXPECT_GT(times.product, 0);
    EXPECT_GE(times.solve, times.product);
  }
}

TEST_F(NewtonOnGpu, SolvesWhatTheCpuAssembles) {
  const Tissue tissue(wave_case());
  for (const char* text : {"CSR", "K1", "K2rs", "K1rs,loop=persistent", "Sl-32,order=rcm"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    NewtonSystem here(tissue.model, plan, Device::cpu(2), tissue.given, tissue.traces),
        both(tissue.model, plan, device, tissue.given, tissue.traces, true);
    here.advance(100);
    both.advance(100);
    EXPECT_EQ(both.record().solves, 100);
    EXPECT_LE(difference(both.potential_of_vertices(), here.potential_of_vertices()), 1e-5);
    EXPECT_LE(difference(both.activation_of_vertices(), here.activation_of_vertices()), 1e-6);
    EXPECT_GT(both.times_so_far().product, 0);
  }
}

TEST_F(NewtonOnGpu, TakesAdaptiveStepsAsOnTheCpu) {
  json of = wave_case();
  of["time"] = {{"step", 0.05}, {"end", 120}, {"scheme", "newton"}, {"adaptive", json::object()}};
  const Tissue tissue(of);
  for (const char* text : {"K1rs", "CSR,iteration-precision=single"}) {
    SCOPED_TRACE(text);
    NewtonSystem here(tissue.model, parse_plan(text), Device::cpu(2), tissue.given, tissue.traces),
        there(tissue.model, parse_plan(text), device, tissue.given, tissue.traces);
    for (NewtonSystem* system : {&here, &there}) {
      while (system->steps() < tissue.given.time.steps) {
        system->advance(tissue.given.time.steps - system->steps());
        ASSERT_EQ(system->record().failed_step, -1);
      }
    }
    const StepCounts &a = *here.adaptive_steps(), &b = *there.adaptive_steps();
    EXPECT_LT(b.taken, tissue.given.time.steps / 4);
    EXPECT_NEAR(static_cast<double>(a.taken), static_cast<double>(b.taken), 2);
    EXPECT_EQ(a.longest, b.longest);
    EXPECT_LE(difference(there.potential_of_vertices(), here.potential_of_vertices()), 1e-2);
    EXPECT_LE(difference(there.activation_of_vertices(), here.activation_of_vertices()), 1e-3);
  }
}

TEST_F(NewtonOnGpu, LeavesTheStateWhereAStepFails) {
  json of = wave_case();
  of["solver"] = {{"tolerance", 1e-13}, {"max_iterations", 1}};
  const Tissue tissue(of);
  for (const char* plan : {"CSR", "CSR,iteration-precision=single"}) {
    NewtonSystem limited(tissue.model, parse_plan(plan), device, tissue.given, tissue.traces);
    const SystemState before = limited.state();
    limited.advance(7);
    EXPECT_EQ(limited.record().failed_step, 0);
    EXPECT_EQ(limited.record().failed_status, Status::iteration_limit);
    EXPECT_EQ(limited.newton_iterations(), 0);
    EXPECT_EQ(limited.state().potential, before.potential);
    EXPECT_EQ(limited.state().membranes, before.membranes);
  }
}

}  // namespace
}  // namespace newton_gpu
