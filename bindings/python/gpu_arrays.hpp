// Arrays in a GPU's memory, as DLPack describes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "call.hpp"
#include "heddle.h"

namespace heddle_python {

/// An address, and true if it is in a GPU's memory. heddle/_gpu.py has checked type and shape.
using Place = std::pair<std::uintptr_t, bool>;

/// A view of `count` rows that begin at `place`.
inline heddle_view view_at(const Place& place, std::int64_t count, heddle_entry entry,
                           heddle_precision precision) {
  return {reinterpret_cast<void*>(place.first),      count, entry, precision, HEDDLE_ROW_MAJOR,
          place.second ? HEDDLE_DEVICE : HEDDLE_HOST};
}

/// Holds the array of a DLPack capsule while this lives.
class Exported {
 public:
  explicit Exported(nb::handle capsule) {
    nb::ndarray<> writable;
    nb::ndarray<nb::ro> readable;
    if (nb::try_cast(capsule, writable)) {
      array_ = std::move(writable);
    } else if (nb::try_cast(capsule, readable)) {
      array_ = std::move(readable);
    } else {
      raise(HEDDLE_ERROR_UNSUPPORTED, "a capsule of DLPack that cannot be read");
    }
  }
  bool writable() const { return array_.index() == 0; }
  std::uintptr_t address() const {
    return std::visit([](const auto& a) { return reinterpret_cast<std::uintptr_t>(a.data()); },
                      array_);
  }
  nb::tuple shape() const {
    return numbers([](const auto& a, std::size_t k) { return nb::int_(a.shape(k)); });
  }
  /// Strides in elements.
  nb::tuple strides() const {
    return numbers([](const auto& a, std::size_t k) { return nb::int_(a.stride(k)); });
  }
  /// NumPy's name of the type, if NumPy has it.
  std::string dtype() const {
    const auto type = std::visit([](const auto& a) { return a.dtype(); }, array_);
    static constexpr const char* names[] = {"int",    "uint",    "float", "opaque",
                                            "bfloat", "complex", "bool"};
    const bool is_known = type.code < std::size(names) && type.lanes == 1;
    return (is_known ? names[type.code] : "type " + std::to_string(type.code) + " of ") +
           std::to_string(type.bits);
  }

 private:
  template <class F>
  nb::tuple numbers(const F& number) const {
    nb::list all;
    std::visit(
        [&](const auto& a) {
          for (std::size_t k = 0; k < a.ndim(); ++k) all.append(number(a, k));
        },
        array_);
    return nb::tuple(all);
  }

  std::variant<nb::ndarray<>, nb::ndarray<nb::ro>> array_;
};

}  // namespace heddle_python
