// The place where arrays live and work runs.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <string>

#include "heddle/export.hpp"

struct CUstream_st;  // the type that a cudaStream_t points to

namespace heddle {

class RowShare;

/// The queue that orders work. On the CPU it is the calling thread and the team it leads, on a GPU
/// a CUDA stream: calls return before their work is done unless they return a number.
struct HEDDLE_EXPORT Stream {
  int threads = 1;                              // the team's threads, for work on the CPU
  int gpu = -1;                                 // CUDA's number of the GPU; -1 for the CPU
  CUstream_st* queue = nullptr;                 // the stream on that GPU
  std::pmr::memory_resource* memory = nullptr;  // on a GPU: for temporary memory
  RowShare* share = nullptr;  // set where other ranks hold rows of the same fields; else null

  bool on_gpu() const { return gpu >= 0; }
};

/// A handle, cheap to copy: a backend, its stream and the memory its arrays come from.
class HEDDLE_EXPORT Device {
 public:
  /// The first GPU that works here, or else the CPU with `default_threads()`. `description()`
  /// reports the choice, `why_no_gpu()` why it is not a GPU.
  static Device automatic();

  /// `threads` = 0 takes `default_threads()`; more than `max_threads` are refused. `memory` =
  /// nullptr takes `default_memory()`. The resource must outlive every array made on the device.
  static Device cpu(int threads = 0, std::pmr::memory_resource* memory = nullptr);

  /// A GPU by CUDA's number. All work goes to `stream`, or to the library's one stream per GPU;
  /// nothing to the default stream. `memory` = nullptr takes the library's stream-ordered pool;
  /// another resource must return device memory that is ready at once. Stream and resource must
  /// outlive every array made on the device. Throws `Error` (no_device) in one line where there is
  /// no GPU, no driver, or too old a one.
  static Device cuda(int ordinal = 0, CUstream_st* stream = nullptr,
                     std::pmr::memory_resource* memory = nullptr);

  /// The same device for fields whose rows several ranks share, so that sums over them are joined.
  /// The share must outlive what is made with the device.
  Device sharing(RowShare* share) const;

  /// One line; empty where `cuda(0)` works.
  static std::string why_no_gpu();

  bool on_gpu() const { return stream_.on_gpu(); }
  int threads() const { return stream_.threads; }
  const Stream& stream() const& { return stream_; }
  Stream stream() const&& { return stream_; }  // for a temporary device
  std::pmr::memory_resource* memory() const { return memory_; }

  /// Bytes that can still be allocated; on the CPU, without swapping, and within the limits of the
  /// process (RLIMIT_AS, RLIMIT_DATA) and of its control groups. The capacity of a caller's own
  /// resource is not checked: on a GPU it counts as unlimited.
  long long available_memory() const;

  /// Returns when all work queued so far is done. Throws for an error of that work.
  void synchronize() const;

  /// For reports: model, cores in use, vector instructions.
  std::string description() const;

 private:
  Stream stream_;
  std::pmr::memory_resource* memory_ = nullptr;
};

/// Memory is 64-byte aligned. Blocks of 2 MiB and more are aligned to and advised for huge pages,
/// since a product touches all of its arrays and address translation would cost a tenth of its
/// time. Blocks of 256 KiB and more that are given back are kept for later ones, up to a 64th of
/// the available memory and 1 GiB.
HEDDLE_EXPORT std::pmr::memory_resource* default_memory();

namespace detail {
/// `count` values of `value_bytes` each, from the device's resource. Throws `Error` (memory) that
/// names the size: if it overflows a number of bytes, if the resource refuses, and if a large array
/// of `default_memory` exceeds what is available, before the host promises it.
HEDDLE_EXPORT void* allocate_values(std::size_t count, std::size_t value_bytes,
                                    std::size_t alignment, const Device& device);
}  // namespace detail

}  // namespace heddle
