// The copy of a matrix's values that iterations read under an iteration-precision other than full.
#pragma once

#include "heddle/detail/sliced.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Rounds values in sliced storage, K scalars per entry, to floats in the places that the same
/// layout has for floats. Waits for a GPU's stream. Throws `Error` (bad_plan) that names an entry
/// if one is beyond the range of a float, or if none reaches its normal numbers; values that are
/// not finite are left unchanged. T is double, or on the CPU long double.
template <class T>
HEDDLE_EXPORT void narrow_values(const SlicedPattern& pattern, InnerLayout inner, int K,
                                 const T* from, float* to, const Stream& stream);

/// Encodes values in 16 bits (entries/encoded.hpp): half, bfloat or scaled. The places are those
/// that the layout has for such words, and the word after them is the matrix's scale. Nothing is
/// refused: a matrix with a value that is not finite has a scale that is not a number. Waits for a
/// GPU's stream. T is float, double, or on the CPU long double.
template <class T>
HEDDLE_EXPORT void encode_values(const SlicedPattern& pattern, InnerLayout inner, int K,
                                 StoredScalar kept, const T* from, CodeWord* to,
                                 const Stream& stream);

/// Throws `Error` (unsupported), as both functions do, while a GPU's stream is being captured.
HEDDLE_EXPORT void check_can_narrow(const Stream& stream);

}  // namespace heddle
