// A memory resource that counts, and that runs out when a test tells it to.
#pragma once

#include <algorithm>
#include <limits>
#include <memory_resource>
#include <new>

namespace heddle::test {

class RefusingMemory final : public std::pmr::memory_resource {
 public:
  explicit RefusingMemory(std::pmr::memory_resource* from) : from_(from) {}

  /// The number of further allocations; every later one is refused.
  void allow(long long allocations) { left_ = allocations; }
  void allow_all() { left_ = std::numeric_limits<long long>::max(); }

  long long live = 0;  // bytes
  long long peak = 0;
  long long allocations = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (left_ == 0) throw std::bad_alloc();
    --left_;
    void* const data = from_->allocate(bytes, alignment);
    ++allocations;
    live += static_cast<long long>(bytes);
    peak = std::max(peak, live);
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    live -= static_cast<long long>(bytes);
    from_->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource* from_;
  long long left_ = std::numeric_limits<long long>::max();
};

}  // namespace heddle::test
