// Between fields of doubles and floats that lie alike: in one memory, layout and basis, without
// gaps.
#pragma once

#include "heddle/field.hpp"

namespace heddle::detail {

/// y = factor x, rounded to floats. Queued on a GPU's stream.
void narrow_field(double factor, const FieldView<const double>& x, const FieldView<float>& y,
                  const Stream& stream);
/// y += factor x.
void add_widened(double factor, const FieldView<const float>& x, const FieldView<double>& y,
                 const Stream& stream);

}  // namespace heddle::detail

namespace heddle::cuda {

void narrow_field(double factor, const double* x, float* y, Offset scalars, const Stream& stream);
void add_widened(double factor, const float* x, double* y, Offset scalars, const Stream& stream);

}  // namespace heddle::cuda
