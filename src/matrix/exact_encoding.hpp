// Copies that hold a matrix's entries exactly in fewer bytes (entries/encoded.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "heddle/detail/sliced.hpp"

namespace heddle {

/// Encodes values in sliced storage, K scalars an entry, as a dictionary or as reals times units,
/// into the bytes of a copy. The host does this wherever the values lie, and waits for a GPU's
/// stream. Throws `Error` (bad_plan) that names the first entry, in the order of slots, that does
/// not fit; `to` is then unchanged. T is float or double.
template <class T>
void encode_exactly(const SlicedPattern& pattern, InnerLayout inner, int K, StoredScalar kept,
                    const T* from, std::span<std::byte> to, const Stream& stream);

/// Throws like `encode_exactly` if the values of a matrix, K scalars an entry, do not fit; the
/// entry named is the first in the matrix's own order. All arrays are in the host's memory.
template <class T>
void check_exact_copy(const PatternView& pattern, int K, const T* values, StoredScalar kept,
                      int threads);

}  // namespace heddle
