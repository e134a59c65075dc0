// Values of a hierarchy on their way from the user's matrix, and to the operators of its levels.
#include <cmath>
#include <cstring>

#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "matrix/adjoint_values.hpp"
#include "multigrid_hierarchy.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/stored_scalars.hpp"
#include "solvers/tiles/user_rows.hpp"

namespace heddle::detail {

template <class S>
bool Hierarchy<S>::is_hermitian() {
  if (probes_.empty()) {
    for (int k = 0; k < 4; ++k) probes_.push_back(row_field_of<S>(matrix_));
  }
  const ProbeFields<S> probes{probes_[0].view, probes_[1].view, probes_[2].view, probes_[3].view};
  return has_symmetry<S>(Symmetry::hermitian, matrix_, probes, reduction_,
                         matrix_.device().stream());
}

template <class S>
void Hierarchy<S>::check_hermitian() {
  if (is_hermitian()) return;
  throw Error(ErrorKind::unsupported,
              "multigrid: the matrix is not Hermitian; use jacobi, or none");
}

/// Refreshes on the GPU where possible and where that leaves no doubt; else on the CPU, which words
/// any refusal.
template <class S>
void Hierarchy<S>::refresh() {
  const long long newest = of_source([](const auto& source) { return source.generation(); });
  if (generation_ == newest) return;
  if constexpr (has_cuda) {
    if (refresh_on_gpu()) return;
  }
  compute(nullptr);
}

namespace {

/// False unless they are stored as compressed rows in the user's order, with increasing columns.
bool copy_rows(const SlicedPattern& pattern, UserRows& rows, const Stream& host) {
  const bool is_copy = !pattern.offset.device().on_gpu() && pattern.C == 1 &&
                       pattern.target.empty() && pattern.row_basis->is_natural() &&
                       pattern.column_basis->is_natural();
  if (!is_copy) return false;
  const Offset* const offsets = pattern.offset.data();
  const Index* const from = pattern.column.data();
  UnsetArray<Index> column(static_cast<std::size_t>(pattern.entries));
  const bool grows = parallel_all(team_size(host, pattern.entries), pattern.rows, [&](Index row) {
    bool all = true;
    for (Offset i = offsets[row]; i < offsets[row + 1]; ++i) {
      column[static_cast<std::size_t>(i)] = from[i];
      all = all & (i == offsets[row] || from[i - 1] < from[i]);
    }
    return all;
  });
  if (!grows) return false;
  rows.offsets = pattern.offset;
  rows.column = std::move(column).into_array();
  return true;
}

}  // namespace

/// Copies the pattern to the host.
template <class S>
void Hierarchy<S>::read_pattern() {
  if (copy_rows(matrix_.pattern(), levels_.front()->matrix.pattern, host_.stream())) return;
  StoredRows rows = stored_rows(matrix_.pattern(), host_.stream());
  slots_ = std::move(rows.slot);
  levels_.front()->matrix.pattern = std::move(static_cast<UserRows&>(rows));
}

template <class S>
void Hierarchy<S>::read_matrix(Level& finest) {
  const SlicedPattern& pattern = matrix_.pattern();
  const int K = matrix_.entry().sizes.components;
  const int bytes = of_source([](const auto& source) { return source.entry().sizes.stored_bytes; });
  const std::byte* const from =
      of_source([&](const auto& source) { return readable_values(source, scratch_.stored); });
  const SlotRule rule = slot_rule(matrix_.plan().layout.inner, K, pattern.C, pattern.slots, bytes);
  const bool is_whole = keeps_entries_whole(rule);
  const auto& places = finest.entry.tiles.component_of;
  TileMatrix& a = finest.matrix;
  const int team = team_size(host_.stream(), static_cast<long long>(a.values.size()));
  const bool is_finite = parallel_reduce(
      team, a.pattern.entries(), true,
      [&, is_number = is_whole && K == 1 && places.size() == 1 && bytes == sizeof(double),
       sign = places.front().sign, slots = slots_.data(),
       numbers = a.values.data()](Offset i, bool& all) {
        const Offset slot = slots != nullptr ? slots[i] : i;
        if (is_number) {
          double number;
          std::memcpy(&number, from + slot * Offset(sizeof number), sizeof number);
          numbers[i] = sign * number;
          all = all & std::isfinite(number);
          return;
        }
        if (is_whole) {
          double* to = a.tile(i);
          for (const auto& [at, sign] : places) {
            *to = sign * get_stored<double>(from, bytes, slot * K + at);
            all = all && std::isfinite(*to++);
          }
          return;
        }
        const Offset lane = slot % pattern.C;
        double* to = a.tile(i);
        for (const auto& [at, sign] : places) {
          const Offset scalar = rule(slot - lane, static_cast<int>(lane), at);
          *to = sign * get_stored<double>(from, bytes, scalar);
          all = all && std::isfinite(*to);
          ++to;
        }
      },
      [](bool& all, bool other) { all = all && other; });
  if (!is_finite) refuse_not_finite();
  check_hermitian();
}

template <class S>
void Hierarchy<S>::put_values(const TileMatrix& from, const LevelEntry<S>& entry,
                              SlicedOperator<S>& to) {
  const int bytes = entry.table->sizes.stored_bytes;
  if (bytes == sizeof(double) && is_in_order(entry.tiles)) {
    return to.update_values(std::as_bytes(from.values.span()));
  }
  const std::size_t needed = static_cast<std::size_t>(from.pattern.entries()) *
                             static_cast<std::size_t>(entry.table->bytes());
  if (scratch_.stored.size() < needed) scratch_.stored = Array<std::byte>(needed, host_);
  const std::span<std::byte> stored(scratch_.stored.data(), needed);
  components_from_tiles(entry.tiles, from.values.span(), stored, bytes, host_.stream());
  to.update_values(stored);
}

#define HEDDLE_MULTIGRID_VALUES(S)                                                \
  template bool Hierarchy<S>::is_hermitian();                                     \
  template void Hierarchy<S>::refresh();                                          \
  template void Hierarchy<S>::check_hermitian();                                  \
  template void Hierarchy<S>::read_pattern();                                     \
  template void Hierarchy<S>::read_matrix(Level& finest);                         \
  template void Hierarchy<S>::put_values(const TileMatrix&, const LevelEntry<S>&, \
                                         SlicedOperator<S>&);
HEDDLE_MULTIGRID_VALUES(float)
HEDDLE_MULTIGRID_VALUES(double)
#undef HEDDLE_MULTIGRID_VALUES

}  // namespace heddle::detail
