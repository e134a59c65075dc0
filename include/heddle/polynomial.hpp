// Polynomials of the matrix as preconditioners: products replace iterations, whose sums every
// thread or GPU waits for. Under iteration-precision=single they multiply with the copy in floats.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"

namespace heddle {

struct HEDDLE_EXPORT ChebyshevOptions {
  int degree = 4;  // products with the matrix; 0 leaves M^-1 times a number
  /// Interval of M^-1 A with the inner preconditioner M. None: from an estimate of the largest
  /// eigenvalue.
  std::optional<SpectralInterval> interval = std::nullopt;
};

/// z = q(M^-1 A) M^-1 r for a Hermitian positive definite A and an inner preconditioner M such as
/// Jacobi, or none. q is the polynomial for which 1 - t q(t) is Chebyshev's on the interval (Saad,
/// Iterative Methods for Sparse Linear Systems, 12.3). The map is Hermitian, and positive definite
/// if all eigenvalues of M^-1 A lie below lower + upper.
///
/// Without an interval, ten steps of Lanczos' method estimate the largest eigenvalue. upper is 1.1
/// times that, since an estimate lies below the eigenvalue. lower is upper / 30: the polynomial is
/// meant to damp the upper part of the spectrum (Adams, Brezina, Hu, Tuminaro 2003, on smoothers;
/// 30 is the ratio of Trilinos' Ifpack2). Krylov methods handle a few small eigenvalues best
/// themselves, and an estimate of the smallest would be poor. `refresh` makes a new estimate when a
/// matrix in sliced storage has new values, and in each solve over any other operator: state an
/// interval to save these products.
///
/// Takes `degree` products, degree + 1 applications of M, and 4 fields of its own. One application
/// at a time.
template <class S>
class HEDDLE_EXPORT Chebyshev final : public Preconditioner<S> {
 public:
  /// Plain, without an inner preconditioner. Throws `Error`: usage for an invalid degree or
  /// interval; size_mismatch for an operator that is not square; unsupported for one that is not
  /// Hermitian, or not positive definite as far as the estimate sees, and for an inner
  /// preconditioner that varies or is not Hermitian; not_finite for values that are not finite
  /// numbers.
  explicit Chebyshev(OperatorReference<S> matrix, ChebyshevOptions options = {})
      : Chebyshev(std::move(matrix), nullptr, options) {}

  /// Takes the inner preconditioner.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Chebyshev(OperatorReference<S> matrix, P inner, ChebyshevOptions options = {})
      : Chebyshev(std::move(matrix), std::make_shared<P>(std::move(inner)), options) {}

  /// Null for none.
  Chebyshev(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> inner,
            ChebyshevOptions options = {});

  /// The interval in use.
  SpectralInterval interval() const { return interval_; }
  /// Replaces the interval from the next application on, for new values of the matrix. Throws
  /// `Error` (usage) for an invalid interval, and if the options left it to an estimate.
  void replace_interval(const SpectralInterval& interval);

  std::optional<FieldShape> shape() const override;
  void refresh() override;
  Workspace workspace() const override { return inner_ ? inner_->workspace() : Workspace{}; }
  bool is_symmetric() const override { return !inner_ || inner_->is_symmetric(); }
  /// The coefficients lie on the device, and `refresh` changes them there.
  bool is_capturable() const override;
  long long bytes_of_application() const override;
  /// True only with an interval from the caller, since an estimate needs the host.
  bool refreshes_in_graph() const override;
  void queue_refresh(Index* singular_row, const Stream& stream) override;

  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

 private:
  using Number = Coefficient<Ring::real, S>;

  FieldView<S> make_field();
  void check_hermitian();
  SpectralInterval estimate();
  void set_interval(const SpectralInterval& interval);
  /// direction = residual b_k + direction a_k.
  void combine(int k, const FieldView<const S>& residual, const Stream& stream) const;

  OperatorReference<S> matrix_;
  std::shared_ptr<Preconditioner<S>> inner_;
  ChebyshevOptions options_;
  Device device_;
  SpectralInterval interval_;
  std::vector<Number> numbers_;  // a_0, b_0, a_1, ...
  Array<Number> coefficients_;   // the same, where the fields are
  std::vector<Array<S>> storage_;
  FieldView<S> direction_, residual_, preconditioned_, spare_;
  Reduction<S> reduction_;
  std::optional<long long> generation_;  // generation of the values that the estimate is for
};

/// z = sum of (I - M^-1 A)^k M^-1 r over k = 0 ... terms, Neumann's series for the inverse, with an
/// inner preconditioner M such as Jacobi, or none. It takes any square operator, and converges if
/// the eigenvalues of M^-1 A lie within 1 of 1. The map is Hermitian if A and M are. It is then
/// positive definite for every even number of terms, for an odd one only if all eigenvalues are
/// below 2 (Dubois, Greenbaum, Rodrigue 1979).
///
/// Takes `terms` products, terms + 1 applications of M, and 1 or 2 fields of its own. One
/// application at a time.
template <class S>
class HEDDLE_EXPORT Neumann final : public Preconditioner<S> {
 public:
  /// Made without an inner preconditioner. Throws `Error`: usage for fewer than 1 term,
  /// size_mismatch for an operator that is not square, unsupported for an inner preconditioner that
  /// varies.
  explicit Neumann(OperatorReference<S> matrix, int terms = 2)
      : Neumann(std::move(matrix), nullptr, terms) {}

  /// Takes the inner preconditioner.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Neumann(OperatorReference<S> matrix, P inner, int terms = 2)
      : Neumann(std::move(matrix), std::make_shared<P>(std::move(inner)), terms) {}

  /// Null for none.
  Neumann(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> inner, int terms = 2);

  std::optional<FieldShape> shape() const override;
  void refresh() override {
    if (inner_) inner_->refresh();
  }
  Workspace workspace() const override { return inner_ ? inner_->workspace() : Workspace{}; }
  bool is_hermitian() const override { return !inner_ || inner_->is_hermitian(); }
  bool is_symmetric() const override { return !inner_ || inner_->is_symmetric(); }
  bool is_capturable() const override;
  long long bytes_of_application() const override;
  bool refreshes_in_graph() const override { return inner_ && inner_->refreshes_in_graph(); }
  bool can_queue_refresh() const override { return inner_ && inner_->can_queue_refresh(); }
  void queue_refresh(Index* singular_row, const Stream& stream) override {
    inner_->queue_refresh(singular_row, stream);
  }

  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

 private:
  OperatorReference<S> matrix_;
  std::shared_ptr<Preconditioner<S>> inner_;
  int terms_;
  std::vector<Array<S>> storage_;
  FieldView<S> residual_, preconditioned_;
};

template <class M>
Chebyshev(M&&) -> Chebyshev<operator_scalar_t<M>>;
template <class M>
Chebyshev(M&&, ChebyshevOptions) -> Chebyshev<operator_scalar_t<M>>;
template <class M, class P>
Chebyshev(M&&, P&&, ChebyshevOptions = {}) -> Chebyshev<operator_scalar_t<M>>;
template <class M>
Neumann(M&&) -> Neumann<operator_scalar_t<M>>;
template <class M>
Neumann(M&&, int) -> Neumann<operator_scalar_t<M>>;
template <class M, class P>
Neumann(M&&, P&&, int = 2) -> Neumann<operator_scalar_t<M>>;

extern template class Chebyshev<float>;
extern template class Chebyshev<double>;
extern template class Chebyshev<long double>;
extern template class Neumann<float>;
extern template class Neumann<double>;
extern template class Neumann<long double>;

}  // namespace heddle
