// The operators of a hierarchy's levels, on patterns of the host or of a GPU.
#include <algorithm>
#include <bit>
#include <utility>

#include "heddle/config.hpp"
#include "matrix/gpu_pattern.hpp"
#include "multigrid_hierarchy.hpp"

namespace heddle::detail {

Plan plan_of_rows(Index rows, Offset entries, const Plan& of_matrix) {
  constexpr int warp = 32;
  constexpr double threads_to_fill = 400e3, rows_to_stream = 1 << 17;
  const auto count = static_cast<double>(std::max<Index>(1, rows));
  const double length = static_cast<double>(entries) / count;
  const double wanted = std::clamp(std::min(threads_to_fill / count, length), 1.0, double(warp));
  Plan plan = of_matrix;
  plan.layout.lanes = warp;
  plan.layout.threshold = 0;
  plan.layout.threads_per_row = static_cast<int>(std::bit_floor(static_cast<unsigned>(wanted)));
  plan.gpu.block_size = count * plan.layout.threads_per_row < threads_to_fill / 2 ? 64 : 128;
  plan.gpu.blocks = 0;
  plan.gpu.l2_percent = 0;  // levels take turns in L2
  if (count < rows_to_stream) plan.gpu.load = Plan().gpu.load;
  return plan;
}

/// Makes P, P* and the coarse matrix, without values; their patterns may lie on the GPU.
template <class S>
void Hierarchy<S>::make_operators(Level& level, Level& coarse, const PatternView& prolongation,
                                  const PatternView& restriction, const PatternView& matrix) {
  coarse.product = make_operator(matrix, coarse_.table, nullptr, nullptr);
  const LevelEntry<S>& of_p = level.number == 0 ? between_ : coarse_;
  level.interpolate = make_operator(prolongation, of_p.table, level.product->row_basis(),
                                    coarse.product->row_basis());
  // P* is a separate matrix: on a GPU its rows are few and long where those of P are many and
  // short, and no layout suits both.
  level.adjoint_entry = of_p;
  if (of_p.table->adjoint_entry != nullptr) level.adjoint_entry.table = of_p.table->adjoint_entry();
  level.restrict = make_operator(restriction, level.adjoint_entry.table,
                                 coarse.product->row_basis(), level.product->row_basis());
}

template <class S>
std::shared_ptr<SlicedOperator<S>> Hierarchy<S>::make_operator(
    const PatternView& rows, const EntryTableHandle<S>& entry,
    std::shared_ptr<const Basis> row_basis, std::shared_ptr<const Basis> column_basis) const {
  const Device device = matrix_.device();
  Plan plan = plan_;
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      plan = plan_of_rows(rows.rows, cuda::entries_of(rows, device.stream()), plan_);
    }
  }
  // The library's own patterns need no check.
  if (!row_basis) row_basis = column_basis = Basis::make(rows, plan, device);
  auto pattern = SlicedPattern::build(rows, plan, std::move(row_basis), std::move(column_basis),
                                      entry->bytes(plan), device);
  return std::make_shared<SlicedOperator<S>>(entry, std::move(pattern), ComponentOrder::row_major,
                                             plan, device);
}

/// Makes values on the host for all patterns that have none.
template <class S>
void Hierarchy<S>::make_values() {
  for (const auto& level : levels_) {
    for (TileMatrix* const matrix : {&level->matrix, &level->prolongation, &level->image,
                                     &level->restriction, &level->inverse_tiles}) {
      if (matrix->values.empty() && !matrix->pattern.offsets.empty()) matrix->make_values();
    }
  }
}

#define HEDDLE_MULTIGRID_OPERATORS(S)                                                 \
  template void Hierarchy<S>::make_operators(Level&, Level&, const PatternView&,      \
                                             const PatternView&, const PatternView&); \
  template std::shared_ptr<SlicedOperator<S>> Hierarchy<S>::make_operator(            \
      const PatternView&, const EntryTableHandle<S>&, std::shared_ptr<const Basis>,   \
      std::shared_ptr<const Basis>) const;                                            \
  template void Hierarchy<S>::make_values();
HEDDLE_MULTIGRID_OPERATORS(float)
HEDDLE_MULTIGRID_OPERATORS(double)
#undef HEDDLE_MULTIGRID_OPERATORS

}  // namespace heddle::detail
