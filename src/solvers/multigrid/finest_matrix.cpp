#include "finest_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "heddle/tools/team.hpp"
#include "level.hpp"
#include "matrix/adjoint_values.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/stored_scalars.hpp"
#include "solvers/tiles/user_rows.hpp"

namespace heddle::detail {

template <class S>
double FinestMatrix<S>::rounding() const {
  return keeps_floats(matrix_) || (std::is_same_v<S, float> && !wide_) ? 1e-5 : 1e-10;
}

template <class S>
bool FinestMatrix<S>::is_hermitian() {
  if (probes_.empty()) {
    for (int k = 0; k < 4; ++k) probes_.push_back(row_field_of<S>(matrix_));
  }
  const ProbeFields<S> probes{probes_[0].view, probes_[1].view, probes_[2].view, probes_[3].view};
  return has_symmetry<S>(Symmetry::hermitian, matrix_, probes, reduction_,
                         matrix_.device().stream());
}

template <class S>
void FinestMatrix<S>::check_hermitian() {
  if (is_hermitian()) return;
  throw Error(ErrorKind::unsupported,
              "multigrid: the matrix is not Hermitian; use jacobi, or none");
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

template <class S>
void FinestMatrix<S>::read_pattern(TileMatrix& a, const Stream& host) {
  if (copy_rows(matrix_.pattern(), a.pattern, host)) return;
  StoredRows rows = stored_rows(matrix_.pattern(), host);
  slots_ = std::move(rows.slot);
  a.pattern = std::move(static_cast<UserRows&>(rows));
}

template <class S>
void FinestMatrix<S>::read_values(const EntryTiles& tiles, TileMatrix& a, SetupScratch& scratch,
                                  const Stream& host) {
  const SlicedPattern& pattern = matrix_.pattern();
  const int K = matrix_.entry().sizes.components;
  const int bytes = of_source([](const auto& source) { return source.entry().sizes.stored_bytes; });
  const std::byte* const from =
      of_source([&](const auto& source) { return readable_values(source, scratch.stored); });
  const SlotRule rule = slot_rule(matrix_.plan().layout.inner, K, pattern.C, pattern.slots, bytes);
  const bool is_whole = keeps_entries_whole(rule);
  const auto& places = tiles.component_of;
  const int team = team_size(host, static_cast<long long>(a.values.size()));
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

template <class T>
UnsetArray<double> read_candidates(const SlicedOperator<T>& source,
                                   std::span<const FieldView<const T>> candidates,
                                   const TileShape& shape, const Stream& host) {
  const int v = shape.height, k = shape.width, r = shape.ring;
  const Index n = source.rows();
  UnsetArray<double> tiles(static_cast<std::size_t>(n) * static_cast<std::size_t>(v * k * r));
  const int team = team_size(host, static_cast<long long>(tiles.size()));
  const auto at = [&](Index row, int i, int j) {
    return static_cast<std::size_t>(((Offset(row) * v + i) * k + j) * r);
  };
  if (static_cast<int>(candidates.size()) < k) {
    parallel_for(team, n, [&](Index row) { std::fill_n(&tiles[at(row, 0, 0)], v * k * r, 0.0); });
  }
  if (candidates.empty()) {
    parallel_for(team, n, [&](Index row) {
      for (int i = 0; i < v; ++i) tiles[at(row, i, i)] = 1;
    });
    return tiles;
  }
  const int components = source.row_components();
  if (components != v * r) {
    throw Error(ErrorKind::unsupported,
                "multigrid: these entries are one number that acts on several components; use "
                "constant candidates");
  }
  const auto inside = row_field_of<T>(source);
  Array<T> own(static_cast<std::size_t>(n) * static_cast<std::size_t>(components));
  const FieldView<T> user(own.data(), n, components);
  const Stream stream = source.device().stream();
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    check_same_shape(candidates[j], inside.view, "a multigrid candidate");
    permute<T>(candidates[j], inside.view, T(1), stream);
    permute<T>(inside.view, user, T(1), stream);
    const auto larger = [](double a, double b) { return Reduction<double>::larger(a, b); };
    const double largest = parallel_reduce(
        team, own.size(), 0.0,
        [&](std::size_t i, double& most) { most = larger(std::abs(double(own[i])), most); },
        [&](double& most, double other) { most = larger(other, most); });
    if (!std::isfinite(largest)) {
      throw Error(ErrorKind::not_finite,
                  "multigrid: a candidate has a component that is not finite");
    }
    // Scaled so that no square leaves the range; the span stays.
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    parallel_for(team, n, [&](Index row) {
      for (int part = 0; part < v * r; ++part) {
        const auto number = static_cast<double>(user.at(row, part));
        tiles[at(row, part / r, static_cast<int>(j)) + static_cast<std::size_t>(part % r)] =
            std::ldexp(number, -exponent);
      }
    });
  }
  return tiles;
}

template class FinestMatrix<float>;
template class FinestMatrix<double>;
template UnsetArray<double> read_candidates(const SlicedOperator<float>&,
                                            std::span<const FieldView<const float>>,
                                            const TileShape&, const Stream&);
template UnsetArray<double> read_candidates(const SlicedOperator<double>&,
                                            std::span<const FieldView<const double>>,
                                            const TileShape&, const Stream&);

}  // namespace heddle::detail
