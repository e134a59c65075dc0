// Pieces of tissue for tests, and systems made of them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../apps/heart/diffusion.hpp"
#include "../../apps/heart/heart_system.hpp"
#include "../../apps/heart/model.hpp"
#include "heddle/plan.hpp"

namespace heddle::heart::test {

using nlohmann::json;

/// Its upstrokes are faster than those of real cells.
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

/// Without currents through membranes, but for stimuli: c scales all that Aliev and Panfilov's
/// have.
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

/// The model that a case makes of its slab.
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

  /// To the end of the case, or so many steps.
  void run(long long steps) {
    while (steps > 0) {
      const long long count = std::min(steps, HeartSystem::most_steps);
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
    // NaN of both is none, NaN of one the largest.
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double here = std::abs(a[i] - b[i]);
    if (!(here <= most)) most = std::isnan(here) ? HUGE_VAL : here;
  }
  return most;
}

}  // namespace heddle::heart::test
