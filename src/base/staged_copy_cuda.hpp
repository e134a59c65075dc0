// Copies between a GPU and pageable memory of the host.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda_call.hpp"
#include "cuda_handles.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::cuda {

/// Pinned memory on the way between a GPU and pageable memory: threads of the host fill or empty
/// one part of it while the other is on its way. The driver does that with one thread.
class StagedCopy {
 public:
  /// For fewer bytes the driver's own copy is as fast.
  static constexpr std::size_t min_bytes = std::size_t(4) << 20;

  /// Returns true once everything is copied. Returns false, with nothing done, if another thread
  /// uses the pinned memory, or if none can be had.
  static bool run(void* to, const void* from, std::size_t bytes, bool is_to_gpu,
                  const Stream& stream) {
    StagedCopy& own = of_gpu(stream.gpu);
    const std::unique_lock lock(own.mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !own.has_memory()) return false;
    is_to_gpu ? own.send(to, from, bytes, stream) : own.receive(to, from, bytes, stream);
    return true;
  }

 private:
  static constexpr std::size_t part_bytes = std::size_t(4) << 20, slice_bytes = 256 << 10;

  /// These objects stay to the end of the process, which may be after that of CUDA.
  static StagedCopy& of_gpu(int gpu) {
    static auto& all = *new std::map<int, StagedCopy>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    return all[gpu];
  }

  bool has_memory() {
    if (memory_ != nullptr) return true;
    const AnyCall any;
    for (Event& event : moved_) {
      if (!event) event = make_event();
    }
    void* data = nullptr;
    if (cudaHostAlloc(&data, 2 * part_bytes, cudaHostAllocDefault) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    memory_ = static_cast<std::byte*>(data);
    return true;
  }

  void send(void* to, const void* from, std::size_t bytes, const Stream& stream) {
    for (std::size_t begin = 0, k = 0; begin < bytes; begin += part_bytes, ++k) {
      const std::size_t count = std::min(part_bytes, bytes - begin);
      if (k >= 2) check(cudaEventSynchronize(moved_[k % 2].get()), "cudaEventSynchronize");
      copy_by_team(part(k), static_cast<const std::byte*>(from) + begin, count, stream);
      move(static_cast<std::byte*>(to) + begin, part(k), k, count, stream);
    }
    check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  }
  void receive(void* to, const void* from, std::size_t bytes, const Stream& stream) {
    const auto ask = [&](std::size_t k) {
      const std::size_t begin = k * part_bytes;
      if (begin >= bytes) return;
      move(part(k), static_cast<const std::byte*>(from) + begin, k,
           std::min(part_bytes, bytes - begin), stream);
    };
    ask(0);
    for (std::size_t begin = 0, k = 0; begin < bytes; begin += part_bytes, ++k) {
      ask(k + 1);
      check(cudaEventSynchronize(moved_[k % 2].get()), "cudaEventSynchronize");
      copy_by_team(static_cast<std::byte*>(to) + begin, part(k),
                   std::min(part_bytes, bytes - begin), stream);
    }
  }

  std::byte* part(std::size_t k) { return memory_ + k % 2 * part_bytes; }
  void move(void* to, const void* from, std::size_t k, std::size_t bytes, const Stream& stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.queue), "cudaMemcpyAsync");
    check(cudaEventRecord(moved_[k % 2].get(), stream.queue), "cudaEventRecord");
  }
  static void copy_by_team(std::byte* to, const std::byte* from, std::size_t bytes,
                           const Stream& stream) {
    const std::size_t slices = (bytes + slice_bytes - 1) / slice_bytes;
    parallel_for(std::min(stream.threads, static_cast<int>(slices)), slices, [&](std::size_t k) {
      const std::size_t begin = k * slice_bytes;
      std::memcpy(to + begin, from + begin, std::min(slice_bytes, bytes - begin));
    });
  }

  std::mutex mutex_;
  std::byte* memory_ = nullptr;
  Event moved_[2];
};

}  // namespace heddle::cuda
