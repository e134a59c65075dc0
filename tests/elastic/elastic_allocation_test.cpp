// Steps allocate nothing once the first is done, neither from the device's memory nor from the
// heap.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "elastic/solids.hpp"
#include "support/refusing_memory.hpp"
#include "time_stepping.hpp"

namespace {

std::atomic<long long> heap_allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++heap_allocations;
  void* data = nullptr;
  if (posix_memalign(&data, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return data;
}
// Not inlined: g++ would take the pair of our operators for a mismatch of new and free.
[[gnu::noinline]] void release(void* data) { std::free(data); }

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { release(data); }
void operator delete[](void* data) noexcept { release(data); }
void operator delete(void* data, std::size_t) noexcept { release(data); }
void operator delete[](void* data, std::size_t) noexcept { release(data); }
void operator delete(void* data, std::align_val_t) noexcept { release(data); }
void operator delete[](void* data, std::align_val_t) noexcept { release(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { release(data); }
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { release(data); }

namespace heddle::elastic::test {
namespace {

TEST(ElasticAllocation, StepsAllocateNothing) {
  Model model = box({8, 3, 3}, {3, 1, 1}, {.young = 100, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -1e-3};
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      for (const char* plan : {"CSR", "pJDS,vector=soa", "K1rs,stored=float"}) {
        SCOPED_TRACE(plan);
        heddle::test::RefusingMemory memory(default_memory());
        {
          Simulation simulation(model, {.corotational = corotational, .with_mass = true}, plan,
                                Device::cpu(2, &memory));
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
