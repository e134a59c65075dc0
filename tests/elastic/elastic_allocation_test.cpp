// Steps allocate nothing once the first is done, neither from the device's memory nor from the
// heap.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "elastic/solids.hpp"
#include "support/counted_heap.hpp"
#include "support/refusing_memory.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

TEST(ElasticAllocation, StepsAllocateNothing) {
  Model model = box({8, 3, 3}, {3, 1, 1}, {.young = 100, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -1e-3};
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      for (const auto& [plan, earlier] :
           {std::pair("CSR", 0), {"pJDS,vector=soa", 3}, {"K1rs,stored=float", 2}, {"CSR", 8}}) {
        SCOPED_TRACE(std::string(plan) + " " + std::to_string(earlier));
        heddle::test::RefusingMemory memory(default_memory());
        {
          Simulation simulation(model,
                                {.corotational = corotational,
                                 .with_mass = true,
                                 .earlier_solutions = static_cast<std::size_t>(earlier)},
                                plan, Device::cpu(2, &memory));
          TimeStepping stepping(simulation.system, {.method = method, .time_step = 0.05});
          ASSERT_TRUE(stepping.step().converged());
          stepping.energies();
          const long long from_memory = memory.allocations, from_heap = heap_allocations;
          for (int step = 0; step < 5; ++step) {
            ASSERT_TRUE(stepping.step().converged());
            stepping.energies();
            simulation.system.find_stress(stepping.displacement());
          }
          EXPECT_EQ(memory.allocations, from_memory);
          EXPECT_EQ(heap_allocations.load(), from_heap);
          EXPECT_GT(from_memory, 0);
        }
        EXPECT_EQ(memory.live, 0);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::elastic::test
