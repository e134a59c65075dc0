// The number of iterations of a method that a graph queues, and repeats, at once.
#pragma once

#include <algorithm>

#include "heddle/methods/listing.hpp"
#include "heddle/plan.hpp"

namespace heddle::cuda {

/// Iterations of a loop's body: an even number, so that sides, places and swapped vectors are where
/// they were. Work that is not the loop's own continues to the end of the body even if the run has
/// ended, and may take long: multigrid cycles took 0.15 to 1.6 ms on an H200. So such a body is as
/// short as possible. A run over a basis of `max_basis` vectors, which has that length, should
/// leave little of its last body. A body of ranks is not long either, since it also continues to
/// its end.
inline int iterations_of_body(const methods::Facts& iteration, bool has_foreign_work, int max_basis,
                              bool has_ranks = false) {
  const auto products = static_cast<int>(
      std::count_if(iteration.step, iteration.step + iteration.steps,
                    [](const auto& step) { return step.kind == methods::StepKind::product; }));
  const int max_products = has_ranks ? 8 : 20;
  const int most = has_foreign_work ? 2 : std::max(2, max_products / std::max(1, products) / 2 * 2);
  int best = most;
  // The last column of a basis is complete one iteration later.
  const int run = max_basis > 0 ? max_basis + 1 : 0;
  const auto left = [&](int body) { return (body - run % body) % body; };
  for (int body = most; body >= 2; body -= 2) {
    if (left(body) < left(best)) best = body;
  }
  return best;
}

/// Iterations before the body: runs of a graph that are over by then, such as those from good
/// guesses, do not pay for a body.
inline int iterations_before_body(LoopForm form, int max_basis) {
  return form == LoopForm::graph && max_basis == 0 ? 2 : 0;
}

}  // namespace heddle::cuda
