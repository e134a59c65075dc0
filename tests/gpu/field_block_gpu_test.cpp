// Gram matrices and combinations of many fields in one launch.
#include "support/field_blocks.hpp"
#include "support/gpu.hpp"

namespace field_block_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class FieldBlocksOnGpu : public OnGpu {};

TEST_F(FieldBlocksOnGpu, AreWhatTheyAreInLongDouble) {
  expect_block_operations<Ring::real, double>(device);
  expect_block_operations<Ring::complex, double>(device);
  expect_block_operations<Ring::quaternion, double>(device);
  expect_block_operations<Ring::real, float>(device);
  expect_block_operations<Ring::complex, float>(device);
  expect_block_operations<Ring::quaternion, float>(device);
}

TEST_F(FieldBlocksOnGpu, HoldTheLargestBlocksOfLobpcg) {
  Seed seed(7200);
  expect_block_operations<Ring::quaternion, double>({700, 1, VectorLayout::aos, 96, 64}, device,
                                                    seed.generator);
  expect_block_operations<Ring::real, float>({700, 3, VectorLayout::soa, 96, 96}, device,
                                             seed.generator);
}

}  // namespace
}  // namespace field_block_gpu
