#include "advance_cells.hpp"
#include "heddle/for_each_on.hpp"

namespace heddle::heart {

namespace {

template <CellRule rule, class M>
void advance_by(const M& model, const CellData& cells, const Stream& stream) {
  if (TabulatedModel<M> && cells.are_tabulated()) {
    for_each_on(stream, CellPass<M, rule, TabulatedModel<M>>{cells.count, model, cells});
  } else {
    for_each_on(stream, CellPass<M, rule, false>{cells.count, model, cells});
  }
}

}  // namespace

void advance_on_gpu(const AnyModel& model, const CellData& cells, const Stream& stream) {
  std::visit(
      [&](const auto& of_cells) {
        if (cells.rule == CellRule::midpoint) {
          advance_by<CellRule::midpoint>(of_cells, cells, stream);
        } else {
          advance_by<CellRule::euler>(of_cells, cells, stream);
        }
      },
      model);
}

}  // namespace heddle::heart
