// The cells of one model with one set of parameters, and their step.
#pragma once

#include <cstdint>

#include "heddle/entries/slots.hpp"
#include "membrane_model.hpp"
#include "stimulus.hpp"

namespace heddle::heart {

/// A plane of a variable is as long as a multiple of this, so that groups of cells are whole.
inline constexpr int cells_of_plane = 16;

/// Where the numbers of the cells lie. Cell i of the group is node `node[i]` of the fields.
struct CellData {
  Offset count;
  const Index* node;  // null: cell i is node i
  double* state;      // variable k of cell i at k * plane + i; V is not among them
  Offset plane;
  const std::uint32_t* mask;  // of cell i: bit k where stimulus k acts; null without stimuli
  const Stimulus* stimulus;   // in the device's memory
  int stimuli;
  double* potential;   // of node n
  const double* time;  // in the device's memory
  double dt;
  CellRule rule;

  HEDDLE_INLINE Offset node_of(Offset i) const { return node != nullptr ? node[i] : i; }
};

/// The step of one cell.
template <MembraneModel M, CellRule rule>
struct CellPass {
  Offset count;
  M model;
  CellData cells;

  HEDDLE_INLINE void operator()(Offset i) const {
    double J = 0;
    if (cells.mask != nullptr) {
      std::uint32_t mask = cells.mask[i];
      for (const Stimulus* s = cells.stimulus; mask != 0; mask >>= 1, ++s) {
        if ((mask & 1) != 0 && s->acts(*cells.time, cells.dt)) J += s->amplitude;
      }
    }
    double state[states_of<M>];
    for (int k = 0; k < states_of<M>; ++k) state[k] = cells.state[k * cells.plane + i];
    double& V = cells.potential[cells.node_of(i)];
    double potential = V;
    take_step<rule>(model, potential, state, J, cells.dt);
    V = potential;
    for (int k = 0; k < states_of<M>; ++k) cells.state[k * cells.plane + i] = state[k];
  }
};

}  // namespace heddle::heart
