// Arrays on their way to rank 0, and from there, for what is set up on one rank for all.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/communicator.hpp"

namespace heddle::detail {

/// The bytes of each rank at rank 0; empty elsewhere. Messages stay below 2^30 bytes. Collective.
std::vector<std::vector<std::byte>> bytes_to_root(Communicator& ranks,
                                                  std::span<const std::byte> mine);
/// The bytes that rank 0 has for this one. Collective.
std::vector<std::byte> bytes_from_root(Communicator& ranks,
                                       std::vector<std::vector<std::byte>> of_ranks);

template <class T>
std::vector<T> array_of(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> array(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> array) {
  const auto more = std::as_bytes(array);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// A short array of rank 0, on all ranks. Collective.
template <class T>
std::vector<T> broadcast_from_root(Communicator& ranks, const std::vector<T>& mine) {
  const auto bytes = std::as_bytes(std::span(mine));
  const std::string text = text_of_rank(
      ranks, 0, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return array_of<T>(std::as_bytes(std::span(text)));
}

}  // namespace heddle::detail
