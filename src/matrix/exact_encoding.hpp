// Copies that hold a matrix's entries themselves in fewer bytes (entries/encoded.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "heddle/detail/sliced.hpp"

namespace heddle {

/// Encodes values in sliced storage, K scalars an entry, as a dictionary or as reals times units,
/// into the bytes of a copy. Found by the host, wherever they lie; waits for a GPU's stream. Throws
/// `Error` (bad_plan) that names the first entry, in the order of slots, that does not fit; then
/// `to` is as it was. T is float or double.
template <class T>
void encode_exactly(const SlicedPattern& pattern, InnerLayout inner, int K, StoredScalar kept,
                    const T* from, std::span<std::byte> to, const Stream& stream);

/// Throws as `encode_exactly` where the values of a matrix, K scalars an entry, do not fit: the
/// first entry in the matrix's own order. All is in the host's memory.
template <class T>
void check_exact_copy(const PatternView& pattern, int K, const T* values, StoredScalar kept,
                      int threads);

}  // namespace heddle
