// The Jacobi preconditioner of a matrix in sliced storage, below the type of its entry.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heddle/detail/diagonal_cuda.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle::detail {

/// The checks of every Jacobi preconditioner. Throws `Error`: size_mismatch unless the matrix is
/// square; singular. `has_unit`: false if missing entries are refused, too.
HEDDLE_EXPORT void check_jacobi_sizes(Index rows, Index columns);
[[noreturn]] HEDDLE_EXPORT void refuse_diagonal(Index row, bool has_unit);

/// The components of the entry that leaves vectors as they are, in the form in which entries
/// compute; empty if there is none.
template <class S>
HEDDLE_EXPORT std::vector<double> unit_entry(const EntryTable<S>& entry);

template <class S>
class HEDDLE_EXPORT SlicedJacobi : public Preconditioner<S> {
 public:
  /// Keeps a handle to the operator. A diagonal entry that is missing, or has no inverse, counts as
  /// one with a 1 for each zero on its own diagonal, or else as a unit of its size. Throws `Error`:
  /// unsupported for an entry without an inverse, size_mismatch for a matrix that is not square,
  /// singular with the first row, counted from 0 in the user's order, whose diagonal entry is not
  /// finite.
  explicit SlicedJacobi(const SlicedOperator<S>& matrix, Refresh refresh = Refresh::each_launch);

  std::optional<FieldShape> shape() const override;
  void refresh() override {
    if (generation_ != matrix_.generation()) invert();
  }
  long long bytes_of_application() const override { return matrix_.rows() * bytes_of_inverse(); }
  bool is_capturable() const override { return on_gpu_ != nullptr; }
  bool refreshes_in_graph() const override {
    return on_gpu_ != nullptr && refresh_ == Refresh::each_launch;
  }
  void queue_refresh(Index* singular_row, const Stream& stream) override;
  const cuda::RowPreconditioner* rows_on_gpu() const override { return on_gpu_.get(); }

  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

  bool acts_by_rows() const override { return !on_gpu_; }
  void apply_rows(const FieldView<const S>& r, const FieldView<S>& z, Index begin,
                  Index end) const override {
    matrix_.entry().apply_inverses(matrix_.entry(), inverses_.data(), r, z, begin, end);
  }

 private:
  long long bytes_of_inverse() const {
    const EntryShape& inverse = matrix_.entry().arithmetic;
    return static_cast<long long>(inverse.components) * inverse.scalar_bytes;
  }
  void invert();

  SlicedOperator<S> matrix_;
  Refresh refresh_;
  std::vector<double> unit_;
  Array<char> inverses_;                    // row by row; on the CPU
  std::shared_ptr<cuda::Diagonal> on_gpu_;  // shared, as its destructor is built only with CUDA
  long long generation_ = -1;
};

extern template class SlicedJacobi<float>;
extern template class SlicedJacobi<double>;
extern template class SlicedJacobi<long double>;

}  // namespace heddle::detail
