#include "advance_cells.hpp"

#include "group_step.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::heart {

namespace {

/// Number of scalars that one cell counts as when the number of threads is chosen.
constexpr Offset work_of_cell = 64;

ActingStimuli acting_stimuli(const CellData& cells) {
  ActingStimuli acting;
  for (int k = 0; k < cells.stimuli; ++k) {
    const Stimulus& s = cells.stimulus[k];
    acting.amplitude[k] = s.amplitude;
    if (s.acts(*cells.time, cells.dt)) acting.bits |= std::uint32_t{1} << k;
  }
  return acting;
}

const Steps& steps_here() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_avx2 ? avx2_steps : baseline_steps;
}

}  // namespace

void advance_on_cpu(const AnyModel& model, const CellData& cells, const Stream& stream) {
  const ActingStimuli acting = acting_stimuli(cells);
  cells.next.note_clock();
  const auto& of_rule = steps_here().of_model[static_cast<std::size_t>(cells.rule)];
  const Step step = of_rule[cells.are_tabulated() ? 1 : 0][model.index()];
  const void* const of_cells =
      std::visit([](const auto& m) { return static_cast<const void*>(&m); }, model);
  const Offset chunks = (cells.count + cells_at_once - 1) / cells_at_once;
  parallel_for(team_size(stream, cells.count * work_of_cell), chunks,
               [&](Offset chunk) { step(of_cells, cells, acting, chunk * cells_at_once); });
}

}  // namespace heddle::heart
