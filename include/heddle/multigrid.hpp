// Algebraic multigrid by smoothed aggregation (Vanek, Mandel and Brezina 1996, Computing 56) over
// compound entries, as a preconditioner.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

namespace detail {
template <class S>
class Levels;
}

/// How often the cycle of a level applies that of the next coarser one. V: once. W: twice, on all
/// levels except the last two, so that it is a V with two levels. K: by two steps of flexible
/// conjugate gradient (Notay and Vassilevski 2008, Numer. Linear Algebra Appl. 15) on the levels on
/// which W applies it twice. K is a different map in each application, and works only with FGMRES.
enum class Cycle { v, w, k };

/// The smoother that damps the error of a level before and after its correction, with D the
/// diagonal of its matrix: Chebyshev's polynomial over Jacobi; Jacobi damped by 1.36 / lambda for
/// the largest eigenvalue lambda of D^-1 A; Jacobi of D and the off-diagonal norms of each row,
/// which needs no eigenvalue (Baker, Falgout, Kolev and Yang 2011, SIAM J. Sci. Comput. 33(5));
/// Gauss-Seidel by colours, forward before and backward after.
enum class Smoother { chebyshev, jacobi, l1_jacobi, gauss_seidel };

/// How P interpolates a correction. Smoothed: (1 - omega D^-1 A) T, where T has the candidates on
/// each aggregate. Plain: T itself, whose rows have one entry: levels are sparser and their set-up
/// is cheaper, but more iterations are needed, fewest with K-cycles (Notay 2010, ETNA 37).
enum class Interpolation { smoothed, plain };

struct HEDDLE_EXPORT MultigridOptions {
  Cycle cycle = Cycle::v;
  /// A level whose rows need more than 64 colours (no two rows of one colour share an entry) uses
  /// Chebyshev's polynomial in place of Gauss-Seidel.
  Smoother smoother = Smoother::chebyshev;
  Interpolation interpolation = Interpolation::smoothed;
  /// Products with the matrix in Chebyshev's polynomial, or sweeps of the other smoothers, before
  /// and after each correction. 0 reduces the polynomial to damped Jacobi, and is invalid for the
  /// others.
  int degree = 1;
  /// Rows i and j are aggregated only if |a_ij|^2 > strength^2 |a_ii| |a_jj|, in Frobenius norms;
  /// halved on each coarser level. If that aggregates too few rows of a level, quarters of it are
  /// tried, and then 0. At least 0, below 1.
  double strength = 0.08;
  /// A level with up to this many scalars in its rows is solved exactly, 1 to 4096. The cost of its
  /// dense inverse is cubic in that number.
  int coarsest = 500;
  /// For new values of the matrix. True: `refresh` estimates the largest eigenvalue of D^-1 A of
  /// each level again, by 12 products on the CPU. False: the first estimates stay, and with them
  /// the interval of the smoothers and the weight of the smoothed interpolation. The exception is a
  /// level where the sum of 1 and the norms of the off-diagonal entries in a row of D^-1 A has
  /// grown by more than a twentieth, beyond the interval: that level is estimated again, and the
  /// larger value is kept. An estimate lies below the eigenvalue, and the interval extends a tenth
  /// beyond it. On a CPU a level is also estimated again if signs have changed; on a GPU, values
  /// that keep their sizes and change their signs may raise the eigenvalue unnoticed.
  bool estimates_again = false;
  /// The scalars that a cycle reads and writes under a matrix of doubles: `own`, doubles, or
  /// `single`, floats, in half of the bytes. The set-up computes in double either way. A residual
  /// enters the cycle scaled by a power of two to a norm of about 1, and leaves it as doubles.
  StoredScalar level_precision = StoredScalar::own;
};

struct HEDDLE_EXPORT MultigridLevel {
  Index rows = 0;
  Offset entries = 0;
  int components = 1;      // per row of its fields
  Offset scalars = 0;      // total over all its entries
  double largest = 0;      // eigenvalue of D^-1 A, estimated; 0 if the level is solved exactly
  int new_estimates = 0;   // number of estimates that new values required since the set-up
  double strength = 0;     // the strength that aggregated its rows; 0 on the last level
  bool is_solved = false;  // true: solved exactly; false: smoothed
  int colours = 0;         // colours of Gauss-Seidel; 0 on a level without it
};

struct HEDDLE_EXPORT MultigridReport {
  std::vector<MultigridLevel> levels;  // from the finest
  double operator_complexity = 1;      // scalars of all levels divided by those of the finest
  double setup_seconds = 0;  // time of the set-up, or of the last refresh that computed anything
  long long host_bytes = 0;  // bytes of the matrices that `refresh` computes with
  /// Bytes of the operators of a cycle, on the device of A, including its copy in floats but not A
  /// itself or fields.
  long long device_bytes = 0;
  /// Bytes in which A's GPU computes new values, since the set-up. 0: the CPU computes them.
  long long refresh_bytes = 0;
  bool is_refreshed_on_gpu = false;  // the last values came from there, also for a set-up

