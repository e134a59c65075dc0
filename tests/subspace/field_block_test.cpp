// Runs in the release.
// Gram matrices and combinations of many fields in one walk.
#include "base/long_double.hpp"
#include "support/field_blocks.hpp"

namespace field_block {
namespace {

using namespace heddle;
using namespace heddle::test;

TEST(FieldBlocks, AreWhatTheyAreInLongDouble) {
  for (const int threads : {1, 3}) {
    const Device device = Device::cpu(threads);
    expect_block_operations<Ring::real, double>(device);
    expect_block_operations<Ring::complex, double>(device);
    expect_block_operations<Ring::quaternion, double>(device);
    expect_block_operations<Ring::quaternion, float>(device);
    HEDDLE_IN_LONG_DOUBLE((expect_block_operations<Ring::complex, long double>(device));)
  }
}

}  // namespace
}  // namespace field_block
