// The Jacobi preconditioner of a matrix of entries from a definition.
#pragma once

#include "heddle/defined_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

/// True unless `inverse` is that of `entry` to some digit, as `detail::is_singular` for types.
template <class S>
bool is_singular(const EntryDefinition& definition, const S* entry, const S* inverse);

/// S is float or double.
template <class S>
class DefinedJacobi final : public Preconditioner<S> {
 public:
  /// Throws `Error`: unsupported where the definition has no inverse; size_mismatch for a matrix
  /// that is not square; singular with the first row, counted from 0, whose diagonal entry is
  /// missing or has no inverse.
  explicit DefinedJacobi(const DefinedOperator<S>& matrix);

  long long bytes_of_application() const override {
    return static_cast<long long>(inverses_.size() * sizeof(S));
  }
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

 private:
  DefinedOperator<S> matrix_;
  Array<S> inverses_;  // row by row
};

extern template class DefinedJacobi<float>;
extern template class DefinedJacobi<double>;

}  // namespace heddle
