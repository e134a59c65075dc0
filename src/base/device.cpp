#include "heddle/device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "device_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/instruction_sets.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#include "memory_limits.hpp"
#include "proc_value.hpp"
#include "readable.hpp"

namespace heddle {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;

class HugePageMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes < huge_page) return ::operator new(bytes, std::align_val_t(alignment));
    const std::size_t reserved = bytes + most_shift;
    char* data = static_cast<char*>(::operator new(reserved, std::align_val_t(huge_page)));
    // A refusal costs speed, not correctness.
    madvise(data, reserved - reserved % huge_page, MADV_HUGEPAGE);
    return data + shift();
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if (bytes < huge_page) {
      ::operator delete(data, std::align_val_t(alignment));
      return;
    }
    const std::size_t shifted = reinterpret_cast<std::uintptr_t>(data) % huge_page;
    ::operator delete(static_cast<char*>(data) - shifted, std::align_val_t(huge_page));
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  /// Large blocks begin on different lines of a page: fields that began alike would meet at the
  /// same places modulo 4096, where a processor takes a load of x for the value just stored to y.
  std::size_t shift() {
    constexpr std::size_t line = 64, lines = most_shift / line, step = 27;
    return (++blocks_ * step % lines) * line;
  }

  static constexpr std::size_t most_shift = 4096;
  std::atomic<std::size_t> blocks_ = 0;
};

void check_instructions() {
  if (has_baseline_copies || detail::machine_has_avx2()) return;
  throw Error(ErrorKind::unsupported,
              "this build of heddle needs a CPU with AVX2 and FMA (HEDDLE_INSTRUCTION_SETS=avx2)");
}

}  // namespace

std::pmr::memory_resource* default_memory() {
  static HugePageMemory memory;
  return &memory;
}

Device Device::cpu(int threads, std::pmr::memory_resource* memory) {
  if (threads < 0 || threads > most_threads) {
    throw Error(ErrorKind::usage, "a device has 1 to " + std::to_string(most_threads) +
                                      " threads, not " + std::to_string(threads));
  }
  check_instructions();
  Device device;
  device.stream_.threads = threads > 0 ? threads : default_threads();
  device.memory_ = memory != nullptr ? memory : default_memory();
  return device;
}

Device Device::sharing(RowShare* share) const {
  Device device = *this;
  device.stream_.share = share;
  return device;
}

Device Device::cuda(int ordinal, CUstream_st* stream, std::pmr::memory_resource* memory) {
  if constexpr (has_cuda) {
    check_instructions();  // the host's loops read values
    Device device;
    device.stream_ = {default_threads(), ordinal, cuda::open_stream(ordinal, stream), nullptr};
    device.memory_ = memory != nullptr ? memory : cuda::stream_memory(device.stream_);
    device.stream_.memory = device.memory_;
    return device;
  } else {
    throw Error(ErrorKind::no_device, "this heddle was built without CUDA");
  }
}

Device Device::automatic() { return why_no_gpu().empty() ? cuda(0) : cpu(); }

std::string Device::why_no_gpu() {
  try {
    static_cast<void>(cuda(0));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void Device::synchronize() const {
  if constexpr (has_cuda) {
    if (on_gpu()) cuda::synchronize(stream_);
  }
}

long long Device::available_memory() const {
  if constexpr (has_cuda) {
    if (on_gpu()) {
      const bool own = memory_ == cuda::stream_memory(stream_);
      return own ? cuda::available_memory(stream_) : std::numeric_limits<long long>::max();
    }
  }
  return available_host_memory();
}

std::string Device::description() const {
  if constexpr (has_cuda) {
    if (on_gpu()) return cuda::description(stream_);
  }
  const std::string model = proc_value("/proc/cpuinfo", "model name");
  const bool avx2 = has_avx2_copies && detail::machine_has_avx2();
  return (model.empty() ? std::string("CPU") : model) + ", " + std::to_string(threads()) +
         (threads() == 1 ? " thread" : " threads") + (avx2 ? ", AVX2" : ", baseline instructions");
}

namespace detail {

namespace {

[[noreturn]] void refuse(const std::string& amount, const Device& device) {
  const long long available = device.available_memory();
  throw Error(ErrorKind::memory,
              std::string("the memory of ") +
                  (device.on_gpu() ? "GPU " + std::to_string(device.stream().gpu) : "the host") +
                  " does not suffice: " + amount + " more were asked for" +
                  (available < std::numeric_limits<long long>::max()
                       ? ", available are " + readable_bytes(available)
                       : " of the caller's memory resource"));
}

}  // namespace

void* allocate_values(std::size_t count, std::size_t value_bytes, std::size_t alignment,
                      const Device& device) {
  constexpr std::size_t worth_a_look = std::size_t(64) << 20;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, value_bytes, &bytes) ||
      bytes >= std::size_t(std::numeric_limits<long long>::max())) {
    refuse(std::to_string(count) + " values of " + std::to_string(value_bytes) + " bytes", device);
  }
  const auto amount = static_cast<long long>(bytes);
  // Linux promises more than it has, and ends the process that takes it at its word.
  const bool is_looked_at = bytes >= worth_a_look && device.memory() == default_memory();
  if (is_looked_at && amount > device.available_memory()) refuse(readable_bytes(amount), device);
  try {
    return device.memory()->allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    refuse(readable_bytes(amount), device);
  }
}

namespace {

/// Pieces of many bytes of the host's memory, by the stream's threads.
template <class Body>
void for_each_piece(std::size_t bytes, const Stream& stream, const Body& body) {
  constexpr std::size_t worth_a_team = std::size_t(1) << 20;
  if (bytes < worth_a_team || stream.threads == 1) return body(0, bytes);
  const std::size_t pages = (bytes + huge_page - 1) / huge_page;
  parallel_for(stream.threads, pages, [&](std::size_t page) {
    const std::size_t begin = page * huge_page;
    body(begin, std::min(huge_page, bytes - begin));
  });
}

}  // namespace

void copy_bytes(void* to, const void* from, std::size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::copy(to, from, bytes, stream);
  }
  for_each_piece(bytes, stream, [&](std::size_t begin, std::size_t count) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, count);
  });
}

void fill_bytes(void* data, int byte, std::size_t bytes, const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::fill(data, byte, bytes, stream);
  }
  for_each_piece(bytes, stream, [&](std::size_t begin, std::size_t count) {
    std::memset(static_cast<char*>(data) + begin, byte, count);
  });
}

}  // namespace detail

}  // namespace heddle
