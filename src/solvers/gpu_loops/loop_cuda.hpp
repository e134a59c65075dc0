// A run of a solver's loop on a GPU, seen from the host: its scalars, and waiting for it. Systems
// may run side by side, each with scalars of its own.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/cuda_call.hpp"
#include "base/cuda_handles.hpp"
#include "heddle/array.hpp"
#include "heddle/detail/method_loop.hpp"
#include "loop_note_cuda.hpp"

namespace heddle::cuda {

using RunLimits = detail::RunLimits<double>;
using RunResult = detail::RunResult<double>;

/// Limits of the systems that run: pointers, since each solve has its own.
using LimitsOfRun = std::span<const RunLimits* const>;

class LoopRun {
 public:
  /// `systems`: maximum number.
  explicit LoopRun(const Device& device, std::size_t systems = 1);

  /// Bytes on the device.
  static long long allocated_bytes(std::size_t systems = 1) {
    return static_cast<long long>(systems *
                                  (sizeof(device::LoopState) + max_iterations * sizeof(double)));
  }

  /// States on the device for kernels, one after the other; set to the beginning of a run in stream
  /// order.
  device::LoopState* begin(LimitsOfRun limits);

  /// Returns when all work queued so far is done.
  void wait(LimitsOfRun limits, std::span<RunResult> results);

  /// Calls `queue`, which queues iterations of a loop, until all systems have ended; `wait` must
  /// follow. `ahead`: one more launch is queued while one is under way, and does nothing if that
  /// one ends the run. Otherwise each launch is waited for, and observed. Ranks always queue ahead,
  /// and observe each launch; for them `ahead` means that they meet after each launch, see
  /// `RanksInLoop::meet`.
  void repeat(const std::function<void()>& queue, bool ahead, LimitsOfRun limits);

  /// After an error: returns only when the kernels are done with memory that the caller may now
  /// free.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  /// Lets the caller of the solve have its say: calls the observer when it is time again.
  void observe(LimitsOfRun limits);
  void repeat_on_ranks(const std::function<void()>& queue, bool meets, const RunLimits& limits);
  /// Ranks end a run together, after the same iteration: each looks at its clock and its observer
  /// only between two iterations.
  bool has_ranks() const { return device_.stream().share != nullptr; }
  void await(cudaEvent_t event, LimitsOfRun limits);
  void record(cudaEvent_t event);

  /// Maximum number of iterations of one run: a longer one begins again from its residual.
  static constexpr std::size_t max_iterations = 1 << 18;

  /// The host's data of a system.
  struct System {
    explicit System(const Stream& stream) : staged(stream), watch(stream) {}
    Mapped<device::LoopState> staged;
    Mapped<device::LoopWatch> watch;
    std::vector<double> history;
    long long observed_iteration = 0;  // the last iteration that the observer saw
  };

  Device device_;
  Array<device::LoopState> states_;
  Array<double> histories_;
  std::vector<System> systems_;
  std::array<Event, 2> events_;
  Clock::time_point observed_;
  Mapped<std::array<LoopNote, 2>> notes_;  // for ranks, by turns
};

}  // namespace heddle::cuda
