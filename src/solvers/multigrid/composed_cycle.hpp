// The V-, W- and K-cycles that are composed from the cycles of levels.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/composed_preconditioner.hpp"
#include "heddle/multigrid.hpp"
#include "solvers/cycles/flexible_cycle.hpp"

namespace heddle::detail {

/// The cycle of `levels` levels, composed upwards from `cycle`, that of the coarsest level.
/// `matrix_of(l)` is the matrix of level l, and `level_cycle(l, coarse)` the cycle of level l over
/// that of the next coarser one, which a W-cycle applies twice, and a K-cycle uses as the
/// directions of a Krylov method.
template <class S, class MatrixOf, class LevelCycleOf>
std::shared_ptr<Preconditioner<S>> compose_cycle(Cycle kind, std::size_t levels,
                                                 std::shared_ptr<Preconditioner<S>> cycle,
                                                 const MatrixOf& matrix_of,
                                                 const LevelCycleOf& level_cycle) {
  for (std::size_t l = levels - 1; l > 0; --l) {
    const bool is_coarsest = l + 1 == levels;
    if (kind == Cycle::w && !is_coarsest) {
      cycle = std::make_shared<MultiplicativePreconditioner<S>>(matrix_of(l),
                                                                std::vector{cycle, cycle});
    }
    if (kind == Cycle::k && !is_coarsest) {
      cycle = std::make_shared<FlexibleCycle<S>>(matrix_of(l), std::move(cycle));
    }
    cycle = level_cycle(l - 1, std::move(cycle));
  }
  return cycle;
}

}  // namespace heddle::detail
