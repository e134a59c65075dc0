// The parts of a membrane model, and functions that models share.
// docs/inside/adding-a-membrane-model.md has an example.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <string_view>

#include "heddle/entries/annotations.hpp"

namespace heddle::heart {

/// A variable of each cell.
struct Variable {
  std::string_view name;
  bool is_gate = false;  // between 0 and 1
};

enum class Sign { any, not_negative, positive };

/// A number that a case may set; its default is the value in a newly made model. A case gets a
/// warning for unusual values: those outside `least` to `most` or, if both are 0, outside a tenth
/// to ten times the default. 0, which blocks a current, is usual for a number that is not negative.
template <class M>
struct Parameter {
  using Member = double M::*;
  std::string_view name;
  Member value;
  Sign sign = Sign::any;
  std::string_view unit = "1";
  double least = 0, most = 0;
};

/// A model of a membrane: a struct of numbers, which is copied to a GPU byte by byte. V is in mV,
/// times are in ms, and J, a stimulus by capacitance, is in mV/ms.
///     static constexpr std::string_view name
///     static constexpr std::array<std::string_view, T> types  of cells; the first is the default
///     static constexpr std::array<Variable, K + 1> variables  V is the first
///     static const std::array<Parameter<M>, P> parameters
///     static M of_type(int)
///     void prepare()                                          once parameters are set; optional
///     double start(int k) const                               of variable k, at rest
///     double largest_step() const                             of a stable update
///     template <class N> void advance(const N& V0, const N (&state0)[K], N& V, N (&state)[K],
///                                     const N& J, double dt) const
/// `advance` goes dt from V0 and state0, at the rates of V and state, which become the result. A
/// number N is a double or a `LaneGroup`: arithmetic, exp, log, sqrt, <, `select` and `any`.
template <class M>
concept MembraneModel = requires(const M& model) {
  { M::of_type(0) } -> std::same_as<M>;
  { model.start(0) } -> std::same_as<double>;
  { model.largest_step() } -> std::same_as<double>;
  M::name.size();
  M::types.size();
  M::variables.size();
  M::parameters.size();
};

/// A model that can use tables. In addition to the above it has
///     static constexpr std::array<TableShape, T> tables       at most `max_tables`
///     void fill(int k, double dt, float* table) const         table k
/// (potential_table.hpp) and an `advance` with an additional `CellTables`, whose dt is that of the
/// step or half of it.
template <class M>
concept TabulatedModel = MembraneModel<M> && requires(const M& model, float* table) {
  M::tables.size();
  model.fill(0, 1.0, table);
};

/// Variables other than V.
template <class M>
inline constexpr int states_of = static_cast<int>(M::variables.size()) - 1;

enum class CellRule { euler, midpoint };

/// One step: at the rates where it begins, or first half a step in that way and then the whole at
/// the rates in its middle, which is of second order. Gates take Rush and Larsen's formula in both
/// (J. Sundnes et al., A second-order algorithm for solving dynamic cell membrane equations, IEEE
/// Trans. Biomed. Eng. 56, 2009). `tables`: nothing, or the `CellTables` of this step.
template <CellRule rule, class M, class N, int K, class... Tables>
HEDDLE_INLINE void take_step(const M& model, N& V, N (&state)[K], const N& J, double dt,
                             const Tables&... tables) {
  constexpr int stages = rule == CellRule::midpoint ? 2 : 1;
  const N V0 = V;
  N state0[K];
  for (int k = 0; k < K; ++k) state0[k] = state[k];
  for (int stage = stages; stage > 0; --stage) {
    model.advance(V0, state0, V, state, J, stage == 2 ? 0.5 * dt : dt, tables...);
  }
}
/// The shortest step that the rule asks of a model: tables are made for it.
inline double shortest_stage(CellRule rule, double dt) {
  return rule == CellRule::midpoint ? 0.5 * dt : dt;
}

/// a if the condition holds, else b; `LaneGroup` has its own.
HEDDLE_INLINE double select(bool condition, double a, double b) { return condition ? a : b; }
/// True if a condition holds in any lane: if none does, values selected by it need not be computed.
HEDDLE_INLINE bool any(bool condition) { return condition; }

/// A gate after `dt_over_tau` of its own time, at constant rates (Rush and Larsen 1978).
template <class N>
HEDDLE_INLINE N rush_larsen(const N& gate, const N& at_rest, const N& dt_over_tau) {
  using std::exp;
  return at_rest + (gate - at_rest) * exp(-dt_over_tau);
}
/// The same for two fractions, which share a division: the gate goes to top / bottom, and dt / tau
/// is fast / slow.
template <class N>
HEDDLE_INLINE N rush_larsen(const N& gate, const N& top, const N& bottom, const N& fast,
                            const N& slow) {
  const N of_both = 1 / (bottom * slow);
  return rush_larsen(gate, top * (slow * of_both), fast * (bottom * of_both));
}

/// y / (e^y - 1), for a given e^y; 1 at y = 0.
template <class N>
HEDDLE_INLINE N over_expm1(const N& y, const N& exp_y) {
  const N z = y * y;
  // Bernoulli's series; its truncation error is below 1e-17 where it is used.
  const N series =
      1 - 0.5 * y + z * (1. / 12 - z * (1. / 720 - z * (1. / 30240 - z * (1. / 1209600))));
  return select(z < N(1. / 64), series, y / (exp_y - 1));
}

}  // namespace heddle::heart
