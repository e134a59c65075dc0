// Why a solve on ranks ends: what one of them wants, all of them do.
#pragma once

#include <algorithm>

#include "heddle/kernels/loop_state.hpp"
#include "heddle/row_share.hpp"

namespace heddle::detail {

/// What this rank wants of one solve, which travels with sums. A share carries the wish of one
/// solve at a time. A preconditioner that solves takes its place for as long as its own solve
/// lives; in each iteration sums of the outer one follow, which carry its wish again.
class AgreedEnd {
 public:
  /// `share` is null where no ranks share the rows.
  explicit AgreedEnd(RowShare* share) : share_(share), outer_(innermost_) {
    if (share_ == nullptr) return;
    share_->agree(device::loop_runs);
    innermost_ = this;
  }
  ~AgreedEnd() {
    if (share_ == nullptr) return;
    innermost_ = outer_;
    const AgreedEnd* of_share = outer_;
    while (of_share != nullptr && of_share->share_ != share_) of_share = of_share->outer_;
    if (of_share != nullptr) share_->agree(of_share->wish_);
  }
  AgreedEnd(const AgreedEnd&) = delete;
  AgreedEnd& operator=(const AgreedEnd&) = delete;

  /// What all ranks do, of which one wants this.
  device::LoopEnd operator()(device::LoopEnd own) {
    if (share_ == nullptr) return own;
    wish_ = std::max(wish_, own);
    return share_->agree(wish_);
  }

 private:
  inline static thread_local AgreedEnd* innermost_ = nullptr;

  RowShare* share_;
  AgreedEnd* outer_;
  device::LoopEnd wish_ = device::loop_runs;
};

}  // namespace heddle::detail
