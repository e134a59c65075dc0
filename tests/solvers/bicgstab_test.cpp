// BiCGStab over every entry: the solution matches Eigen's on the real expansion, and the recurrence
// matches the textbook's on the expansion over its coefficients.
#include "heddle/bicgstab.hpp"

#include <gtest/gtest.h>

#include <Eigen/IterativeLinearSolvers>
#include <complex>

#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/eigen_preconditioners.hpp"
#include "support/systems/systems.hpp"
#include "support/systems/textbook_history.hpp"

namespace heddle::test::bicgstab {
namespace {

constexpr int steps = 8;  // length of the compared recurrences

template <class E>
using Expanded = Eigen::SparseMatrix<vector_scalar_t<E>, Eigen::RowMajor>;

template <class E>
class BiCGStabEntries : public ::testing::Test {};
using Entries = ::testing::Types<
    real<double>, complex<double>, quaternion<double>, dual_quaternion<double>, block<double, 2, 2>,
    block<double, 3, 3>, block<double, 4, 4>, block<double, 6, 6>, block<complex<double>, 3, 3>,
    real<float>, complex<float>, quaternion<float>, dual_quaternion<float>, block<float, 2, 2>,
    block<float, 3, 3>, block<float, 4, 4>, block<float, 6, 6>, block<complex<float>, 3, 3>>;
TYPED_TEST_SUITE(BiCGStabEntries, FewOf<Entries>);

TYPED_TEST(BiCGStabEntries, SolvesWhatEigenSolves) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr int K = vector_entry_t<E>::components;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const System<E> system = general_system<E>(seed * 100 + 7, generator);
    for (const char* recurrence : {"recurrence=ring", "recurrence=real"}) {
      SCOPED_TRACE(recurrence);
      const Operator<E> A(system.matrix, parse_plan(recurrence));
      Report report;
      {
        SCOPED_TRACE("no preconditioner");
        BiCGStab ours(A);
        Eigen::BiCGSTAB<Expanded<E>, Eigen::IdentityPreconditioner> theirs;
        compare_with_eigen(system, ours, theirs, generator, report);
      }
      {
        SCOPED_TRACE("Jacobi");
        BiCGStab ours(A, Jacobi(A));
        Eigen::BiCGSTAB<Expanded<E>, EigenBlockJacobi<S>> theirs;
        theirs.preconditioner().size = K;
        compare_with_eigen(system, ours, theirs, generator, report);
      }
      {
        SCOPED_TRACE("the user's own");
        std::vector<S> weights(static_cast<std::size_t>(A.rows()));
        for (S& w : weights) w = static_cast<S>(uniform(generator, 0.3, 1));
        BiCGStab ours(A, RowWeights<S>(weights));
        Eigen::BiCGSTAB<Expanded<E>, Weighted<S>> theirs;
        theirs.preconditioner().weights.resize(A.rows() * K);
        for (Index i = 0; i < A.rows() * K; ++i) {
          theirs.preconditioner().weights[i] = weights[static_cast<std::size_t>(i / K)];
        }
        compare_with_eigen(system, ours, theirs, generator, report);
      }
    }
  }
}

/// van der Vorst 1992, unpreconditioned, shadow vector r0: residual norms of `steps` steps.
struct Textbook {
  template <class T>
  static std::vector<double> history(const Eigen::Matrix<T, -1, -1>& A, const Vector<T>& b) {
    Vector<T> r = b, p = b;
    const Vector<T> shadow = b;
    T rho = shadow.dot(r);
    std::vector<double> history{1};
    for (int i = 0; i < steps; ++i) {
      const Vector<T> v = A * p;
      const T alpha = rho / shadow.dot(v);
      const Vector<T> s = r - alpha * v;
      const Vector<T> t = A * s;
      const T omega = t.dot(s) / t.squaredNorm();
      r = s - omega * t;
      history.push_back(static_cast<double>(r.norm() / b.norm()));
      const T next = shadow.dot(r);
      const T beta = next / rho * (alpha / omega);
      p = r + beta * (p - omega * v);
      rho = next;
    }
    return history;
  }
};

template <class E>
class BiCGStabRealForm : public ::testing::Test {};
TYPED_TEST_SUITE(BiCGStabRealForm, FewOf<AllEntries<double>>);

TYPED_TEST(BiCGStabRealForm, IsTheTextbookOnTheRealExpansion) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const System<E> system = general_system<E>(31, generator);
    const Field<E> b = random_vector<E>(31, generator);
    const Eigen::MatrixXd dense = expansion<double>(system.matrix);
    expect_textbook<Textbook, long double, double>(
        history_of<BiCGStab>(system.matrix, "recurrence=real", b, steps), dense,
        components_of<double>(b), generator);
  }
}

template <class E>
void expect_complex_textbook() {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const System<E> system = general_system<E>(31, generator);
    const Field<E> b = random_vector<E>(31, generator);
    const Eigen::VectorXcd rhs = complex_of(components_of<double>(b));
    const Eigen::MatrixXd dense = expansion<double>(system.matrix);
    const auto in_ring = history_of<BiCGStab>(system.matrix, "recurrence=ring", b, steps);
    expect_textbook<Textbook, std::complex<long double>, std::complex<double>>(
        in_ring, complex_of(dense), rhs, generator);
    const auto in_reals = history_of<BiCGStab>(system.matrix, "recurrence=real", b, steps);
    EXPECT_FALSE(std::abs(in_reals[4] / in_ring[4] - 1) <= 1e-6)
        << "the real form is another recurrence";
  }
}
TEST(BiCGStabComplexForm, IsTheTextbookOverComplexNumbers) {
  expect_complex_textbook<complex<double>>();
}
TEST(BiCGStabComplexForm, IsTheTextbookOverComplexNumbersForBlocks) {
  expect_complex_textbook<block<complex<double>, 3, 3>>();
}

}  // namespace
}  // namespace heddle::test::bicgstab
