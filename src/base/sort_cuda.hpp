// Sorts, sums and the largest number of arrays in a GPU's memory; the one place that compiles CUB.
#pragma once

#include "heddle/entries/slots.hpp"
#include "unset_array.hpp"

namespace heddle::cuda {

/// Keys with values, and room for a second set; `current` says which of the two holds them.
struct SortBuffers {
  SortBuffers(std::size_t most, const Device& device)
      : key{UnsetArray<unsigned long long>(most, device),
            UnsetArray<unsigned long long>(most, device)},
        value{UnsetArray<Index>(most, device), UnsetArray<Index>(most, device)} {}

  UnsetArray<unsigned long long> key[2];
  UnsetArray<Index> value[2];
  int current = 0;
};

/// Sorts the first `count` (below 2^31) by the lowest `key_bits` of their keys; stable.
void sort_by_key(SortBuffers& buffers, Offset count, int key_bits, const Device& device);

/// Bytes of the buffers for `count`, and of the further memory that sorting them takes.
long long sort_bytes(Offset count, const Stream& stream);

/// Each of `count` (below 2^32) values becomes the sum of those before it.
void exclusive_sum(Offset* values, Offset count, const Device& device);

/// The largest of `count` (below 2^63) numbers and 0, without those that are NaN.
double largest_of(const double* numbers, Offset count, const Device& device);

}  // namespace heddle::cuda
