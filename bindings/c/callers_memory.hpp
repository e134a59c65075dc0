// Makes an allocator of heddle.h a memory resource of the library.
#pragma once

#include <memory>
#include <memory_resource>
#include <new>

#include "heddle.h"
#include "heddle/error.hpp"

namespace heddle::c {

class CallersMemory final : public std::pmr::memory_resource {
 public:
  explicit CallersMemory(const heddle_allocator& allocator) : allocator_(allocator) {
    if (allocator.allocate == nullptr || allocator.release == nullptr) {
      throw Error(ErrorKind::usage, "an allocator needs a function to allocate and one to release");
    }
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const data = allocator_.allocate(allocator_.user, bytes, alignment);
    if (data == nullptr) throw std::bad_alloc();
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    allocator_.release(allocator_.user, data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  heddle_allocator allocator_;
};

/// Null for the library's own memory.
inline std::shared_ptr<std::pmr::memory_resource> memory_of(const heddle_allocator* allocator) {
  return allocator == nullptr ? nullptr : std::make_shared<CallersMemory>(*allocator);
}

}  // namespace heddle::c
