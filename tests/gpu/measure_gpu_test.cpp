// Measuring on a GPU: the measured work runs, with warm and with cold caches.
#include "heddle/tuning/measure.hpp"

#include <gtest/gtest.h>

#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"

namespace measure_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;

class MeasureOnGpu : public OnGpu {};

TEST_F(MeasureOnGpu, RunsProductsWithWarmAndColdCaches) {
  Seed seed(4001);
  RefusingMemory memory(device.memory());
  const Device counted = Device::cuda(0, device.stream().queue, &memory);
  const auto matrix = random_matrix<E>({.rows = 3000, .columns = 3000}, seed.generator);
  for (const char* plan : {"pJDS", "C=32,schedule=dynamic", "CSR"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), counted);
    Field<E> x = A.field(), y = A.field(), expected = A.field();
    const Field<E> users_x = random_field<E>(3000, seed.generator);
    permute<double>(users_x.view(), x.view(), 1.0, counted.stream());
    A.apply(1, x.view(), 0, expected.view(), counted.stream());
    const long long live = memory.live;
    for (const bool cold : {false, true}) {
      SCOPED_TRACE(cold ? "cold" : "warm");
      fill<double>(0.0, y.view(), counted.stream());
      const std::vector<std::function<void(const Stream&)>> works = {
          run_nothing, [&](const Stream& stream) { A.apply(1, x.view(), 0, y.view(), stream); }};
      const auto timings = cold ? measure_cold(works, 5, counted) : measure(works, 5, counted);
      ASSERT_EQ(timings.size(), 2u);
      for (const Timing& timing : timings) {
        EXPECT_FALSE(!(timing.lower_quartile > 0));
        EXPECT_FALSE(!(timing.median >= timing.lower_quartile));
        EXPECT_FALSE(!(timing.upper_quartile >= timing.median));
        EXPECT_FALSE(!(timing.upper_quartile < 10));
      }
      EXPECT_EQ(y.to_host().scalars().to_host(), expected.to_host().scalars().to_host());
    }
    EXPECT_EQ(memory.live, live);
  }
}

TEST_F(MeasureOnGpu, ThrowsWhatAWorkThrows) {
  const std::vector<std::function<void(const Stream&)>> works = {
      [](const Stream&) { throw Error(ErrorKind::usage, "no"); }};
  EXPECT_THROW(measure_cold(works, 1, device), Error);
  EXPECT_EQ(measure_cold({run_nothing}, 1, device).size(), 1u);
}

}  // namespace
}  // namespace measure_gpu
