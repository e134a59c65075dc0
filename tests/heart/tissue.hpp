// Pieces of tissue for tests, and systems made of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../../apps/heart/diffusion.hpp"
#include "../../apps/heart/heart_system.hpp"
#include "../../apps/heart/model.hpp"
#include "heddle/plan.hpp"

namespace heddle::heart::test {

using nlohmann::json;

/// The upstrokes are faster than those of real cells.
inline json slab_case() {
  return json::parse(R"({
    "mesh": {"slab": [4, 2, 1], "h": 0.5},
    "regions": [{"membrane": {"model": "aliev-panfilov", "parameters": {"t_scale": 4}}}],
    "conductivity": {"along": 0.14, "across": 0.028},
    "stimuli": [{"box": {"from": [0, 0, 0], "to": [1, 1, 1]}, "duration": 2, "amplitude": 50}],
    "time": {"step": 0.05, "end": 5},
    "solver": {"tolerance": 1e-9}
  })");
}

/// No currents through membranes, except for stimuli: c scales all currents of Aliev and Panfilov's
/// model.
inline json passive_case() {
  json of = slab_case();
  of["regions"][0]["membrane"]["parameters"]["c"] = 1e-30;
  of["solver"]["tolerance"] = 1e-13;
  return of;
}

inline json with(json value, const char* pointer, const json& part) {
  value[json::json_pointer(pointer)] = part;
  return value;
}

/// The model that a case makes from its slab.
struct Tissue {
  Case given;
  Model model;
  Traces traces;

  explicit Tissue(const json& of)
      : given(parse_case(of.dump(), "case.json")),
        model(make_model(mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split),
                         given)),
        traces(find_traces(model, given)) {}
};

struct Simulation {
  HeartSystem system;

  Simulation(const Model& model, const Case& given, const Traces& traces = {},
             const char* plan = "CSR", const Device& device = Device::cpu())
      : system(model, pattern_of(model), parse_plan(plan), device,
               {given.time, given.solver, given.activation_threshold, given.tables}, traces) {}
  explicit Simulation(const Tissue& tissue, const char* plan = "CSR",
                      const Device& device = Device::cpu())
      : Simulation(tissue.model, tissue.given, tissue.traces, plan, device) {}

  /// Runs `steps` steps.
  void run(long long steps) {
    while (steps > 0) {
      const long long count = std::min(steps, HeartSystem::max_steps);
      system.advance(count);
      ASSERT_EQ(system.record().failed_step, -1) << name(system.record().failed_status);
      steps -= count;
    }
  }
};

inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // If both are NaN they count as equal; if one is, the difference is infinite.
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double here = std::abs(a[i] - b[i]);
    if (!(here <= most)) most = std::isnan(here) ? HUGE_VAL : here;
  }
  return most;
}

inline std::vector<double> potential_after(const json& of) {
  const Tissue tissue(of);
  Simulation simulation(tissue);
  simulation.run(tissue.given.time.steps);
  return simulation.system.potential_of_vertices();
}

/// The potential at the end of the case, from a smooth one that excites part of the tissue.
inline std::vector<double> smooth_wave(json of) {
  of["stimuli"] = json::array();
  of["solver"]["tolerance"] = 1e-12;
  const Tissue tissue(of);
  Simulation simulation(tissue);
  std::vector<double> start;
  for (const Point& p : tissue.model.position) start.push_back(-60 + 25 * std::cos(p[0]));
  simulation.system.set_potential(start);
  simulation.run(tissue.given.time.steps);
  return simulation.system.potential_of_vertices();
}

/// With halved `steps` (ms), errors have the order of their splitting, within `tolerance`, relative
/// to `strang` with the step `reference`. `potential_of` computes the compared values from a case.
template <class PotentialOf>
void expect_orders_of_splittings(const json& of, std::initializer_list<double> steps,
                                 double reference, double tolerance,
                                 const PotentialOf& potential_of) {
  const auto run = [&](const char* splitting, double step) {
    return potential_of(with(with(of, "/time/splitting", splitting), "/time/step", step));
  };
  const std::vector<double> exact = run("strang", reference);
  for (const auto& [splitting, order] : {std::pair{"godunov", 1.0}, {"strang", 2.0}}) {
    double before = 0;
    for (const double step : steps) {
      const double error = difference(run(splitting, step), exact);
      if (before > 0) {
        EXPECT_NEAR(std::log2(before / error), order, tolerance) << splitting << " " << step;
      }
      before = error;
    }
  }
}

/// A run of `steps` and one that continues from a state after `first` of them have the same bits.
inline void expect_to_go_on_from_a_state(Simulation& whole, Simulation& begun, Simulation& resumed,
                                         long long first, long long steps) {
  whole.run(steps);
  begun.run(first);
  resumed.system.set_state(begun.system.state());
  resumed.run(steps - first);
  const SystemState a = whole.system.state(), b = resumed.system.state();
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.potential, b.potential);
  EXPECT_EQ(a.change, b.change);
  EXPECT_EQ(a.change_before, b.change_before);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.image_before, b.image_before);
  EXPECT_EQ(a.projected, b.projected);
  EXPECT_EQ(a.membranes, b.membranes);
  EXPECT_LE(difference(a.activation, b.activation), 0);
}

}  // namespace heddle::heart::test
