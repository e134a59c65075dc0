#include "heddle/device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "base/text/readable.hpp"
#include "device_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/assert.hpp"
#include "heddle/detail/instruction_sets.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#include "memory_limits.hpp"
#include "proc_value.hpp"

namespace heddle {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;

/// Large blocks that were given back, kept for later requests: a new page of memory costs more than
/// most loops over it.
class KeptBlocks {
 public:
  /// Rounds up by at most a quarter, so that blocks fit each other; the rest is never touched.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t step = std::bit_floor(bytes) / 4;
    return (bytes + step - 1) / step * step;
  }
  /// Null if there is none of that size.
  char* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t k = blocks_.size(); k > 0; --k) {
      const Block block = blocks_[k - 1];
      if (block.bytes != bytes) continue;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(k - 1));
      bytes_ -= bytes;
      return block.data;
    }
    return nullptr;
  }
  /// Keeps up to a 64th of the memory that was available at first, and up to 1 GiB.
  /// `free(data, bytes)` takes the block that was kept longest, or this block itself.
  template <class Free>
  void keep(char* data, std::size_t bytes, const Free& free) {
    constexpr std::size_t most = std::size_t(1) << 30, part_of_memory = 64;
    if (is_checked_build) return free(data, bytes);
    const std::lock_guard lock(mutex_);
    if (limit_ == 0) {
      limit_ = std::min(most, static_cast<std::size_t>(available_host_memory()) / part_of_memory);
    }
    if (bytes > limit_) return free(data, bytes);
    try {
      blocks_.push_back({data, bytes});
    } catch (const std::bad_alloc&) {
      return free(data, bytes);
    }
    bytes_ += bytes;
    while (bytes_ > limit_) {
      free(blocks_.front().data, blocks_.front().bytes);
      bytes_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
  }
  /// Frees all.
  template <class Free>
  void release(const Free& free) {
    const std::lock_guard lock(mutex_);
    for (const Block& block : blocks_) free(block.data, block.bytes);
    blocks_.clear();
    bytes_ = 0;
  }

 private:
  struct Block {
    char* data;
    std::size_t bytes;
  };
  /// If true, no block is kept, so that tools that watch memory see any use after its return.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool is_checked_build = true;
#else
  static constexpr bool is_checked_build = HEDDLE_ASSERTIONS;
#endif

  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0, limit_ = 0;
};

class HugePageMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (is_small(bytes, alignment)) return ::operator new(bytes, std::align_val_t(alignment));
    const std::size_t reserved = reserved_for(bytes);
    char* data = kept_.take(reserved);
    if (data == nullptr) data = fresh(reserved);
    return bytes < huge_page ? data : data + shift();
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if (is_small(bytes, alignment)) {
      ::operator delete(data, std::align_val_t(alignment));
      return;
    }
    const std::size_t shifted =
        bytes < huge_page ? 0 : reinterpret_cast<std::uintptr_t>(data) % huge_page;
    char* const begin = static_cast<char*>(data) - shifted;
    kept_.keep(begin, reserved_for(bytes), give_back);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  static bool is_small(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t worth_keeping = std::size_t(256) << 10;
    return bytes < worth_keeping || alignment > line;
  }
  static std::size_t reserved_for(std::size_t bytes) {
    return KeptBlocks::rounded(bytes < huge_page ? bytes : bytes + max_shift);
  }
  static std::align_val_t alignment_of(std::size_t reserved) {
    return std::align_val_t(reserved > huge_page ? huge_page : line);
  }
  static void give_back(char* data, std::size_t reserved) {
    ::operator delete(data, alignment_of(reserved));
  }
  char* fresh(std::size_t reserved) {
    const auto ask = [&] {
      return static_cast<char*>(::operator new(reserved, alignment_of(reserved)));
    };
    char* data = nullptr;
    try {
      data = ask();
    } catch (const std::bad_alloc&) {
      kept_.release(give_back);
      data = ask();
    }
    // A refusal costs speed, not correctness.
    if (reserved > huge_page) madvise(data, reserved - reserved % huge_page, MADV_HUGEPAGE);
    return data;
  }

  /// Large blocks begin on different lines of a page: fields that began on the same line would have
  /// equal places modulo 4096, where a processor takes a load of x for the value just stored to y.
  std::size_t shift() {
    constexpr std::size_t lines = max_shift / line, step = 27;
    return (++blocks_ * step % lines) * line;
  }

  static constexpr std::size_t line = 64, max_shift = 4096;
  std::atomic<std::size_t> blocks_ = 0;
  KeptBlocks kept_;
};

void check_instructions() {
  if (has_baseline_copies || detail::machine_has_avx2()) return;
  throw Error(ErrorKind::unsupported,
              "this build of heddle needs a CPU with AVX2 and FMA (HEDDLE_INSTRUCTION_SETS=avx2)");
}

}  // namespace

std::pmr::memory_resource* default_memory() {
  // Never destroyed, because static objects may give memory back later.
  static HugePageMemory* const memory = new HugePageMemory;
  return memory;
}

Device Device::cpu(int threads, std::pmr::memory_resource* memory) {
  if (threads < 0 || threads > max_threads) {
    throw Error(ErrorKind::usage, "a device has 1 to " + std::to_string(max_threads) +
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
    throw Error(ErrorKind::no_device,
                "this heddle was built without CUDA, because no toolkit or GPU was found; cmake -D "
                "HEDDLE_CUDA=ON adds it where a toolkit is installed");
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
  static const std::string model = proc_value("/proc/cpuinfo", "model name");
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
                  " does not suffice: " + amount + " more requested" +
                  (available < std::numeric_limits<long long>::max()
                       ? ", available are " + readable_bytes(available)
                       : " from the caller's memory resource"));
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

/// Calls `body` for pieces of many bytes of the host's memory, with the stream's threads.
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
