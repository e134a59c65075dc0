// The methods of the library, as solvers and lists know them.
#pragma once

#include "heddle/method_info.hpp"
#include "heddle/plan.hpp"

namespace heddle::method_rows {

/// Conjugate gradient that reduces its sums once an iteration.
inline constexpr MethodInfo single_reduction_conjugate_gradient{
    .name = "cg",
    .title = "conjugate gradient",
    .type = "heddle::methods::SingleReductionConjugateGradient",
    .header = "heddle/methods/single_reduction_conjugate_gradient.hpp",
    .needs_hermitian = true,
    .needs_positive = true,
    .has_one_kernel = true,
    .direction = 2,
    .image = 4,
    .not_hermitian = "conjugate gradient needs a Hermitian matrix: use BiCGStab",
    .lost = "r* M^-1 r vanishes, or is beyond the range of a double"};

inline constexpr MethodInfo conjugate_gradient = [] {
  MethodInfo row = single_reduction_conjugate_gradient;
  row.type = "heddle::methods::ConjugateGradient";
  row.header = "heddle/methods/conjugate_gradient.hpp";
  row.image = 3;
  row.single_reduction = &single_reduction_conjugate_gradient;
  return row;
}();

/// Conjugate gradient whose runs continue along the direction of the previous run.
inline constexpr MethodInfo continued_conjugate_gradient = [] {
  MethodInfo row = conjugate_gradient;
  row.type = "heddle::methods::ContinuedConjugateGradient";
  row.header = "heddle/methods/continued_conjugate_gradient.hpp";
  return row;
}();
/// The row from which a loop is made. `kept`: the scalar of the copy that its iterations read,
/// `own` without one. `once`: the sums are to be reduced once an iteration, if the method has such
/// a form. Copies in 16 bits end many runs: what these keep is worth more than a saved sum.
constexpr MethodInfo row_of_loop(const MethodInfo& method, StoredScalar kept, bool once) {
  if (method.single_reduction == nullptr) return method;
  if (once && (kept == StoredScalar::own || kept == StoredScalar::single)) {
    return *method.single_reduction;
  }
  return kept == StoredScalar::own ? method : continued_conjugate_gradient;
}
/// True if loops of this form continue runs: one kernel for everything begins each run anew.
constexpr bool continues_runs(const MethodInfo& row, LoopForm form) {
  return row.type == continued_conjugate_gradient.type && form != LoopForm::persistent;
}

inline constexpr MethodInfo bicgstab{
    .name = "bicgstab",
    .title = "BiCGStab",
    .type = "heddle::methods::BiCGStab",
    .header = "heddle/methods/bicgstab.hpp",
    .has_ring_coefficients = true,
    .has_one_kernel = true,
    .image = 5,
    .lost =
        "the recurrence broke down: <r^, A p> or <r^, r> vanishes, or leaves the range of a double",
    .orthogonal = "A s is orthogonal to s, or |A s|^2 leaves the range of a double"};

inline constexpr MethodInfo bicgstab2{
    .name = "bicgstab2",
    .title = "BiCGStab(2)",
    .type = "heddle::methods::BiCGStab2",
    .header = "heddle/methods/bicgstab2.hpp",
    .has_ring_coefficients = true,
    .image = 7,
    .lost =
        "the recurrence broke down: <r^, A u> or <r^, r> vanishes, or leaves the range of a double",
    .orthogonal = "A^2 r is a multiple of A r, or leaves the range of a double"};

inline constexpr MethodInfo minres{
    .name = "minres",
    .title = "MINRES",
    .type = "heddle::methods::Minres",
    .header = "heddle/methods/minres.hpp",
    .needs_hermitian = true,
    .not_hermitian = "MINRES needs a Hermitian matrix: use BiCGStab",
    .lost = "the Lanczos vectors came to an end: the matrix is singular up to rounding"};

inline constexpr MethodInfo gmres{
    .name = "gmres",
    .title = "GMRES",
    .type = "heddle::methods::Gmres",
    .header = "heddle/methods/gmres.hpp",
    .has_ring_coefficients = true,
    .restarts = true,
    .lost =
        "the Krylov space came to an end before the solution: the matrix or its "
        "preconditioner is singular"};

inline constexpr MethodInfo fgmres = [] {
  MethodInfo row = gmres;
  row.name = "fgmres";
  row.title = "FGMRES";
  row.type = "heddle::methods::Fgmres";
  row.header = "heddle/methods/fgmres.hpp";
  row.takes_varying = true;
  return row;
}();

inline constexpr MethodInfo cocg{
    .name = "cocg",
    .title = "COCG",
    .type = "heddle::methods::Cocg",
    .header = "heddle/methods/cocg.hpp",
    .needs_symmetric = true,
    .has_ring_coefficients = true,
    .image = 3,
    .not_hermitian = "COCG needs a complex symmetric matrix: use GMRES",
    .lost = "r^T M^-1 r vanishes, or is beyond the range of a double: r is quasi-null",
    .orthogonal = "p^T A p vanishes, or is beyond the range of a double: p is quasi-null"};

inline constexpr MethodInfo cocr{
    .name = "cocr",
    .title = "COCR",
    .type = "heddle::methods::Cocr",
    .header = "heddle/methods/conjugate_residual.hpp",
    .needs_symmetric = true,
    .has_ring_coefficients = true,
    .image = 4,
    .not_hermitian = "COCR needs a complex symmetric matrix: use GMRES",
    .lost = "z^T A z of z = M^-1 r vanishes, or is beyond the range of a double",
    .orthogonal =
        "(A p)^T M^-1 A p vanishes, or is beyond the range of a double: A p is quasi-null"};

inline constexpr MethodInfo conjugate_residual{
    .name = "cr",
    .title = "conjugate residual",
    .type = "heddle::methods::ConjugateResidual",
    .header = "heddle/methods/conjugate_residual.hpp",
    .needs_hermitian = true,
    .image = 4,
    .not_hermitian = "conjugate residual needs a Hermitian matrix: use BiCGStab",
    .lost = "z* A z of z = M^-1 r vanishes, or is beyond the range of a double: use MINRES"};

inline constexpr MethodInfo chebyshev_iteration{
    .name = "chebyshev",
    .title = "Chebyshev iteration",
    .type = "heddle::methods::ChebyshevIteration",
    .header = "heddle/methods/chebyshev_iteration.hpp",
    .needs_hermitian = true,
    .takes_interval = true,
    .image = 3,
    .not_hermitian = "Chebyshev iteration needs a Hermitian matrix: use BiCGStab",
    .grew = "the residual grew: eigenvalues of M^-1 A may lie outside the interval"};

/// The same listing, with an interval that is one point.
inline constexpr MethodInfo richardson = [] {
  MethodInfo row = chebyshev_iteration;
  row.name = "richardson";
  row.title = "Richardson iteration";
  row.takes_omega = true;
  row.not_hermitian =
      "Richardson iteration estimates omega of Hermitian matrices only: give omega, or use "
      "BiCGStab";
  row.grew = "the residual grew: omega does not suit the eigenvalues of M^-1 A";
  return row;
}();

}  // namespace heddle::method_rows
