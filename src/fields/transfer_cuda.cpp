#include <span>

#include "base/device_cuda.hpp"
#include "heddle/vector_operations.hpp"
#include "vector_operations_cuda.hpp"

namespace heddle::cuda {

namespace {

template <class S, class U>
bool have_same_order(const FieldView<S>& x, const FieldView<U>& y) {
  const bool natural_x = !x.basis || x.basis->is_natural();
  const bool natural_y = !y.basis || y.basis->is_natural();
  return x.basis == y.basis || (natural_x && natural_y);
}

template <class S>
bool has_gaps(const FieldView<S>& field) {
  return !field.is_aos() && !field.is_soa();
}

/// True if the bytes may be copied as they lie.
template <class S>
bool same_image(const FieldView<const S>& x, const FieldView<S>& y, S scale) {
  return scale == S(1) && have_same_order(x, y) && x.entry_stride == y.entry_stride &&
         x.component_stride == y.component_stride;
}

template <class S>
void within_gpu(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Device& device) {
  const Stream& stream = device.stream();
  if (same_image(x, y, scale)) return cuda::copy<S>(x, y, stream);
  const bool same_order = have_same_order(x, y);
  cuda::permute<S>(x, same_order || !x.basis ? nullptr : x.basis->positions_on(device), y,
                   same_order || !y.basis ? nullptr : y.basis->user_rows_on(device), scale, stream);
}

template <class S>
void to_gpu(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Device& device) {
  const auto scalars = static_cast<std::size_t>(x.scalars());
  if (has_gaps(x)) {
    Array<S> memory(scalars);
    const FieldView<S> packed(memory.data(), x.size, x.components, VectorLayout::aos, x.basis);
    heddle::copy<S>(x, packed, Device::cpu(device.threads()).stream());
    return to_gpu<S>(packed, y, scale, device);
  }
  if (same_image(x, y, scale) && !has_gaps(y)) {
    return cuda::copy(y.data, x.data, scalars * sizeof(S), device.stream());
  }
  const Array<S> staged(std::span<const S>(x.data, scalars), device);
  FieldView<const S> on_gpu = x;
  on_gpu.data = staged.data();
  within_gpu(on_gpu, y, scale, device);
}

template <class S>
void from_gpu(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Device& device) {
  const auto scalars = static_cast<std::size_t>(y.scalars());
  if (has_gaps(y)) {
    Array<S> memory(scalars);
    const FieldView<S> packed(memory.data(), y.size, y.components, VectorLayout::aos, y.basis);
    from_gpu(x, packed, scale, device);
    return heddle::copy<S>(packed, y, Device::cpu(device.threads()).stream());
  }
  if (same_image(x, y, scale) && !has_gaps(x)) {
    return cuda::copy(y.data, x.data, scalars * sizeof(S), device.stream());
  }
  Array<S> staged(scalars, device);
  FieldView<S> on_gpu = y;
  on_gpu.data = staged.data();
  within_gpu(x, on_gpu, scale, device);
  cuda::copy(y.data, staged.data(), scalars * sizeof(S), device.stream());
}

}  // namespace

template <class S>
void transfer(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream) {
  if (y.scalars() == 0) return;
  const bool x_on_gpu = is_device_memory(x.data, stream);
  const bool y_on_gpu = is_device_memory(y.data, stream);
  if (!x_on_gpu && !y_on_gpu) {
    return heddle::permute<S>(x, y, scale, Device::cpu(stream.threads).stream());
  }
  const Device device = Device::cuda(stream.gpu, stream.queue, stream.memory);
  if (!x_on_gpu) return to_gpu(x, y, scale, device);
  if (!y_on_gpu) return from_gpu(x, y, scale, device);
  within_gpu(x, y, scale, device);
}

template void transfer(const FieldView<const float>&, const FieldView<float>&, float,
                       const Stream&);
template void transfer(const FieldView<const double>&, const FieldView<double>&, double,
                       const Stream&);

}  // namespace heddle::cuda
