// Runs in the release.
// Singular systems solved in the space orthogonal to a known null space.
#include <gtest/gtest.h>

#include "heddle/bicgstab.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/chebyshev_iteration.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::null_space {
namespace {

/// x or a null vector as columns over the ring's units, so that a projection is one product.
template <class E>
Eigen::MatrixXd over_ring(const Field<E>& field) {
  // v c for the unit coefficients c: the columns span the same space as v over the ring.
  const Vector<double> flat = components_of<double>(field);
  const int size = ring_size(E::ring);
  Eigen::MatrixXd columns(flat.size(), size);
  for (int c = 0; c < size; ++c) {
    for (Eigen::Index i = 0; i < flat.size(); i += size) {
      double unit[4] = {}, product[4] = {};
      unit[c] = 1;
      multiply_add_at<E::ring, double>(product, &flat[i], unit);
      for (int k = 0; k < size; ++k) columns(i + k, c) = product[k];
    }
  }
  return columns;
}

/// Solves with a b that has a part along the null vectors: that part is ignored.
template <class E, template <class> class Solver>
void expect_projected(const CsrMatrix<E>& matrix, const std::vector<Field<E>>& null_vectors,
                      const char* plan, bool with_jacobi, Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(std::string(plan) + (with_jacobi ? " with Jacobi" : ""));
  const Index n = matrix.rows();
  const Operator<E> A(matrix, parse_plan(plan));
  std::vector<FieldView<const S>> views(null_vectors.begin(), null_vectors.end());
  std::shared_ptr<Preconditioner<S>> jacobi;
  if (with_jacobi) jacobi = std::make_shared<Jacobi<E>>(A);
  Solver<S> solver(A, jacobi, {});
  solver.set_null_space(views);

  const Field<E> b = random_vector<E>(n, generator);
  Field<E> x(n);
  const Report report = solver.solve(b, x);
  ASSERT_TRUE(report.converged()) << report;

  std::vector<Eigen::MatrixXd> spans;
  Eigen::Index columns = 0;
  for (const Field<E>& v : null_vectors) {
    spans.push_back(over_ring(v));
    columns += spans.back().cols();
  }
  Eigen::MatrixXd all(spans.front().rows(), columns);
  columns = 0;
  for (const auto& span : spans) {
    all.middleCols(columns, span.cols()) = span;
    columns += span.cols();
  }
  const Eigen::MatrixXd Q = orthogonal_factor(all).leftCols(all.cols());
  const Vector<double> rhs = components_of<double>(b);
  const Vector<double> within = rhs - Q * (Q.transpose() * rhs);
  Vector<double> residual = within - expansion<double>(matrix) * components_of<double>(x);
  residual -= Q * (Q.transpose() * residual).eval();
  EXPECT_TRUE(residual.norm() <= default_tolerance<S> * within.norm() * 1.001)
      << residual.norm() / within.norm();
  EXPECT_TRUE(std::abs(report.baseline_norm - within.norm()) <= 1e-6 * within.norm());
}

template <class E>
void expect_projected_all_ways(const CsrMatrix<E>& matrix, const std::vector<Field<E>>& vectors,
                               Generator& generator) {
  for (const char* plan : {"CSR", "pJDS", "K1rs,vector=soa,recurrence=real"}) {
    for (const bool with_jacobi : {false, true}) {
      expect_projected<E, ConjugateGradient>(matrix, vectors, plan, with_jacobi, generator);
      expect_projected<E, BiCGStab>(matrix, vectors, plan, with_jacobi, generator);
    }
  }
}

template <class E>
class Laplacians : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>>;
TYPED_TEST_SUITE(Laplacians, FewWhereSanitized<Entries>);

TYPED_TEST(Laplacians, OneVectorOverTheRing) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    auto [matrix, null_vector] =
        random_laplacian<E>(static_cast<Index>(3 + seed * 37), 3, generator);
    std::vector<Field<E>> vectors;
    vectors.push_back(std::move(null_vector));
    expect_projected_all_ways<E>(matrix, vectors, generator);
  }
}

/// Bars between random points in space: stretching takes energy, moving the whole does not.
struct Truss {
  CsrMatrix<block<double, 3, 3>> matrix;
  std::vector<Field<block<double, 3, 3>>> rigid_modes;

  Truss(Index n, Generator& generator) {
    using E = block<double, 3, 3>;
    std::vector<Eigen::Vector3d> at(static_cast<std::size_t>(n));
    for (auto& point : at) point = {uniform(generator), uniform(generator), uniform(generator)};
    Tiles<E> tiles(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = std::max(0, i - 8); j < i; ++j) {
        const Eigen::Vector3d along =
            (at[static_cast<std::size_t>(i)] - at[static_cast<std::size_t>(j)]).normalized();
        const Eigen::Matrix3d stiffness = along * along.transpose();
        tiles.at(i, i) += stiffness;
        tiles.at(j, j) += stiffness;
        tiles.at(i, j) -= stiffness;
        tiles.at(j, i) -= stiffness;
      }
    }
    matrix = tiles.assemble();
    for (int mode = 0; mode < 6; ++mode) {
      Field<E> field(n);
      for (Index i = 0; i < n; ++i) {
        const Eigen::Vector3d axis = Eigen::Vector3d::Unit(mode % 3);
        const Eigen::Vector3d moved =
            mode < 3 ? axis : axis.cross(at[static_cast<std::size_t>(i)]).eval();
        for (int k = 0; k < 3; ++k) field.view().at(i, k) = moved[k];
      }
      rigid_modes.push_back(std::move(field));
    }
  }
};

