// Conversion between fields of doubles and floats that lie the same way: in one memory, layout and
// basis, without gaps.
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/entries/slots.hpp"
#include "heddle/field.hpp"

namespace heddle::detail {

/// The power of two that brings a field of this squared norm to a norm of at least 1 and below 2.
/// Arbitrary for 0 and for a norm that is not finite.
HEDDLE_HD inline double scale_to_unit(double squared_norm) {
  constexpr int mantissa = 52, bias = 1023;
  std::int64_t bits;
  memcpy(&bits, &squared_norm, sizeof bits);
  const std::int64_t exponent = (bits >> mantissa & (2 * bias + 1)) - bias;
  bits = (bias - (exponent >> 1)) << mantissa;
  double scale;
  memcpy(&scale, &bits, sizeof scale);
  return scale;
}

/// y = factor x, rounded to floats. Queued on a GPU's stream.
void narrow_field(double factor, const FieldView<const double>& x, const FieldView<float>& y,
                  const Stream& stream);
/// y += factor x.
void add_widened(double factor, const FieldView<const float>& x, const FieldView<double>& y,
                 const Stream& stream);

/// y = x scaled by `scale_to_unit` and rounded to floats, and the reverse. The squared norm lies
/// where the fields do: on a GPU the kernel reads it, in the stream's order.
void narrow_to_unit(const double* squared_norm, const FieldView<const double>& x,
                    const FieldView<float>& y, const Stream& stream);
void widen_from_unit(const double* squared_norm, const FieldView<const float>& x,
                     const FieldView<double>& y, const Stream& stream);

}  // namespace heddle::detail

namespace heddle::cuda {

void narrow_field(double factor, const double* x, float* y, Offset scalars, const Stream& stream);
void add_widened(double factor, const float* x, double* y, Offset scalars, const Stream& stream);
void narrow_to_unit(const double* squared_norm, const double* x, float* y, Offset scalars,
                    const Stream& stream);
void widen_from_unit(const double* squared_norm, const float* x, double* y, Offset scalars,
                     const Stream& stream);

}  // namespace heddle::cuda
