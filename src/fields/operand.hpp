// A number that a kernel takes.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::cuda {

/// Known at the launch, or read from the device's memory when the kernel runs: a loop that lives on
/// the device computes its coefficients there.
template <class T>
struct Operand {
  T value{};
  const T* pointer = nullptr;

  HEDDLE_HD Operand(const T& value) : value(value) {}
  HEDDLE_HD explicit Operand(const T* pointer) : pointer(pointer) {}

  HEDDLE_HD T get() const { return pointer != nullptr ? *pointer : value; }
};

}  // namespace heddle::cuda
