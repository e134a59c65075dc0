#include "heddle/detail/reduction.hpp"

#include "heddle/config.hpp"
#include "vector_operations_cuda.hpp"

namespace heddle::detail {

PinnedSums take_pinned_sums() {
  if constexpr (has_cuda) {
    return {cuda::take_pinned_sums(), cuda::give_back_pinned_sums};
  } else {
    throw Error(ErrorKind::no_device, "this heddle was built without CUDA");
  }
}

}  // namespace heddle::detail