  /// True if nothing was coarsened, and a cycle is the smoother alone.
  bool is_smoother_alone() const { return levels.size() == 1 && !levels.front().is_solved; }
};

/// z = M r by one cycle for a Hermitian positive definite or semidefinite A. M is Hermitian and
/// positive definite itself, except for K-cycles, which vary.
///
/// Near-null candidates are vectors with a small A b: constants, modes of a rigid body, or the
/// user's own. Aggregates of strongly connected rows interpolate them. Over complex numbers and
/// quaternions candidates are combined by coefficients from the right, so that one candidate leaves
/// entries of the same kind on every level. A block of b x b numbers with b candidates also leaves
/// such blocks. Blocks of 3 x 3 real numbers with 6 candidates have levels of 6 x 6, those of 2 x 2
/// with 3 candidates have levels of 3 x 3.
///
/// The hierarchy is set up on the device of A: on a CPU with the same bits for any number of
/// threads, on a GPU with the same aggregates and with values up to rounding. Each level is an
/// operator under the plan of A, on A's device, and a cycle only queues products and updates. If A
/// has new values, `refresh` keeps aggregates, their candidates and all patterns, and recomputes
/// the values on these, on the device of A. It allocates nothing, except for lists of the terms of
/// its products that the first new values of single real numbers make on a CPU; a GPU that rounds A
/// to floats allocates a few numbers. A new object aggregates again, which suits values whose
/// strong connections have changed. Under iteration-precision=single all levels are read in floats,
/// and with `level_precision` single their fields are floats, too. One application at a time.
template <class S>
class HEDDLE_EXPORT Multigrid final : public Preconditioner<S> {
 public:
  /// `candidates`: fields of A's rows, in the user's order or A's basis, on the host or A's device;
  /// without any, the constants, one for each number of a row's entry. Fewer candidates than a row
  /// has numbers are allowed. Throws `Error`: unsupported for entries without adjoint, encoded
  /// ones, those whose products are other entries, in single precision for entries of the user's
  /// own types and for values beyond the range of floats, for another number of candidates, for a
  /// matrix that is not Hermitian, or not positive semidefinite as far as an estimate and the
  /// coarse levels see; size_mismatch for a matrix that is not square and for candidates of other
  /// fields; singular for a diagonal entry without inverse, other than 0, in a matrix that is not
  /// solved exactly;
  /// not_finite; usage for invalid options; memory.
  explicit Multigrid(const detail::SlicedOperator<S>& matrix, const MultigridOptions& options = {},
                     std::span<const FieldView<const S>> candidates = {});
  Multigrid(Multigrid&&) noexcept;
  ~Multigrid() override;

  std::optional<FieldShape> shape() const override;
  void refresh() override;
  bool is_constant() const override;
  bool is_symmetric() const override;
  bool is_capturable() const override;
  /// True on a GPU after a set-up there, for `level_precision` own, if the coarsest level left no
  /// doubts: values of all levels are then queued work. It keeps the estimates of eigenvalues, and
  /// does not check that the new values are finite, Hermitian and definite, nor that the estimates
  /// still bound them: solves that follow show if they do not.
  bool can_queue_refresh() const override;
  void queue_refresh(Index* singular_row, const Stream& stream) override;
  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

  MultigridReport report() const;

 private:
  std::unique_ptr<detail::Levels<S>> levels_;
};

/// The motions of a rigid body with nodes at these points, as candidates for elasticity: fields of
/// `dimension` (2 or 3) numbers per point, one after the other; 3 fields in the plane, 6 in space.
/// Translations come first. Rotations are infinitesimal, about the points' mean, and move the point
/// furthest from it by 1. Throws `Error` (usage) for another dimension.
template <class S>
HEDDLE_EXPORT std::vector<std::vector<S>> rigid_body_modes(
    std::span<const std::array<double, 3>> points, int dimension = 3);
/// The same on a device, computed there from the points. On a GPU, S is float or double.
template <class S>
HEDDLE_EXPORT std::vector<Array<S>> rigid_body_modes(std::span<const std::array<double, 3>> points,
                                                     int dimension, const Device& device);

/// Candidates for a matrix whose near-null fields are unknown: `count` random ones, the same in
/// each call, relaxed by A x = 0, and improved by three rounds of a few iterations of conjugate
/// gradient for A y = x with the multigrid of the last ones (after Brezina, Falgout, MacLachlan,
/// Manteuffel, McCormick and Ruge 2005, SIAM Rev. 47(2)). 0: one for each number of a row's entry.
/// Takes three set-ups, and some 200 products for each; V-cycles in place of K. Throws `Error` as
/// `Multigrid` does.
template <class S>
HEDDLE_EXPORT std::vector<std::vector<S>> adaptive_candidates(
    const detail::SlicedOperator<S>& matrix, int count = 0, const MultigridOptions& options = {});

extern template class Multigrid<float>;
extern template class Multigrid<double>;

}  // namespace heddle
