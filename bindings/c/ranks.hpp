// Ranks of heddle.h.
#pragma once

#include <functional>
#include <memory>

#include "handles.hpp"
#include "heddle/communicator.hpp"
#include "heddle/error.hpp"

namespace heddle::c {

/// Gives objects that outlive the ranks' body access to the ranks while it runs.
class RanksInReach {
 public:
  explicit RanksInReach(Communicator& ranks) : ranks_(&ranks) {}
  /// Throws `Error` (usage) once the body has ended.
  Communicator& now() const {
    if (ranks_ == nullptr) throw Error(ErrorKind::usage, "the body of these ranks has ended");
    return *ranks_;
  }
  void end() { ranks_ = nullptr; }

 private:
  Communicator* ranks_;
};

/// If ranks share the operator, an exception that `work` throws on one of them ends the calls of
/// all.
template <class F>
void on_all_ranks(const OperatorParts& parts, const F& work) {
  if (parts.ranks == nullptr) {
    work();
  } else {
    guard(parts.ranks->now(), work);
  }
}

}  // namespace heddle::c

struct heddle_communicator {
  heddle::c::SharedMessages messages;
  std::shared_ptr<heddle::c::RanksInReach> ranks;
};
