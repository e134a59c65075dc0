// One run of a solver's loop on a GPU, seen from the host: its scalars, and waiting for it.
#pragma once

#include <memory>
#include <vector>

#include "../base/cuda_call.hpp"
#include "heddle/array.hpp"
#include "run.hpp"

namespace heddle::cuda {

class LoopRun {
 public:
  explicit LoopRun(const Device& device);

  /// On the device.
  static long long allocated_bytes() {
    return sizeof(device::LoopState) + room * static_cast<long long>(sizeof(double));
  }

  /// On the device, for kernels; set to `start` in stream order.
  device::LoopState* begin(const RunLimits& limits, device::LoopState start);

  /// Returns when all work queued so far is done.
  RunResult wait(const RunLimits& limits);

 private:
  /// Iterations of one run: a longer one begins again from its residual.
  static constexpr long long room = 1 << 18;

  Device device_;
  Array<device::LoopState> state_;
  Array<double> history_;
  Mapped<device::LoopState> staged_;
  Mapped<device::LoopWatch> watch_;
  std::vector<double> history_on_host_;
  struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  };
  std::unique_ptr<CUevent_st, DestroyEvent> event_;
};

}  // namespace heddle::cuda
