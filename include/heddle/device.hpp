// Where arrays live and work runs.
#pragma once

#include <memory_resource>
#include <string>

namespace heddle {

/// The queue that work is ordered on. On the CPU that is the calling thread and the team it leads.
struct Stream {
  int threads = 1;
};

/// A handle, cheap to copy: a backend, its stream and the memory its arrays come from.
class Device {
 public:
  /// The best device of this machine: today the CPU with every core that OpenMP may use.
  static Device automatic() { return cpu(); }

  /// `threads` = 0 takes OpenMP's number; `memory` = nullptr takes `default_memory()`. The resource
  /// must outlive every array made on the device.
  static Device cpu(int threads = 0, std::pmr::memory_resource* memory = nullptr);

  int threads() const { return stream_.threads; }
  Stream stream() const { return stream_; }
  std::pmr::memory_resource* memory() const { return memory_; }

  /// Bytes that can still be allocated without swapping.
  long long available_memory() const;

  /// For reports: model, cores in use, vector instructions.
  std::string description() const;

 private:
  Stream stream_;
  std::pmr::memory_resource* memory_ = nullptr;
};

/// 64-byte aligned; blocks of 2 MiB and more are aligned to and advised for huge pages, since a
/// product touches all of its arrays and address translation would cost a tenth of its time.
std::pmr::memory_resource* default_memory();

}  // namespace heddle
