#include <algorithm>
#include <array>
#include <bit>

#include "advance_cells.hpp"
#include "heddle/tools/team.hpp"
#include "lane_group.hpp"

namespace heddle::heart {

namespace {

/// Cells that a thread takes at once.
constexpr Offset cells_at_once = 64;
/// Scalars that one cell counts as, for the number of threads.
constexpr Offset work_of_cell = 64;

/// The sum of the stimuli of each set that acts in the step.
struct ActingStimuli {
  std::uint32_t bits = 0;
  std::array<double, most_stimuli> amplitude;

  HEDDLE_INLINE double sum(std::uint32_t mask) const {
    double J = 0;
    for (mask &= bits; mask != 0; mask &= mask - 1) J += amplitude[std::countr_zero(mask)];
    return J;
  }
};

ActingStimuli acting_stimuli(const CellData& cells) {
  ActingStimuli acting;
  for (int k = 0; k < cells.stimuli; ++k) {
    const Stimulus& s = cells.stimulus[k];
    acting.amplitude[k] = s.amplitude;
    if (s.acts(*cells.time, cells.dt)) acting.bits |= std::uint32_t{1} << k;
  }
  return acting;
}

/// Cells from i on, as many as there are lanes or are left: lanes beyond take part with the
/// potential of cell i, and what they yield is of no use to anyone.
template <class N, class M>
HEDDLE_INLINE void advance_group(const M& model, const CellData& cells, const ActingStimuli& acting,
                                 Offset i) {
  const auto used = static_cast<int>(std::min<Offset>(N::lanes, cells.count - i));
  double lane[N::lanes];
  for (int k = 0; k < N::lanes; ++k) {
    lane[k] = cells.potential[cells.node_of(k < used ? i + k : i)];
  }
  N V = N::load(lane), J = 0;
  if (acting.bits != 0) {
    for (int k = 0; k < N::lanes; ++k) lane[k] = k < used ? acting.sum(cells.mask[i + k]) : 0;
    J = N::load(lane);
  }
  N state[states_of<M>];
  for (int k = 0; k < states_of<M>; ++k) state[k] = N::load(cells.state + k * cells.plane + i);
  model.advance(V, state, J, cells.dt);
  for (int k = 0; k < states_of<M>; ++k) state[k].store(cells.state + k * cells.plane + i);
  V.store(lane);
  for (int k = 0; k < used; ++k) cells.potential[cells.node_of(i + k)] = lane[k];
}

template <class N, class M>
HEDDLE_INLINE void advance_groups(const M& model, const CellData& cells,
                                  const ActingStimuli& acting, Offset begin) {
  const Offset end = std::min(begin + cells_at_once, cells.count);
  for (Offset i = begin; i < end; i += N::lanes) advance_group<N>(model, cells, acting, i);
}

// One body, compiled twice: for every x86-64 machine, and for those with AVX2 and FMA.
template <class M>
__attribute__((flatten)) void advance_baseline(const M& model, const CellData& cells,
                                               const ActingStimuli& acting, Offset begin) {
  advance_groups<LaneGroup<16, 2>>(model, cells, acting, begin);
}
template <class M>
__attribute__((target("avx2,fma"), flatten)) void advance_avx2(const M& model,
                                                               const CellData& cells,
                                                               const ActingStimuli& acting,
                                                               Offset begin) {
  advance_groups<LaneGroup<32, 2>>(model, cells, acting, begin);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

}  // namespace

void advance_on_cpu(const AnyModel& model, const CellData& cells, const Stream& stream) {
  const ActingStimuli acting = acting_stimuli(cells);
  std::visit(
      [&]<class M>(const M& of_cells) {
        const auto advance = has_avx2() ? advance_avx2<M> : advance_baseline<M>;
        const Offset chunks = (cells.count + cells_at_once - 1) / cells_at_once;
        parallel_for(team_size(stream, cells.count * work_of_cell), chunks, [&](Offset chunk) {
          advance(of_cells, cells, acting, chunk * cells_at_once);
        });
      },
      model);
}

}  // namespace heddle::heart
