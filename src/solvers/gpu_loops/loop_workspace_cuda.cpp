#include "loop_workspace_cuda.hpp"

#include <algorithm>

#include "heddle/kernels/persistent_arguments.hpp"
#include "loop_cuda.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

int persistent_blocks(const SlicedPattern& pattern, const Device& device) {
  return std::max(
      1, std::min({multiprocessors(device.stream()), pattern.slices(), device::max_blocks}));
}

Workspace workspace_of_persistent(PersistentMethod method, int ring, const Product& product,
                                  bool jacobi, const Device& device) {
  const PersistentNeeds needs = needs_of(method, jacobi, ring);
  const long long of_block = needs.packets * static_cast<long long>(sizeof(device::Packet)) +
                             needs.flags * static_cast<long long>(sizeof(unsigned long long)) +
                             static_cast<long long>(sizeof(Index));  // its first slice
  return {needs.published,
          persistent_blocks(product.pattern(), device) * of_block + LoopRun::allocated_bytes()};
}

}  // namespace heddle::cuda
