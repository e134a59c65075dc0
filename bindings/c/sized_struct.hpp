// Structs that begin with their own size: programs may be older than the library.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "guard.hpp"

namespace heddle::c {

/// Throws `Error` (usage) for a size of no version of T.
template <class T>
std::size_t known_size(const T& given, const char* name) {
  if (given.struct_size < sizeof(std::size_t) || given.struct_size > sizeof(T)) {
    throw Error(ErrorKind::usage, std::string(name) + ".struct_size is " +
                                      std::to_string(given.struct_size) + ", not sizeof(" + name +
                                      ") = " + std::to_string(sizeof(T)));
  }
  return given.struct_size;
}

/// `defaults` with the members that the caller's struct has.
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
