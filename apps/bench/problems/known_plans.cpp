#include "known_plans.hpp"

#include "heddle/plan_choice.hpp"

namespace heddle::bench {

namespace {

/// On a CPU three things decide: the prefetches, the order of the rows where that is bad, and the
/// division of rows among threads where rows differ.
std::vector<std::string> plans_on_cpu(const AnyMatrix& matrix) {
  std::vector<std::string> plans = {"prefetch-x=24,prefetch-matrix=2048",
                                    "prefetch-x=0,prefetch-matrix=2048", "schedule=dynamic"};
  // Reverse Cuthill-McKee takes minutes beyond this size.
  constexpr Offset entries_to_reorder = 20'000'000;
  if (matrix.rows() == matrix.columns() && matrix.entries() <= entries_to_reorder) {
    plans.emplace_back("order=rcm");
  }
  return plans;
}

std::vector<std::string> plans_on_gpu(const AnyMatrix& matrix, const Device& device) {
  const Plan chosen = choose_plan(matrix, device, Profiles(), Objective::product());
  std::vector<std::string> plans;
  const auto change = [&](const std::string& settings) { plans.push_back("chosen," + settings); };
  // Trades entries of a row in flight against registers.
  change(chosen.gpu.unroll == 4 ? "unroll=2" : "unroll=4");
  if (chosen.gpu.blocks == 0 && chosen.gpu.block_size <= 256) change("blocks=6");
  // Trades the order that saves padding against the one that keeps neighbours together.
  change(chosen.layout.sort_window == Layout::all_rows ? "sigma=1024" : "sigma=n");
  if (chosen.layout.threshold == 0) {
    if (chosen.layout.threads_per_row > 1) {
      change("threads-per-row=" + std::to_string(chosen.layout.threads_per_row / 2));
    }
    if (chosen.layout.threads_per_row < 16) {
      change("threads-per-row=" + std::to_string(2 * chosen.layout.threads_per_row));
    }
  }
  if (matrix.entry_bytes() > 16) {
    change(chosen.layout.inner == InnerLayout::aosoa_component ? "entry-layout=aosoa16"
                                                               : "entry-layout=aosoa");
  }
  if (chosen.gpu.load == LoadHint::evict_first) {
    change("load=no-allocate,l2-percent=0");
    change("l2-percent=" +
           std::to_string(chosen.gpu.l2_percent == 0 ? 20 : chosen.gpu.l2_percent / 2));
  } else if (chosen.gpu.load == LoadHint::no_allocate) {
    change("load=evict-first");
  }
  return plans;
}

}  // namespace

std::vector<std::string> known_plans(const AnyMatrix& matrix, const Device& device) {
  return device.on_gpu() ? plans_on_gpu(matrix, device) : plans_on_cpu(matrix);
}

}  // namespace heddle::bench
