#include "field_precision.hpp"

#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

void narrow_field(double factor, const FieldView<const double>& x, const FieldView<float>& y,
                  const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::narrow_field(factor, x.data, y.data, x.scalars(), stream);
  }
  parallel_for(team_size(stream, x.scalars()), x.scalars(),
               [factor, from = x.data, to = y.data](Offset i) {
                 to[i] = static_cast<float>(factor * from[i]);
               });
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

}  // namespace heddle::detail
