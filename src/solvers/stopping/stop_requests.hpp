// Requests to end a solve before its goal: by its time limit, its observer, or another rank.
#pragma once

#include <algorithm>
#include <chrono>

#include "heddle/kernels/loop_state.hpp"
#include "heddle/report.hpp"
#include "heddle/row_share.hpp"

namespace heddle::detail {

/// The requests of one solve, and its clock. Ranks that share rows end together: a request of one
/// travels with their sums. A share carries the request of one solve at a time. A preconditioner
/// that solves takes the outer solve's place for as long as its own solve lives; in each iteration,
/// sums of the outer solve follow and carry its request again.
class StopRequests {
 public:
  /// `share` is null if no ranks share the rows.
  StopRequests(double time_limit, RowShare* share)
      : time_limit_(time_limit), share_(share), outer_(innermost_) {
    if (share_ == nullptr) return;
    share_->agree(device::loop_runs);
    innermost_ = this;
  }
  ~StopRequests() {
    if (share_ == nullptr) return;
    innermost_ = outer_;
    const StopRequests* of_share = outer_;
    while (of_share != nullptr && of_share->share_ != share_) of_share = of_share->outer_;
    if (of_share != nullptr) share_->agree(of_share->request_);
  }
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// The clock runs from here; without a call, from the construction.
  void start_clock() { start_ = Clock::now(); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_late() const { return elapsed() >= time_limit_; }

  /// The request that all ranks agree on. This rank requests `own`, or an end by the clock if it is
  /// late and that outranks `own`. An observer is asked in each iteration, late or not: one that
  /// communicates is then called by all ranks.
  device::LoopEnd operator()(device::LoopEnd own) {
    const device::LoopEnd request = std::max(own, is_late() ? device::loop_time : own);
    if (share_ == nullptr) return request;
    request_ = std::max(request_, request);
    return share_->agree(request_);
  }
  /// The same for a rank that requests an end unless it `goes_on`.
  device::LoopEnd ask(bool goes_on) {
    return (*this)(goes_on ? device::loop_runs : device::loop_cancelled);
  }

 private:
  using Clock = std::chrono::steady_clock;

  inline static thread_local StopRequests* innermost_ = nullptr;

  double time_limit_;
  Clock::time_point start_ = Clock::now();
  RowShare* share_;
  StopRequests* outer_;
  device::LoopEnd request_ = device::loop_runs;
};

/// The status of a solve that this request ends; converged if nothing does.
inline Status status_of_request(device::LoopEnd request, bool is_at_limit) {
  if (request == device::loop_cancelled) return Status::cancelled;
  if (is_at_limit) return Status::iteration_limit;
  return request == device::loop_time ? Status::time_limit : Status::converged;
}

}  // namespace heddle::detail
