// Out of memory in the standard library's containers becomes an `Error` like that of `Array`.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "heddle/export.hpp"

namespace heddle::detail {

/// Throws `Error` (memory) that reports `what`, the count, the bytes, and the available memory.
[[noreturn]] HEDDLE_EXPORT void refuse_memory(const char* what, std::size_t count,
                                              std::size_t bytes_each);

/// `act()`, with std::bad_alloc turned into `Error` (memory).
template <class Act>
decltype(auto) or_refuse_memory(const char* what, std::size_t count, std::size_t bytes_each,
                                Act&& act) {
  try {
    return std::forward<Act>(act)();
  } catch (const std::bad_alloc&) {
    refuse_memory(what, count, bytes_each);
  }
}

}  // namespace heddle::detail
