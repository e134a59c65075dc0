// Conversions between NumPy's arrays and views of heddle.h.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "call.hpp"
#include "heddle.h"

namespace heddle_python {

using Contiguous = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Writable = nb::ndarray<nb::c_contig, nb::device::cpu>;

/// Views the scalars of an array of real or complex numbers, with their precision.
template <class A>
inline heddle_view view_of(const A& array, heddle_entry entry, std::int32_t scalars,
                           const char* name) {
  const nb::dlpack::dtype type = array.dtype();
  const bool is_complex = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  const bool is_real = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  const int bits = is_complex ? type.bits / 2 : type.bits;
  if (!(is_real || is_complex) || (bits != 32 && bits != 64) || type.lanes != 1) {
    raise(HEDDLE_ERROR_SIZE_MISMATCH,
          std::string(name) + " is an array of neither floats nor doubles");
  }
  const std::size_t numbers = array.size() * (is_complex ? 2 : 1);
  if (numbers % static_cast<std::size_t>(scalars) != 0) {
    raise(HEDDLE_ERROR_SIZE_MISMATCH, std::string(name) + " has " + std::to_string(numbers) +
                                          " scalars, which do not fill rows or entries of " +
                                          std::to_string(scalars));
  }
  return {const_cast<void*>(static_cast<const void*>(array.data())),
          static_cast<std::int64_t>(numbers / static_cast<std::size_t>(scalars)),
          entry,
          bits == 32 ? HEDDLE_SINGLE : HEDDLE_DOUBLE,
          HEDDLE_ROW_MAJOR,
          HEDDLE_HOST};
}
template <class A>
inline heddle_view values_of(const A& array, heddle_entry entry) {
  return view_of(array, entry, heddle_entry_scalars(entry), "data");
}

inline std::int32_t index_bits(const Contiguous& indices, const char* name) {
  const nb::dlpack::dtype type = indices.dtype();
  if (type.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int) ||
      (type.bits != 32 && type.bits != 64)) {
    raise(HEDDLE_ERROR_USAGE, std::string(name) + " is an array of neither int32 nor int64");
  }
  return type.bits;
}

/// Compares without regard to the case of letters, like options of the command line.
inline bool is_same_name(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return small(x) == small(y); });
}

inline heddle_entry entry_named(const std::string& name) {
  for (int number = 0; heddle_entry_name(static_cast<heddle_entry>(number)) != nullptr; ++number) {
    if (is_same_name(name, heddle_entry_name(static_cast<heddle_entry>(number)))) {
      return static_cast<heddle_entry>(number);
    }
  }
  std::string names;
  for (int number = 0; heddle_entry_name(static_cast<heddle_entry>(number)) != nullptr; ++number) {
    names += std::string(number == 0 ? " " : ", ") +
             heddle_entry_name(static_cast<heddle_entry>(number));
  }
  raise(HEDDLE_ERROR_USAGE, "no entry is named '" + name + "'; there are:" + names);
}
inline heddle_precision precision_named(const std::string& name) {
  if (is_same_name(name, "single")) return HEDDLE_SINGLE;
  if (is_same_name(name, "double")) return HEDDLE_DOUBLE;
  raise(HEDDLE_ERROR_USAGE, "no precision is named '" + name + "'; there are: single, double");
}

inline bool has_complex_numbers(heddle_entry entry) {
  return entry == HEDDLE_COMPLEX || entry == HEDDLE_COMPLEX_BLOCK3;
}

/// A NumPy array over memory: `scalars` numbers per row, as complex numbers if the entry has them.
inline nb::object array_over(void* data, std::int64_t rows, std::int32_t scalars,
                             heddle_entry entry, heddle_precision precision, nb::handle owner,
                             bool writable) {
  const bool is_complex = has_complex_numbers(entry);
  const auto numbers = static_cast<std::size_t>(is_complex ? scalars / 2 : scalars);
  const std::size_t shape[] = {static_cast<std::size_t>(rows), numbers};
  const auto code = is_complex ? nb::dlpack::dtype_code::Complex : nb::dlpack::dtype_code::Float;
  const int bits = (precision == HEDDLE_SINGLE ? 32 : 64) * (is_complex ? 2 : 1);
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  const std::size_t dimensions = numbers == 1 ? 1 : 2;
  if (writable) {
    return nb::cast(nb::ndarray<nb::numpy>(data, dimensions, shape, owner, nullptr, type),
                    nb::rv_policy::reference);
  }
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, dimensions, shape, owner, nullptr, type),
                  nb::rv_policy::reference);
}

}  // namespace heddle_python
