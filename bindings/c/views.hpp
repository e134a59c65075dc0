// The caller's arrays in the form that the library uses.
#pragma once

#include <cstdint>
#include <string>

#include "base/device_cuda.hpp"
#include "guard.hpp"
#include "heddle.h"
#include "heddle/config.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/field.hpp"
#include "named_entry.hpp"

namespace heddle::c {

/// Throws `Error` (usage) for an unknown number.
inline Precision precision_of(heddle_precision precision) {
  const auto number = static_cast<unsigned>(precision);
  if (number < precision_names.size()) return static_cast<Precision>(number);
  throw Error(ErrorKind::usage, "there is no precision number " + std::to_string(number));
}
inline heddle_precision precision_of(Precision precision) {
  return static_cast<heddle_precision>(precision);
}
static_assert(static_cast<int>(Precision::double_precision) == HEDDLE_DOUBLE);

template <class S>
constexpr Precision precision_of_scalar =
    sizeof(S) == sizeof(float) ? Precision::single_precision : Precision::double_precision;

/// Throws `Error`: usage for a null pointer to a non-empty array, or one not aligned for S;
/// size_mismatch for another entry or precision.
template <class S>
void check_view(const heddle_view& view, const NamedEntry& entry, const char* name) {
  const std::string what(name);
  if (view.entry != entry.number) {
    const std::string given = static_cast<int>(view.entry) >= first_defined
                                  ? "of definition number " + std::to_string(view.entry)
                                  : std::string(heddle::name(kind_of(view.entry)));
    throw Error(ErrorKind::size_mismatch, what + " has entries " + given +
                                              ", but the operator or matrix has " +
                                              std::string(entry.entry.name()));
  }
  if (precision_of(view.precision) != precision_of_scalar<S>) {
    throw Error(ErrorKind::size_mismatch,
                what + " is in " + std::string(heddle::name(precision_of(view.precision))) +
                    " precision, but the operator or matrix in " +
                    std::string(heddle::name(precision_of_scalar<S>)));
  }
  if (view.data == nullptr && view.count > 0) {
    throw Error(ErrorKind::usage, what + ".data is a null pointer");
  }
  if (reinterpret_cast<std::uintptr_t>(view.data) % alignof(S) != 0) {
    throw Error(ErrorKind::usage, what + ".data is not aligned for its scalars");
  }
}

/// Throws `Error` (usage) unless work on `stream` can use the view's memory.
inline void check_location(const heddle_view& view, const Stream& stream, const char* name) {
  const std::string what(name);
  if (view.location != HEDDLE_HOST && view.location != HEDDLE_DEVICE) {
    throw Error(ErrorKind::usage, what + ".location is neither HEDDLE_HOST nor HEDDLE_DEVICE");
  }
  if (view.location == HEDDLE_HOST) return;
  if (!stream.on_gpu()) {
    throw Error(ErrorKind::usage,
                what + " is not in the host's memory, but the operator is on the CPU");
  }
  if constexpr (has_cuda) {
    // The check throws for memory of another GPU.
    if (view.count > 0 && !cuda::is_device_memory(view.data, stream)) {
      throw Error(ErrorKind::usage, what + " is not in the memory of GPU " +
                                        std::to_string(stream.gpu) + ", as its location says");
    }
  }
}

/// A vector with `components` scalars per row for an operator that works on `stream`. Throws
/// `Error` like `check_view` and `check_location`.
template <class S>
FieldView<S> field_of(const heddle_view* given, const NamedEntry& entry, int components,
                      const Stream& stream, const char* name) {
  const heddle_view& view = required(given, name);
  check_view<std::remove_const_t<S>>(view, entry, name);
  if (view.layout != HEDDLE_ROW_MAJOR && view.layout != HEDDLE_BY_COMPONENT) {
    throw Error(
        ErrorKind::usage,
        std::string(name) + ".layout: vectors need HEDDLE_ROW_MAJOR or HEDDLE_BY_COMPONENT");
  }
  check_location(view, stream, name);
  return {static_cast<S*>(view.data), view.count, components,
          view.layout == HEDDLE_ROW_MAJOR ? VectorLayout::aos : VectorLayout::soa};
}

/// The field row by row, as callbacks get it.
template <class S>
heddle_view view_of(const FieldView<S>& field, heddle_entry entry, heddle_location location) {
  using T = std::remove_const_t<S>;
  return {const_cast<T*>(field.data),           field.size,       entry,
          precision_of(precision_of_scalar<T>), HEDDLE_ROW_MAJOR, location};
}

}  // namespace heddle::c
