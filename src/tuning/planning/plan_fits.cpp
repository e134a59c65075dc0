#include "plan_fits.hpp"

#include <algorithm>

#include "base/text/readable.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/sliced.hpp"
#include "solvers/gpu_loops/block_shares.hpp"

namespace heddle {

namespace {

std::string why_not_of_this_shape(const Plan& plan, const PatternView& pattern) {
  if (pattern.rows == pattern.columns) return "";
  if (plan.layout.order == RowOrder::reverse_cuthill_mckee) {
    return "order=rcm needs a square matrix";
  }
  if (plan.layout.sort_window != 1 && plan.layout.basis == BasisUse::permuted) {
    return "rows that are sorted in the permuted basis need a square matrix";
  }
  return "";
}

/// Considers the vectors alone, with Jacobi, which takes more.
std::string why_not_persistent(const Plan& plan, const PlanSubject& subject,
                               const MethodInfo& method, const DeviceProperties& device) {
  cuda::check_plan_for_persistent_loop(
      plan, plan.layout.basis == BasisUse::user && plan.layout.sort_window != 1);
  if (device.multiprocessors == 0 || device.shared_memory_of_block == 0) return "";
  const bool fit = vectors_fit_in_shared(cuda::persistent_method(method), subject.pattern, plan,
                                         subject.result_bytes, device.multiprocessors,
                                         device.shared_memory_of_block);
  return fit ? "" : "the vectors of loop=persistent do not fit into shared memory";
}

/// An upper bound for any layout: every row as long as the longest.
double max_slots(const Plan& plan, const PatternView& pattern) {
  Index longest = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    longest = std::max(longest, pattern.length(row));
  }
  if (plan.layout.lanes == 1 && plan.layout.threads_per_row == 1) {
    return static_cast<double>(pattern.entries());
  }
  constexpr int max_threads = 64;  // per row: a slice has no more lanes
  return (static_cast<double>(pattern.rows) + max_threads) * (longest + max_threads);
}

/// Bytes of an entry and its copy.
EntryBytes bytes_of(StoredScalar stored, const PlanSubject& subject) {
  const int own = subject.entry_bytes;
  const bool in_doubles = subject.precision == "double";
  switch (stored) {
    case StoredScalar::own:
      return {own};
    case StoredScalar::single:
      return {own, in_doubles ? own / 2 : 0};
    case StoredScalar::dictionary:
      return {own, 1, 256 * own};
    case StoredScalar::unit:
      return {own, own / 4 * 3, 4 * own};
    default:
      return {own, own / (in_doubles ? 4 : 2), 2};
  }
}

std::string why_too_large(const Plan& plan, const PlanSubject& subject, long long memory) {
  const EntryBytes entry = bytes_of(plan.layout.stored, subject);
  constexpr int other_bytes = sizeof(Index) + sizeof(Offset);  // column, and source of the entry
  const double a_slot = entry.own + entry.copy + other_bytes;
  constexpr double of_rows = 64;  // bytes per row: lengths, slices and basis
  const double most = max_slots(plan, subject.pattern) * a_slot + of_rows * subject.pattern.rows;
  if (most <= static_cast<double>(memory)) return "";
  Plan without_order = plan;  // finding it would take longer than all the rest
  without_order.layout.order = RowOrder::natural;
  const MemoryUse use = memory_use(subject.pattern, without_order, entry, Device::cpu());
  if (use.peak() <= memory) return "";
  return "it needs " + readable_bytes(use.peak()) + ", available are " + readable_bytes(memory);
}

}  // namespace

std::string why_it_cannot_run(const Plan& plan, const PlanSubject& subject, Objective objective,
                              const DeviceProperties& device, long long memory) {
  try {
    check_plan(plan);
    std::string why = why_not_of_this_shape(plan, subject.pattern);
    if (why.empty() && device.gpu) {
      cuda::check_plan_for_gpu(plan);
      const MethodInfo* const method = objective.method;
      if (plan.loop.form == LoopForm::persistent && method != nullptr && method->has_one_kernel) {
        why = why_not_persistent(plan, subject, *method, device);
      }
    }
    return why.empty() ? why_too_large(plan, subject, memory) : why;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace heddle
