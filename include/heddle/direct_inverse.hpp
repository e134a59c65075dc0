// A sparse factorization as a preconditioner: M = A but for rounding, so that a Krylov method
// around it is iterative refinement, which ends after one or two iterations.
#pragma once

#include <memory>
#include <optional>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

/// M^-1 is a factorization of A in double precision, by one thread of the host: complex entries,
/// and blocks of them, as complex numbers, any other entry by its real expansion. Rows and columns
/// are scaled first, by powers of 2 (Ruiz 2001, RAL-TR-2001-034). A Hermitian matrix is L D L* in
/// the order of approximate minimum degree, without pivoting (Amestoy, Davis and Duff 1996, SIAM J.
/// Matrix Anal. Appl. 17). Other matrices, and those whose L D L* breaks down or loses digits, as
/// saddle points may, are L U with partial pivoting, columns in the order of COLAMD (Davis,
/// Gilbert, Larimore and Ng 2004, ACM Trans. Math. Softw. 30). Factors fill in: their memory may be
/// many times that of A. M^-1 is Hermitian, or complex symmetric, if A is, and positive definite if
/// A is. Fields on a GPU pass through the host, and calls wait for them. Copies share the factors
/// and the work fields; solvers that run at once need one each.
template <class S>
class HEDDLE_EXPORT DirectInverse final : public Preconditioner<S> {
 public:
  /// `matrix` is an operator over sliced storage; a handle to it is kept. Entries need no inverse.
  /// Throws `Error`: size_mismatch for a matrix that is not square, unsupported for an entry that
  /// is not made of its components, not_finite, singular for a matrix without an inverse, also if
  /// rounding decides, memory where L of a Hermitian matrix, or any matrix, does not fit.
  explicit DirectInverse(const detail::SlicedOperator<S>& matrix);

  std::optional<FieldShape> shape() const override;
  /// Throws `Error`: size_mismatch for fields that are not the operator's, usage for fields that
  /// overlap, singular after a refresh that found no factors.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
  /// Computes the factors again if the operator has new values. The ordering, and the pattern of L,
  /// stay. Throws `Error` like the constructor; no factors exist then until a refresh succeeds.
  void refresh() override;
  long long bytes_of_application() const override;

  /// M^-*, which shares the factors.
  DirectInverse adjoint() const;

  /// True for L D L*, false for L U.
  bool is_ldlt() const;
  /// Numbers of the factors.
  long long nonzeros() const;

 private:
  class Parts;

  std::shared_ptr<Parts> parts_;
  bool is_adjoint_ = false;
};

extern template class DirectInverse<float>;
extern template class DirectInverse<double>;
extern template class DirectInverse<long double>;

}  // namespace heddle
