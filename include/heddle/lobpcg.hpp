// The smallest eigenpairs of Hermitian operators by LOBPCG (Knyazev 2001).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"

namespace heddle {

namespace detail {
template <class S>
class EigenLoop;
}

struct HEDDLE_EXPORT EigenOptions {
  static constexpr double by_precision = -1;
  static constexpr int by_count = -1;
  static constexpr int max_pairs = 16;

  /// The number of eigenpairs, 1 to `max_pairs`.
  int count = 1;
  /// The number of vectors iterated in addition, so that the last pairs converge as fast as the
  /// first, 0 to `max_pairs`; `by_count` is a quarter of the count, rounded up. A solver keeps
  /// both numbers from its construction.
  int guard = by_count;
  /// The bound on the relative residual, see `EigenReport::residuals`. `by_precision` is 1e-8 in
  /// double and long double, 1e-5 in single. It is relative to |A|: eigenvalues far below that need
  /// a smaller one, and penalty rows, which make up most of |A|, make this true of all eigenvalues.
  /// See `error_estimates`.
  double tolerance = by_precision;
  long long max_iterations = 1000;
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  /// The seed of the vectors that stand in for guesses.
  std::uint64_t seed = 1;
  /// Called before each iteration with the largest relative residual; false cancels.
  std::function<bool(const SolveProgress&)> observer = {};
  /// Test if the operators are Hermitian: two products each in the first `solve`.
  bool checks = true;
};

/// The result of one solve: pairs in ascending order of their eigenvalues. Norms are 2-norms over
/// all components.
struct HEDDLE_EXPORT EigenReport {
  Status status = Status::converged;
  std::string detail;  // details, if the status alone does not give them
  long long iterations = 0;
  std::vector<double> eigenvalues;
  /// The true |A x - lambda M x| of the returned x, and the same over (|A| + |lambda| |M|) |x|: the
  /// backward error of the pair. Here |A| and |M| are the norms below. Products are made in the
  /// precision of the operator, single precision included.
  std::vector<double> residual_norms, residuals;
  /// Approximate distance from lambda to an eigenvalue: r = |A x - lambda M x| / sqrt(|M|), or r^2
  /// / gap if that is less, where gap is the distance to the values of the other vectors, including
  /// guards, minus their own r (Parlett 1998, section 11.7). It is at least the rounding of A's
  /// products. For M = 1 some eigenvalue is within r.
  std::vector<double> error_estimates;
  /// |A v| / |v| for a random v: about the root of the mean squared singular value. 1 without an M.
  double matrix_norm = 0, mass_norm = 1;
  long long products = 0;  // products of A with one vector
  int restarts = 0;        // without the last directions, which had become dependent on the rest
  double seconds = 0;

  bool converged() const { return status == Status::converged; }
  /// Converged, or as close to it as the precision allows.
  bool solved() const { return converged() || status == Status::accuracy_limit; }
};

/// The smallest eigenvalues lambda and their vectors: A x = x lambda, or A x = M x lambda with a
/// mass operator M, Hermitian positive definite. A is Hermitian, definite or not. Coefficients are
/// those of the operator's ring: over complex numbers and quaternions each eigenvalue counts once,
/// though it appears two or four times in the real expansion.
///
/// A preconditioner approximates A^-1, or (A - sigma M)^-1 with sigma below the spectrum. It must
/// be Hermitian and positive definite: if r* M^-1 r is negative, the solve continues without it,
/// and the report's detail says so. A preconditioner whose `is_hermitian()` is false is refused,
/// including `Isai` and solvers as preconditioners; it need not be constant. Converged vectors are
/// kept in the basis, and get no new directions (soft locking).
///
/// The pairs are the smallest ones that the first vectors lead to. Random vectors have a component
/// of every eigenvector; a guess that is exactly an eigenvector of a larger eigenvalue does not,
/// and may end as a converged pair at once.
///
/// Refuses operators whose entries have no adjoint. A solver object serves one thread at a time. It
/// keeps operators and preconditioner as `KrylovSolver` does.
template <class S>
class HEDDLE_EXPORT Lobpcg {
 public:
  /// Null for no preconditioner. Throws `Error`: memory, before anything is allocated, if its
  /// fields do not fit; size_mismatch or usage for a mass or a preconditioner of other fields,
  /// usage for options out of their range or more pairs than the space has dimensions, unsupported
  /// for entries without adjoint and for a preconditioner that is not Hermitian.
  Lobpcg(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
         EigenOptions options = {})
      : Lobpcg(std::move(matrix), std::nullopt, std::move(preconditioner), std::move(options)) {}
  explicit Lobpcg(OperatorReference<S> matrix, EigenOptions options = {})
      : Lobpcg(std::move(matrix), nullptr, std::move(options)) {}
  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Lobpcg(OperatorReference<S> matrix, P preconditioner, EigenOptions options = {})
      : Lobpcg(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
               std::move(options)) {}

  /// Takes a mass operator, whose fields are the matrix's in basis, layout and device.
  Lobpcg(OperatorReference<S> matrix, OperatorReference<S> mass, EigenOptions options = {})
      : Lobpcg(std::move(matrix), std::optional(std::move(mass)), nullptr, std::move(options)) {}
  Lobpcg(OperatorReference<S> matrix, std::optional<OperatorReference<S>> mass,
         std::shared_ptr<Preconditioner<S>> preconditioner, EigenOptions options = {});
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Lobpcg(OperatorReference<S> matrix, OperatorReference<S> mass, P preconditioner,
         EigenOptions options = {})
      : Lobpcg(std::move(matrix), std::optional(std::move(mass)),
               std::make_shared<P>(std::move(preconditioner)), std::move(options)) {}

  ~Lobpcg();
  Lobpcg(const Lobpcg&) = delete;
  Lobpcg& operator=(const Lobpcg&) = delete;

  /// x: `count` fields that share no memory, guesses on entry and eigenvectors on return, in the
  /// user's order or the operator's basis, in the GPU's memory or the host's. They come back
  /// M-orthonormal: <x_i, M x_j> = 1 for i = j, else 0. Newly made products must confirm this
  /// before a solve has `converged`; it ends as `breakdown` if rounding makes them unknown. Random
  /// vectors replace guesses that are zero or depend on others. The same seed, guesses and
  /// operators give the same bits, for any number of threads. Throws `Error` for fields that do not
  /// fit; events during the iterations are the status: `indefinite` for a mass that an iterate
  /// shows not to be positive definite, `not_hermitian` for operators that are not. x is left
  /// unchanged, and the report has no pairs, if the first vectors cannot be made and for
  /// `indefinite` and `not_finite`.
  EigenReport solve(std::span<const FieldView<S>> x);
  /// Solves for one pair.
  EigenReport solve(const FieldView<S>& x) { return solve(std::span(&x, 1)); }

  /// Bytes that it has allocated, excluding the preconditioner's.
  long long memory() const;

 private:
  std::unique_ptr<detail::EigenLoop<S>> loop_;
};

template <class M>
Lobpcg(M&&) -> Lobpcg<operator_scalar_t<M>>;
template <class M>
Lobpcg(M&&, EigenOptions) -> Lobpcg<operator_scalar_t<M>>;
template <class M, class P>
Lobpcg(M&&, P&&, EigenOptions = {}) -> Lobpcg<operator_scalar_t<M>>;
template <class M, class B, class P>
Lobpcg(M&&, B&&, P&&, EigenOptions = {}) -> Lobpcg<operator_scalar_t<M>>;

extern template class Lobpcg<float>;
extern template class Lobpcg<double>;
extern template class Lobpcg<long double>;

}  // namespace heddle
