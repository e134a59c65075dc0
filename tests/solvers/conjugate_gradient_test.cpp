// Runs in the release.
// Conjugate gradient over every entry, compared with Eigen's on the real expansion.
#include "heddle/conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/IterativeLinearSolvers>
#include <cmath>

#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/eigen_preconditioners.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::conjugate_gradient {
namespace {

/// Also compares the numbers of iterations, within 2 or 1%.
template <class E, class Theirs>
void compare(const System<E>& system, ConjugateGradient<vector_scalar_t<E>>& ours, Theirs& theirs,
             Generator& generator) {
  Report report;
  theirs.setMaxIterations(10000);
  compare_with_eigen(system, ours, theirs, generator, report);
  if (testing::Test::HasFatalFailure()) return;
  // Eigen does not count the iteration that stops it.
  const auto expected = static_cast<double>(theirs.iterations() + 1);
  EXPECT_TRUE(std::abs(static_cast<double>(report.iterations) - expected) <=
              std::max(2.0, expected / 100))
      << report.iterations << " iterations, Eigen " << expected;
}

struct Shape {
  Index rows;
  int edges;
  double shift;
};
constexpr Shape shapes[] = {{40, 2, 0.1}, {257, 3, 0.02}, {700, 2, 0.005}};

using Float = HermitianEntries<float>;
using Double = HermitianEntries<double>;
template <class E>
class ConjugateGradientDouble : public testing::Test {};
template <class E>
class ConjugateGradientFloat : public testing::Test {};
TYPED_TEST_SUITE(ConjugateGradientDouble, FewOf<Double>);
TYPED_TEST_SUITE(ConjugateGradientFloat, FewOf<Float>);

template <class E, class Test>
void for_each_system(Test&& test) {
  for (unsigned seed = 1; seed <= std::size(shapes); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const Shape& shape = shapes[seed - 1];
    const System<E> system = random_system<E>(shape.rows, shape.edges, shape.shift, 0, generator);
    const Operator<E> A(system.matrix, Plan{});
    test(system, A, generator);
  }
}

template <class E>
using Expanded = Eigen::SparseMatrix<vector_scalar_t<E>, Eigen::RowMajor>;
constexpr int both = Eigen::Lower | Eigen::Upper;

template <class E>
void unpreconditioned() {
  for_each_system<E>([&](const System<E>& system, const Operator<E>& A, Generator& generator) {
    ConjugateGradient ours(A);
    Eigen::ConjugateGradient<Expanded<E>, both, Eigen::IdentityPreconditioner> theirs;
    compare(system, ours, theirs, generator);
  });
}
template <class E>
void jacobi() {
  for_each_system<E>([&](const System<E>& system, const Operator<E>& A, Generator& generator) {
    ConjugateGradient ours(A, Jacobi(A));
    Eigen::ConjugateGradient<Expanded<E>, both, EigenBlockJacobi<vector_scalar_t<E>>> theirs;
    theirs.preconditioner().size = vector_entry_t<E>::components;
    compare(system, ours, theirs, generator);
  });
}
template <class E>
void own() {
  for_each_system<E>([&](const System<E>& system, const Operator<E>& A, Generator& generator) {
    using S = vector_scalar_t<E>;
    constexpr int K = vector_entry_t<E>::components;
    std::vector<S> weights(static_cast<std::size_t>(A.rows()));
    for (S& w : weights) w = static_cast<S>(uniform(generator, 0.2, 1));
    ConjugateGradient ours(A, RowWeights<S>(weights));
    Eigen::ConjugateGradient<Expanded<E>, both, Weighted<S>> theirs;
    theirs.preconditioner().weights.resize(A.rows() * K);
    for (Index i = 0; i < A.rows() * K; ++i) {
      theirs.preconditioner().weights[i] = weights[static_cast<std::size_t>(i / K)];
    }
    compare(system, ours, theirs, generator);
  });
}

TYPED_TEST(ConjugateGradientDouble, EqualsEigen) { unpreconditioned<TypeParam>(); }
TYPED_TEST(ConjugateGradientDouble, EqualsEigenWithJacobi) { jacobi<TypeParam>(); }
TYPED_TEST(ConjugateGradientDouble, EqualsEigenWithTheUsersPreconditioner) { own<TypeParam>(); }
TYPED_TEST(ConjugateGradientFloat, EqualsEigen) { unpreconditioned<TypeParam>(); }
TYPED_TEST(ConjugateGradientFloat, EqualsEigenWithJacobi) { jacobi<TypeParam>(); }
TYPED_TEST(ConjugateGradientFloat, EqualsEigenWithTheUsersPreconditioner) { own<TypeParam>(); }

}  // namespace
}  // namespace heddle::test::conjugate_gradient
