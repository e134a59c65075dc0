// The Jacobi preconditioner of a matrix of entries from a definition.
#pragma once

#include "heddle/detail/diagonal_cuda.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/runtime/defined_operator.hpp"

namespace heddle {

/// True unless `inverse` is that of `entry` to some digit, as `detail::is_singular` for types.
template <class S>
HEDDLE_EXPORT bool is_singular(const EntryDefinition& definition, const S* entry, const S* inverse);

/// S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedJacobi final : public Preconditioner<S> {
 public:
  /// Throws `Error`: unsupported where the definition has no inverse; size_mismatch for a matrix
  /// that is not square; singular with the first row, counted from 0, whose diagonal entry is
  /// missing or has no inverse.
  explicit DefinedJacobi(const DefinedOperator<S>& matrix);

  long long bytes_of_application() const override {
    return static_cast<long long>(matrix_.rows()) * matrix_.definition().size() *
           static_cast<long long>(sizeof(S));
  }
  bool is_capturable() const override { return on_gpu_ != nullptr; }
  bool refreshes_in_graph() const override { return on_gpu_ != nullptr; }
  void queue_refresh(Index* singular_row, const Stream& stream) override;
  const cuda::RowPreconditioner* rows_on_gpu() const override { return on_gpu_.get(); }

  std::optional<FieldShape> shape() const override;

  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

 private:
  /// The first row, as the user counts them, whose entry has no inverse, or the number of rows.
  Index invert_entries();
  void check_fit(const FieldView<const S>& r, const FieldView<S>& z) const;

  DefinedOperator<S> matrix_;
  Array<S> inverses_;                       // row by row; on the CPU
  std::shared_ptr<cuda::Diagonal> on_gpu_;  // shared, as its destructor is built with CUDA only
};

extern template class DefinedJacobi<float>;
extern template class DefinedJacobi<double>;

}  // namespace heddle
