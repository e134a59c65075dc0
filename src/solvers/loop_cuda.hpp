// One run of a solver's loop on a GPU, seen from the host: its scalars, and waiting for it.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/cuda_call.hpp"
#include "heddle/array.hpp"
#include "heddle/detail/run.hpp"

namespace heddle::cuda {

using RunLimits = detail::RunLimits<double>;
using RunResult = detail::RunResult<double>;

class LoopRun {
 public:
  explicit LoopRun(const Device& device);

  /// On the device.
  static long long allocated_bytes() {
    return sizeof(device::LoopState) + room * static_cast<long long>(sizeof(double));
  }

  /// On the device, for kernels; set to the beginning of a run in stream order.
  device::LoopState* begin(const RunLimits& limits);

  /// Returns when all work queued so far is done.
  RunResult wait(const RunLimits& limits);

  /// Calls `queue`, which queues iterations of a loop, until the run has ended; `wait` is to
  /// follow. `ahead`: one more of them is queued while one is under way, which does nothing if that
  /// ends the run. Otherwise each is waited for, and observed.
  void repeat(const std::function<void()>& queue, bool ahead, const RunLimits& limits);

 private:
  using Clock = std::chrono::steady_clock;

  /// Lets time pass, and the caller of the solve have its say, until the event has happened.
  /// Calls the observer when it is time again.
  void observe(const RunLimits& limits);
  /// After an error: not before the kernels are done with what the caller may now take away.
  void stop();
  void await(cudaEvent_t event, const RunLimits& limits);
  void record(cudaEvent_t event);

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
  std::array<std::unique_ptr<CUevent_st, DestroyEvent>, 2> events_;
  Clock::time_point observed_;
  long long told_ = 0;  // the last iteration that the observer saw
};

}  // namespace heddle::cuda