TEST(NullSpace, SixRigidModesOfATruss) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const Truss truss(static_cast<Index>(30 * seed), generator);
    expect_projected_all_ways(truss.matrix, truss.rigid_modes, generator);
  }
}

/// Lanczos vectors that exhaust the space do not grow along the constants: semidefinite Laplacians
/// of weighted lines and rings are not reported as indefinite.
TEST(NullSpace, OfSmallLaplaciansIsSeenByNoLanczosVector) {
  using E = real<double>;
  for (unsigned number = 0; number < 60; ++number) {
    Seed seed(9800 + number);
    const Index n = random_between(3, 14, seed.generator);
    Tiles<E> tiles(n);
    for (Index i = 0; i < n; ++i) {
      const double weight = uniform(seed.generator, 0.2, 1);
      const Index j = (i + 1) % n;
      if (j == 0 && number % 2 == 0) break;
      tiles.at(i, i)(0, 0) += weight;
      tiles.at(j, j)(0, 0) += weight;
      tiles.at(i, j)(0, 0) = tiles.at(j, i)(0, 0) = -weight;
    }
    const Operator<E> A(tiles.assemble(), parse_plan("CSR"));
    const Field<E> b = random_vector<E>(n, seed.generator);
    const std::vector<double> ones(static_cast<std::size_t>(n), 1);
    const auto expect_converged = [&](auto&& solver) {
      solver.set_null_space({FieldView<const double>(ones.data(), n, 1)});
      Field<E> x(n);
      const Report report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report << " " << n;
    };
    const SolverOptions options{.tolerance = 1e-8};
    expect_converged(Minres(A, options));
    expect_converged(Minres(A, Jacobi(A), options));
    expect_converged(Minres(A, BlockJacobi(A, 2), options));
    expect_converged(ChebyshevIteration(A, options));
    expect_converged(ChebyshevIteration(A, Jacobi(A), options));
    expect_converged(Richardson(A, Jacobi(A), options));
  }
}

TEST(NullSpace, RightHandSideWithinItIsSolvedByAlmostNothing) {
  Generator generator(2);
  const auto [matrix, null_vector] = random_laplacian<real<double>>(200, 3, generator);
  const Operator<real<double>> A(matrix, Plan{});
  ConjugateGradient solver(A);
  solver.set_null_space({null_vector});
  Field<real<double>> x(200);
  const Report report = solver.solve(null_vector, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_TRUE(components_of<double>(x).norm() <= 1e-12) << report;
}

template <class S>
void expect_refusals() {
  using E = quaternion<S>;
  Generator generator(1);
  auto [matrix, v] = random_laplacian<E>(50, 2, generator);
  const Operator<E> A(matrix, Plan{});
  ConjugateGradient solver(A);
  const Field<E> zero(50);
  Field<E> rotated(50), poisoned = v;  // v c depends on v over quaternions
  const Coefficient<Ring::quaternion, S> c{{S(0.5), S(-1), S(2), S(0.25)}};
  axpby<S, Ring::quaternion>(c, v, Coefficient<Ring::quaternion, S>{}, rotated,
                             A.device().stream());
  poisoned.scalars()[7] = std::numeric_limits<S>::quiet_NaN();
  Field<E> infinite = v;
  infinite.scalars()[7] = std::numeric_limits<S>::infinity();
  const auto refused = [&](const std::vector<FieldView<const S>>& vectors, int number) {
    try {
      solver.set_null_space(vectors);
      ADD_FAILURE() << "vector " << number << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()),
                "null space: vector " + std::to_string(number) +
                    " is zero, not finite or depends on those before it");
    }
  };
  refused({zero}, 0);
  refused({v, zero}, 1);
  refused({v, v}, 1);
  refused({v, rotated}, 1);
  refused({poisoned}, 0);
  refused({infinite}, 0);
  EXPECT_THROW(solver.set_null_space({Field<E>(49)}), Error);
  solver.set_null_space({v});
}
TEST(NullSpace, DependentOrZeroVectorsAreRefused) {
  expect_refusals<double>();
  expect_refusals<float>();
}

TEST(NullSpace, ARefusalLeavesTheOneBefore) {
  using E = real<double>;
  Generator generator(3);
  auto [matrix, v] = random_laplacian<E>(80, 2, generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_vector<E>(80, generator);
  ConjugateGradient solver(A);
  solver.set_null_space({v});
  Field<E> x(80), again(80);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_THROW(solver.set_null_space({b, b}), Error);
  EXPECT_TRUE(solver.solve(b, again).converged());
  EXPECT_EQ(bits_of(x), bits_of(again));
}

/// Also reaches loops over floats, to which an earlier solve with a 16-bit copy stepped up.
TEST(NullSpace, ReachesWhatEarlierSolvesHaveMade) {
  using E = quaternion<double>;
  Generator generator(64);
  const auto [matrix, null_vector] = random_laplacian<E>(120, 3, generator);
  const Field<E> b = image_of(matrix, random_vector<E>(120, generator));
  const Operator<E> A(matrix, parse_plan("iteration-precision=bfloat"));
  const SolverOptions options{.tolerance = 1e-9};
  ConjugateGradient<double> used(A, Jacobi<E>(A), options), fresh(A, Jacobi<E>(A), options);
  Field<E> before(120), x(120), expected(120);
  used.solve(b, before);
  used.set_null_space({null_vector});
  fresh.set_null_space({null_vector});
  const Report report = fresh.solve(b, expected);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(used.solve(b, x).stored, report.stored);
  EXPECT_EQ(bits_of(x), bits_of(expected));
}

}  // namespace
}  // namespace heddle::test::null_space
