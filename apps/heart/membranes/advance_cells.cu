#include "advance_cells.hpp"
#include "heddle/for_each_on.hpp"

namespace heddle::heart {

void advance_on_gpu(const AnyModel& model, const CellData& cells, const Stream& stream) {
  std::visit(
      [&]<class M>(const M& of_cells) {
        if (cells.rule == CellRule::midpoint) {
          for_each_on(stream, CellPass<M, CellRule::midpoint>{cells.count, of_cells, cells});
        } else {
          for_each_on(stream, CellPass<M, CellRule::euler>{cells.count, of_cells, cells});
        }
      },
      model);
}

}  // namespace heddle::heart
