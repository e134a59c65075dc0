// The copy of a matrix's values that iterations read under iteration-precision=single.
#pragma once

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Rounds values in sliced storage, K scalars an entry, to floats in the places that the same
/// layout has for floats. Waits for a GPU's stream. Throws `Error` (bad_plan) that names an entry
/// where one is beyond the range of a float, or where none reaches its normal numbers; values that
/// are not finite stay what they are. T is double, or on the CPU long double.
template <class T>
HEDDLE_EXPORT void narrow_values(const SlicedPattern& pattern, InnerLayout inner, int K,
                                 const T* from, float* to, const Stream& stream);

/// Throws `Error` (unsupported), as `narrow_values` does, where a GPU's stream is being captured.
HEDDLE_EXPORT void check_can_narrow(const Stream& stream);

}  // namespace heddle
