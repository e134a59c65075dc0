// Fields from one basis, layout or memory to another; defined in builds with CUDA.
#pragma once

#include "heddle/field.hpp"

namespace heddle::cuda {

/// y = scale x by the user's rows, where each of them lies in the host's or the GPU's memory. The
/// host's side is free when this returns. S is float or double.
template <class S>
void transfer(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream);

}  // namespace heddle::cuda
