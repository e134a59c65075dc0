// The number of set bits in a word, on a CPU and on a GPU.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

HEDDLE_INLINE int bit_count(unsigned long long bits) {
#ifdef __CUDA_ARCH__
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

}  // namespace heddle::cuda
