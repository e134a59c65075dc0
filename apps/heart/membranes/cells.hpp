// The cells of one model with one set of parameters, and their step.
#pragma once

#include <cstdint>

#include "../clock.hpp"
#include "heddle/entries/slots.hpp"
#include "membrane_model.hpp"
#include "potential_table.hpp"
#include "stimulus.hpp"

namespace heddle::heart {

/// The length of a variable's plane is a multiple of this, so that groups of cells are complete.
inline constexpr int cells_of_plane = 16;

/// Work after the step of the cells and before that of the tissue: a guess of the change by
/// diffusion, extrapolated linearly from the two steps before. A times the guess needs no product,
/// since A times the last change is the difference of its right-hand side and residual.
struct BeforeDiffusion {
  double* potential = nullptr;  // at nodes, as the cells leave it; null: in place
  double* change = nullptr;     // by the last diffusion, then the guess; null: no guess
  double* change_before = nullptr;
  const double* right_hand_side = nullptr;
  const double* residual = nullptr;
  double* image = nullptr;  // A times the guess
  double* image_before = nullptr;
  bool is_extrapolated = true;   // else the guess is 0
  const Clock* clock = nullptr;  // copied for the end of the step, which advances the clock
  Clock* of_end = nullptr;

  HEDDLE_INLINE void note_clock() const {
    if (clock != nullptr) *of_end = *clock;
  }
  HEDDLE_INLINE void make_guess(Offset node) const {
    if (change == nullptr) return;
    // All is read before anything is written: a GPU waits once.
    const double last = change[node], before = change_before[node];
    const double image_of_last = right_hand_side[node] - residual[node];
    const double image_of_before = image_before[node];
    change_before[node] = last;
    image_before[node] = image_of_last;
    change[node] = is_extrapolated ? 2 * last - before : 0;
    image[node] = is_extrapolated ? 2 * image_of_last - image_of_before : 0;
  }
};

/// Locations of the cells' data. Cell i of the group is node `node[i]` of the fields.
struct CellData {
  Offset count;
  const Index* node;  // null: cell i is node i
  double* state;      // variable k of cell i at k * plane + i; V is not among them
  Offset plane;
  const std::uint32_t* mask;  // for cell i: bit k is set if stimulus k acts; null without stimuli
  const Stimulus* stimulus;   // in the device's memory
  int stimuli;
  double* potential;   // at node n
  const double* time;  // in the device's memory
  double dt;
  CellRule rule;
  CellTables tables = {};            // for models that have them
  const double* diffused = nullptr;  // at node n: added to the potential before the step
  BeforeDiffusion next = {};

  HEDDLE_INLINE Offset node_of(Offset i) const { return node != nullptr ? node[i] : i; }
  bool are_tabulated() const { return tables.table[0] != nullptr; }
};

/// Calls take_step with the tables of the cells, if any.
template <CellRule rule, bool tabulated, class M, class N, int K>
HEDDLE_INLINE void take_step_of(const M& model, const CellData& cells, N& V, N (&state)[K],
                                const N& J) {
  if constexpr (tabulated && TabulatedModel<M>) {
    take_step<rule>(model, V, state, J, cells.dt, cells.tables);
  } else {
    take_step<rule>(model, V, state, J, cells.dt);
  }
}

/// The step of one cell.
template <MembraneModel M, CellRule rule, bool tabulated>
struct CellPass {
  static constexpr int min_blocks = 4;  // without this, register use would leave fewer
  Offset count;
  M model;
  CellData cells;

  HEDDLE_INLINE void operator()(Offset i) const {
    if (i == 0) cells.next.note_clock();
    // All is read before it is needed: a GPU waits once.
    double state[states_of<M>];
    for (int k = 0; k < states_of<M>; ++k) state[k] = cells.state[k * cells.plane + i];
    const Offset node = cells.node_of(i);
    double potential = cells.potential[node];
    if (cells.diffused != nullptr) potential += cells.diffused[node];
    cells.next.make_guess(node);
    double J = 0;
    if (cells.mask != nullptr) {
      std::uint32_t mask = cells.mask[i];
      for (const Stimulus* s = cells.stimulus; mask != 0; mask >>= 1, ++s) {
        if ((mask & 1) != 0 && s->acts(*cells.time, cells.dt)) J += s->amplitude;
      }
    }
    take_step_of<rule, tabulated>(model, cells, potential, state, J);
    (cells.next.potential != nullptr ? cells.next.potential : cells.potential)[node] = potential;
    for (int k = 0; k < states_of<M>; ++k) cells.state[k * cells.plane + i] = state[k];
  }
};

}  // namespace heddle::heart
