// The largest number of an array in a GPU's memory.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/sort_cuda.hpp"
#include "support/gpu.hpp"
#include "support/solve_on_ranks.hpp"

namespace heddle::test::largest_number_gpu {
namespace {

class LargestNumberOnGpu : public OnGpu {};

TEST_F(LargestNumberOnGpu, IsThatOfTheHost) {
  Seed seed(186);
  for (const int count : {1, 2, 31, 255, 257, 70'001, 1'234'567}) {
    SCOPED_TRACE(std::to_string(count) + " numbers");
    std::vector<double> numbers = random_scalars<real<double>>(count, seed.generator);
    const Array<double> on_gpu(std::span<const double>(numbers), device);
    EXPECT_EQ(cuda::largest_of(on_gpu.data(), count, device),
              std::max(0.0, *std::max_element(numbers.begin(), numbers.end())));
    numbers.back() = 1e300;
    numbers.front() = std::numeric_limits<double>::quiet_NaN();
    const Array<double> with_nan(std::span<const double>(numbers), device);
    EXPECT_EQ(cuda::largest_of(with_nan.data(), count, device), count > 1 ? 1e300 : 0);
  }
  EXPECT_EQ(cuda::largest_of(nullptr, 0, device), 0);
}

}  // namespace
}  // namespace heddle::test::largest_number_gpu
