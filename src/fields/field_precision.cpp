#include "field_precision.hpp"

#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// y = factor x.
template <class From, class To>
void convert(double factor, const FieldView<const From>& x, const FieldView<To>& y,
             const Stream& stream) {
  parallel_for(team_size(stream, x.scalars()), x.scalars(),
               [factor, from = x.data, to = y.data](Offset i) {
                 to[i] = static_cast<To>(factor * static_cast<double>(from[i]));
               });
}

}  // namespace

void narrow_field(double factor, const FieldView<const double>& x, const FieldView<float>& y,
                  const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::narrow_field(factor, x.data, y.data, x.scalars(), stream);
  }
  convert(factor, x, y, stream);
}

void add_widened(double factor, const FieldView<const float>& x, const FieldView<double>& y,
                 const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::add_widened(factor, x.data, y.data, x.scalars(), stream);
  }
  parallel_for(team_size(stream, x.scalars()), x.scalars(),
               [factor, from = x.data, to = y.data](Offset i) {
                 to[i] += factor * static_cast<double>(from[i]);
               });
}

void narrow_to_unit(const double* squared_norm, const FieldView<const double>& x,
                    const FieldView<float>& y, const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) {
      return cuda::narrow_to_unit(squared_norm, x.data, y.data, x.scalars(), stream);
    }
  }
  convert(scale_to_unit(*squared_norm), x, y, stream);
}

void widen_from_unit(const double* squared_norm, const FieldView<const float>& x,
                     const FieldView<double>& y, const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) {
      return cuda::widen_from_unit(squared_norm, x.data, y.data, x.scalars(), stream);
    }
  }
  convert(1 / scale_to_unit(*squared_norm), x, y, stream);
}

}  // namespace heddle::detail
