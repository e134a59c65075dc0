#include "heddle/tuning/tree_record.hpp"

#include <vector>

namespace heddle {

namespace {

constexpr double clearly = 0.99;

/// Null if nothing was measured by this schedule.
const NodeTrial* best_by(NodeSchedule schedule, const std::vector<NodeTrial>& trials, TreeUse use) {
  const NodeTrial *fastest = nullptr, *usual = nullptr;
  for (const NodeTrial& trial : trials) {
    if (trial.schedule != schedule) continue;
    if (fastest == nullptr || trial.seconds(use) < fastest->seconds(use)) fastest = &trial;
    if (trial.nodes == NodeLayout()) usual = &trial;
  }
  const bool is_faster = usual == nullptr || fastest->seconds(use) < clearly * usual->seconds(use);
  return is_faster ? fastest : usual;
}

bool is_faster(const NodeTrial& a, const NodeTrial& b, TreeUse use) {
  if (use != TreeUse::solve) return a.seconds(use) < clearly * b.seconds(use);
  return a.iteration && b.iteration && a.iteration->median < clearly * b.iteration->median;
}

}  // namespace

double NodeTrial::seconds(TreeUse use) const {
  const double of_adjoint = adjoint_product ? adjoint_product->median : product.median;
  switch (use) {
    case TreeUse::product:
    case TreeUse::solve:
      return product.median;
    case TreeUse::adjoint_product:
      return of_adjoint;
    case TreeUse::both:
      return product.median + of_adjoint;
  }
  return product.median;
}

const NodeTrial& TreeRecord::best(TreeUse use, std::optional<NodeSchedule> schedule) const {
  const NodeTrial* const kept = best_by(NodeSchedule::kept, sizes, use);
  const NodeTrial* const by_tree = best_by(NodeSchedule::tree, sizes, use);
  if (kept == nullptr || by_tree == nullptr) return kept != nullptr ? *kept : *by_tree;
  if (schedule) return *schedule == NodeSchedule::kept ? *kept : *by_tree;
  return is_faster(*by_tree, *kept, use) ? *by_tree : *kept;
}

}  // namespace heddle
