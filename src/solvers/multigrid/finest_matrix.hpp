// The user's matrix, from which the finest level of a multigrid takes pattern, values and
// candidates.
#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

template <class S>
class FinestMatrix {
 public:
  /// `source`: the original that `matrix` copies, on the same pattern, or `matrix` itself. Values
  /// are read from it; the caller brings them to the copy.
  template <class T>
  FinestMatrix(const SlicedOperator<S>& matrix, const SlicedOperator<T>& source)
      : matrix_(matrix), reduction_(matrix.rows(), matrix.device()) {
    if constexpr (!std::is_same_v<S, T>) wide_ = source;
  }

  const SlicedOperator<S>& matrix() const { return matrix_; }
  /// Generation of the source's values.
  long long generation() const {
    return of_source([](const auto& source) { return source.generation(); });
  }
  /// Rounding of energies, relative to what they came from.
  double rounding() const;
  /// Copies the pattern to the host.
  void read_pattern(TileMatrix& a, const Stream& host);
  /// Throws `Error`: not_finite, or like `check_hermitian`.
  void read_values(const EntryTiles& tiles, TileMatrix& a, SetupScratch& scratch,
                   const Stream& host);
  bool is_hermitian();
  /// Throws `Error` (unsupported).
  void check_hermitian();
  /// Bytes on the host.
  long long bytes() const { return static_cast<long long>(slots_.span().size_bytes()); }

 private:
  /// Result of `of` for the source.
  template <class Of>
  auto of_source(const Of& of) const {
    if constexpr (std::is_same_v<S, float>) {
      if (wide_) return of(*wide_);
    }
    return of(matrix_);
  }

  SlicedOperator<S> matrix_;
  std::optional<SlicedOperator<double>> wide_;  // the source, if that is another matrix
  Array<Offset> slots_;                         // slots of the entries in A; empty if in order
  std::vector<OperatorField<S>> probes_;        // for the check that A is Hermitian
  Reduction<S> reduction_;
};

/// A tile of this shape for each row, whose columns are the candidates; missing ones are 0. No
/// candidates: constants. Throws `Error`.
template <class T>
UnsetArray<double> read_candidates(const SlicedOperator<T>& source,
                                   std::span<const FieldView<const T>> candidates,
                                   const TileShape& shape, const Stream& host);

}  // namespace heddle::detail
