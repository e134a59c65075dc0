// Memory of the standard library's containers that runs out: an `Error` as from our own arrays.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "heddle/export.hpp"

namespace heddle::detail {

/// Throws `Error` (memory) that tells `what`, how many, their bytes, and what there is.
[[noreturn]] HEDDLE_EXPORT void refuse_memory(const char* what, std::size_t count,
                                              std::size_t bytes_each);

/// `act()`, where std::bad_alloc becomes `Error` (memory).
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
