// Operators new and delete that count what they allocate. For one file of a program: they replace
// those of the whole program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long long> heap_allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++heap_allocations;
  void* data = nullptr;
  if (posix_memalign(&data, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return data;
}
// Not inlined: g++ would take the pair of our operators for a mismatch of new and free.
[[gnu::noinline]] void release(void* data) { std::free(data); }

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
// std::stable_sort asks for its buffer this way.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));
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
