// A preconditioner that iterates, held to the limits of the solve that it serves.
#pragma once

#include <utility>

#include "heddle/preconditioner.hpp"

namespace heddle::detail {

/// During the lifetime of this object, a preconditioner (null for none) asks `goes_on` between its
/// own iterations.
template <class S>
class WatchedPreconditioner {
 public:
  WatchedPreconditioner(Preconditioner<S>* preconditioner, InnerWatch goes_on)
      : preconditioner_(preconditioner), goes_on_(std::move(goes_on)) {
    if (preconditioner_ != nullptr) preconditioner_->set_watch(&goes_on_);
  }
  ~WatchedPreconditioner() {
    if (preconditioner_ != nullptr) preconditioner_->set_watch(nullptr);
  }
  WatchedPreconditioner(const WatchedPreconditioner&) = delete;
  WatchedPreconditioner& operator=(const WatchedPreconditioner&) = delete;

 private:
  Preconditioner<S>* preconditioner_;
  InnerWatch goes_on_;
};

}  // namespace heddle::detail
