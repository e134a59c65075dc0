// Heddle's own solvers in the form in which other libraries' are measured.
#pragma once

#include <memory>

#include "heddle/plan.hpp"
#include "peer.hpp"

namespace heddle::bench {

/// A problem's operator under a plan; its solvers share it.
class OwnSystem {
 public:
  /// Throws `Error` where the plan does not suit the matrix or memory does not suffice.
  OwnSystem(const Problem& problem, const Plan& plan, const Device& device);

  PeerSolver solver(const MethodInfo& method, PreconditionerKind preconditioner) const;

  /// Bytes that an iteration of the last solve has to move, as modelled.
  long long bytes_per_iteration() const;
  long long memory_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heddle::bench
