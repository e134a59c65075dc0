// Operators new and delete that count what they allocate, and that refuse when a test says so.
// Include this in one file of a program: they replace those of the whole program. The thread
// sanitizer has its own operators, and then nothing is counted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include "support/sanitizers.hpp"

namespace {

[[maybe_unused]] constexpr bool heap_is_counted = !HEDDLE_TEST_THREAD_SANITIZER;

[[maybe_unused]] std::atomic<long long> heap_allocations = 0;
/// Allocations numbered from `heap_refuses_from` up to `heap_refuses_to` are refused.
[[maybe_unused]] std::atomic<long long> heap_refuses_from = std::numeric_limits<long long>::max();
[[maybe_unused]] std::atomic<long long> heap_refuses_to = std::numeric_limits<long long>::max();

#if !HEDDLE_TEST_THREAD_SANITIZER

/// Returns null if there is no memory.
void* counted_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  const long long number = heap_allocations++;
  if (number >= heap_refuses_from && number < heap_refuses_to) return nullptr;
  void* data = nullptr;
  return posix_memalign(&data, std::max(alignment, sizeof(void*)), bytes) == 0 ? data : nullptr;
}
void* counted(std::size_t bytes, std::size_t alignment) {
  void* const data = counted_or_null(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
// Not inlined: g++ would take this pair of operators for a mismatch of new and free.
[[gnu::noinline]] void release(void* data) { std::free(data); }

#endif

}  // namespace

#if !HEDDLE_TEST_THREAD_SANITIZER

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
// std::stable_sort asks for its buffer this way.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { release(data); }
void operator delete[](void* data) noexcept { release(data); }
void operator delete(void* data, std::size_t) noexcept { release(data); }
void operator delete[](void* data, std::size_t) noexcept { release(data); }
void operator delete(void* data, std::align_val_t) noexcept { release(data); }
void operator delete[](void* data, std::align_val_t) noexcept { release(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { release(data); }
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { release(data); }

#endif
