// Structs that begin with their own size: programs may be older than the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "guard.hpp"

namespace heddle::c {

/// sizeof(T) in each version of heddle.h, the newest last. A new member needs a new size: one in
/// the padding of an older struct would be read although an older program wrote nothing there.
template <class T>
inline constexpr std::size_t sizes_of_versions[] = {0};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_pattern>[] = {64};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_info>[] = {112};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_edits>[] = {48};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_report>[] = {72, 80};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_product_times>[] = {72};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_least_squares_report>[] = {88};
template <>
inline constexpr std::size_t sizes_of_versions<heddle_eigen_report>[] = {56};

/// Throws `Error` (usage) for a size that no version of T has.
template <class T>
std::size_t known_size(const T& given, const char* name) {
  const auto& sizes = sizes_of_versions<T>;
  static_assert(sizes[std::size(sizes) - 1] == sizeof(T), "list the size of the new version");
  if (std::ranges::find(sizes, given.struct_size) == std::end(sizes)) {
    throw Error(ErrorKind::usage, std::string(name) + ".struct_size is " +
                                      std::to_string(given.struct_size) + ", not sizeof(" + name +
                                      ") = " + std::to_string(sizeof(T)));
  }
  return given.struct_size;
}

/// `defaults` overwritten by the members that the caller's struct has.
template <class T>
T read_struct(const T* given, T defaults, const char* name) {
  if (given != nullptr) std::memcpy(&defaults, given, known_size(*given, name));
  return defaults;
}

/// Writes the members that the caller's struct has.
template <class T>
void write_struct(T* given, T values, const char* name) {
  const std::size_t size = known_size(*given, name);
  values.struct_size = size;
  std::memcpy(given, &values, size);
}

}  // namespace heddle::c
