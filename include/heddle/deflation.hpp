// A coarse correction on given vectors alongside another preconditioner: the span of these vectors,
// such as eigenvectors of the least eigenvalues, no longer costs iterations.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/composed_preconditioner.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

namespace detail {
template <class S>
class CoarseSpace;
}

/// z = P r + sigma W (W* A W)^-1 W* r for vectors W, a preconditioner P and a Hermitian positive
/// definite A: the additive form of two levels (Nabben and Vuik, A comparison of deflation and
/// coarse grid correction, 2004), Hermitian positive definite if P is. sigma is about the mean
/// eigenvalue of P A, so that an eigenvector w of P A with a small eigenvalue gets one of about
/// sigma in its place. Coefficients are those of the operator's ring: over quaternions a vector
/// stands for four real ones.
///
/// The columns of W become A-orthonormal, by one product each, at the start of a solve whose matrix
/// has new values; vectors that depend on others are left out. An application costs that of P and
/// two passes over W. It keeps 2 fields for each vector (but at least 3 besides W). A loop on a GPU
/// is driven by the host. One application at a time.
template <class S>
class HEDDLE_EXPORT Deflation final : public Preconditioner<S> {
 public:
  static constexpr std::size_t limit = 64;  // vectors

  /// `vectors`: 1 to `limit`, in the user's order or the operator's basis, in its memory or the
  /// host's; they are copied. `inner`: null for P = 1. Throws `Error`: usage for another number of
  /// vectors, size_mismatch or usage for vectors or a preconditioner of other fields, unsupported
  /// for an operator without adjoint and for an inner preconditioner that is not Hermitian, memory
  /// where its fields do not fit, and like `refresh`.
  Deflation(OperatorReference<S> matrix, std::span<const FieldView<const S>> vectors,
            std::shared_ptr<Preconditioner<S>> inner = nullptr);
  Deflation(Deflation&&) noexcept;
  ~Deflation() override;

  std::optional<FieldShape> shape() const override;
  /// Throws `Error`: unsupported if w* A w is negative for a vector w, not_finite if it is not a
  /// finite number, and like the inner preconditioner.
  void refresh() override;
  Workspace workspace() const override;
  bool is_symmetric() const override;
  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

  /// The number of independent vectors.
  int vectors() const;
  double sigma() const;

 private:
  OperatorReference<S> matrix_;
  std::shared_ptr<Preconditioner<S>> inner_;
  std::unique_ptr<detail::CoarseSpace<S>> coarse_;
  std::optional<long long> generation_;  // values that the coarse space was made for
};

/// Takes its inner preconditioner by value, or shares a pointer.
template <class M, class P, class S = operator_scalar_t<M>>
Deflation<S> deflated(M&& A, P inner,
                      std::type_identity_t<std::span<const FieldView<const S>>> vectors) {
  return {OperatorReference<S>(std::forward<M>(A)), vectors,
          detail::shared_part<S>(std::move(inner))};
}

extern template class Deflation<float>;
extern template class Deflation<double>;
extern template class Deflation<long double>;

}  // namespace heddle
