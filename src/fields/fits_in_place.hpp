// Test of whether an operator can take a field as it is.
#pragma once

#include <cstdint>
#include <memory>

#include "base/device_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/field.hpp"

namespace heddle::detail {

/// True if both number the rows the same way; null is the user's order.
inline bool in_basis(const std::shared_ptr<const Basis>& of_field,
                     const std::shared_ptr<const Basis>& basis) {
  const bool natural_field = !of_field || of_field->is_natural();
  const bool natural_basis = !basis || basis->is_natural();
  if (natural_field || natural_basis) return natural_field && natural_basis;
  return same_basis(*of_field, *basis);
}

/// True if `field` has the memory, layout and order in which an operator reads it.
template <class S>
bool fits_in_place(const FieldView<const S>& field, VectorLayout layout,
                   const std::shared_ptr<const Basis>& basis, const Stream& stream) {
  if constexpr (has_cuda) {
    // Kernels read 16 bytes at a time, from memory of the GPU.
    const bool aligned = reinterpret_cast<std::uintptr_t>(field.data) % 16 == 0;
    if (stream.on_gpu() && (!aligned || !cuda::is_device_memory(field.data, stream))) return false;
  }
  // A column of numbers has both layouts in memory, but operators compare strides.
  const bool lies_so = layout == VectorLayout::aos
                           ? field.is_aos()
                           : field.entry_stride == 1 && field.component_stride == field.size;
  return lies_so && in_basis(field.basis, basis);
}

}  // namespace heddle::detail
