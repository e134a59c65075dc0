// Steps of cells on a CPU, by groups of lanes: source that one file for each instruction set
// compiles with its own registers.
//
// g++ splits operations on registers that a function's instruction set lacks before it inlines the
// function elsewhere, so `#pragma GCC target` precedes this header where registers are to be wider.
// Nothing of the standard library is called in here, so that its functions are compiled as usual.
#pragma once

#include <cstdint>

#include "cells.hpp"
#include "heddle/entries/annotations.hpp"
#include "lane_group.hpp"
#include "models.hpp"

namespace heddle::heart {

/// Number of cells that a thread takes at once.
inline constexpr Offset cells_at_once = 64;

/// The stimuli that act in a step.
struct ActingStimuli {
  std::uint32_t bits = 0;
  double amplitude[max_stimuli];

  HEDDLE_INLINE double sum(std::uint32_t mask) const {
    double J = 0;
    for (mask &= bits; mask != 0; mask &= mask - 1) J += amplitude[__builtin_ctz(mask)];
    return J;
  }
};

/// Advances `cells_at_once` cells from `begin` on, or as many as are left, of the model at `model`.
using Step = void (*)(const void* model, const CellData& cells, const ActingStimuli& acting,
                      Offset begin);
/// For each rule, by formulas or tables, and for each model of the table.
struct Steps {
  Step of_model[2][2][std::variant_size_v<AnyModel>];
};
/// Compiled for every x86-64, and for AVX2 and FMA.
extern const Steps baseline_steps, avx2_steps;

/// Advances as many cells from i on as there are lanes. If fewer are left, the lanes beyond them
/// take part with the potential of cell i, and their results are unused.
template <CellRule rule, bool tabulated, class N, class M>
HEDDLE_INLINE void advance_group(const M& model, const CellData& cells, const ActingStimuli& acting,
                                 Offset i) {
  const Offset left = cells.count - i;
  const int used = left < N::lanes ? static_cast<int>(left) : N::lanes;
  const bool lie_together = cells.node == nullptr && used == N::lanes;
  double lane[N::lanes];
  N V, J = 0;
  if (lie_together) {
    V = N::load(cells.potential + i);
    if (cells.diffused != nullptr) V = V + N::load(cells.diffused + i);
  } else {
    for (int k = 0; k < N::lanes; ++k) {
      const Offset node = cells.node_of(k < used ? i + k : i);
      lane[k] = cells.potential[node] + (cells.diffused != nullptr ? cells.diffused[node] : 0);
    }
    V = N::load(lane);
  }
  if (acting.bits != 0) {
    for (int k = 0; k < N::lanes; ++k) lane[k] = k < used ? acting.sum(cells.mask[i + k]) : 0;
    J = N::load(lane);
  }
  N state[states_of<M>];
  for (int k = 0; k < states_of<M>; ++k) state[k] = N::load(cells.state + k * cells.plane + i);
  take_step_of<rule, tabulated>(model, cells, V, state, J);
  for (int k = 0; k < states_of<M>; ++k) state[k].store(cells.state + k * cells.plane + i);
  double* const to = cells.next.potential != nullptr ? cells.next.potential : cells.potential;
  if (lie_together) {
    V.store(to + i);
  } else {
    V.store(lane);
    for (int k = 0; k < used; ++k) to[cells.node_of(i + k)] = lane[k];
  }
  for (int k = 0; k < used; ++k) cells.next.make_guess(cells.node_of(i + k));
}

template <CellRule rule, bool tabulated, class N, class M>
__attribute__((flatten)) void advance_groups(const void* model, const CellData& cells,
                                             const ActingStimuli& acting, Offset begin) {
  // Copies that no store can reach, so that values derived from them are computed outside the loop.
  const M constants = *static_cast<const M*>(model);
  const CellData data = cells;
  const Offset end = data.count < begin + cells_at_once ? data.count : begin + cells_at_once;
  for (Offset i = begin; i < end; i += N::lanes)
    advance_group<rule, tabulated, N>(constants, data, acting, i);
}

template <class N, class... M>
constexpr Steps steps_of(const std::variant<M...>*) {
  return {{{{advance_groups<CellRule::euler, false, N, M>...},
            {advance_groups<CellRule::euler, TabulatedModel<M>, N, M>...}},
           {{advance_groups<CellRule::midpoint, false, N, M>...},
            {advance_groups<CellRule::midpoint, TabulatedModel<M>, N, M>...}}}};
}

}  // namespace heddle::heart
