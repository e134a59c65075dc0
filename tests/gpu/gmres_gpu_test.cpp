// GMRES on a GPU with a demanding basis: each vector's second Gram-Schmidt pass is deferred to the
// next vector there.
#include "heddle/gmres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_outcome.hpp"

namespace gmres_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class GmresOnGpu : public OnGpu {};
const char* const loops[] = {"loop=stepped", "loop=graph", "loop=replay,launch=overlapped"};

/// a_ij = `value(i, j)` where that is nonzero.
template <class E, class Value>
CsrMatrix<E> matrix_of(Index n, const Value& value) {
  using S = stored_scalar_t<E>;
  std::vector<Index> columns;
  std::vector<Offset> offsets{0};
  std::vector<S> values;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double a = value(i, j);
      if (a == 0) continue;
      columns.push_back(j);
      values.resize(values.size() + E::components);
      values[values.size() - E::components] = static_cast<S>(a);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto array = []<class T>(const std::vector<T>& of) { return Array<T>(std::span(of)); };
  return {n, n, array(offsets), array(columns), array(values)};
}

/// A non-normal matrix with eigenvalues over six orders of magnitude: a single Gram-Schmidt pass
/// would lose the basis on the way.
template <class E>
CsrMatrix<E> ill_conditioned(Index n) {
  return matrix_of<E>(n, [n](Index i, Index j) {
    const double eigenvalue = std::pow(10.0, -6.0 * i / (n - 1));
    return i == j ? eigenvalue : j == i + 1 ? 0.5 * eigenvalue : 0.0;
  });
}

template <class E>
void expect_as_on_the_cpu(Index n, const Device& device) {
  Seed seed(7100);
  const auto matrix = ill_conditioned<E>(n);
  const Field<E> b = random_field<E>(n, seed.generator);
  const SolverOptions options{.tolerance = 1e-8, .restart = n};
  const Outcome expected = solve<Gmres>(matrix, b, "C=1", false, Device::cpu(), options);
  for (const std::string loop : loops) {
    SCOPED_TRACE(loop);
    const Outcome found = solve<Gmres>(matrix, b, "C=1," + loop, false, device, options);
    EXPECT_EQ(name(found.report.status), name(expected.report.status)) << found.report;
    EXPECT_NEAR(found.report.iterations, expected.report.iterations, 1);
    for (std::size_t k = 0; k + 1 < std::min(found.history.size(), expected.history.size()); ++k) {
      // Rounding changes residuals by the condition number times 1e-16 of |b|.
      EXPECT_NEAR(found.history[k], expected.history[k], 1e-10) << k;
    }
  }
}

TEST_F(GmresOnGpu, KeepsALongBasisOrthogonal) {
  expect_as_on_the_cpu<real<double>>(150, device);
  expect_as_on_the_cpu<complex<double>>(120, device);
  expect_as_on_the_cpu<quaternion<double>>(90, device);
}

/// The Krylov space of an eigenvector has dimension one, that of two eigenvectors two.
TEST_F(GmresOnGpu, EndsWhereTheKrylovSpaceIsWhole) {
  using E = quaternion<double>;
  const auto matrix = matrix_of<E>(4, [](Index i, Index j) {
    return i != j ? 0.0 : i < 2 ? 2.0 : 3.0;
  });
  Field<E> b(4);
  b.scalars()[0] = b.scalars()[5] = 1;
  for (const std::string loop : loops) {
    SCOPED_TRACE(loop);
    b.scalars()[8] = 0;
    const Outcome one = solve<Gmres>(matrix, b, loop, false, device);
    EXPECT_TRUE(one.report.converged()) << one.report;
    EXPECT_EQ(one.report.iterations, 1);
    b.scalars()[8] = 1;
    const Outcome two = solve<Gmres>(matrix, b, loop, false, device);
    EXPECT_TRUE(two.report.converged()) << two.report;
    EXPECT_EQ(two.report.iterations, 2);
  }
}

TEST_F(GmresOnGpu, SaysWhatDoesNotConverge) {
  using E = real<double>;
  // A cyclic shift: within a cycle only the last residual is smaller, and a shorter cycle has none.
  constexpr Index n = 40;
  const auto shift = matrix_of<E>(n, [](Index i, Index j) { return i == (j + 1) % n ? 1.0 : 0.0; });
  // A singular matrix, and b outside its range.
  const auto singular =
      matrix_of<E>(3, [](Index i, Index j) { return i == 0 && j == 1 ? 1.0 : 0.0; });
  Field<E> b(n), c(3);
  b.scalars()[0] = c.scalars()[2] = 1;
  for (const std::string loop : loops) {
    SCOPED_TRACE(loop);
    const Outcome whole = solve<Gmres>(shift, b, loop, false, device, {.restart = n});
    EXPECT_TRUE(whole.report.converged()) << whole.report;
    EXPECT_EQ(whole.report.iterations, n);
    const Outcome short_cycles = solve<Gmres>(shift, b, loop, false, device, {.restart = 10});
    EXPECT_EQ(short_cycles.report.status, Status::stagnated) << short_cycles.report;
    const Outcome broken = solve<Gmres>(singular, c, loop, false, device);
    EXPECT_EQ(broken.report.status, Status::breakdown) << broken.report;
  }
}

}  // namespace
}  // namespace gmres_gpu
