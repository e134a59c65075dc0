// The solution does not depend on the storage of the matrix, nor do its bits on the threads.
#include <gtest/gtest.h>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::solver_basis {
namespace {

constexpr const char* plans[] = {"ELL",
                                 "Sl-16",
                                 "Sl-32",
                                 "pJDS",
                                 "K1",
                                 "K1r",
                                 "K1rs",
                                 "K2",
                                 "K2r",
                                 "K2rs",
                                 "order=rcm",
                                 "order=rcm,C=32,sigma=256,inner=aosoa16",
                                 "C=8,sigma=64,T=4,inner=soa,vector=soa",
                                 "C=n,sigma=n,use=scatter,inner=aosoa"};

struct Solved {
  Report report;
  Vector<double> x;
};

template <class E, template <class> class Solver>
Solved solved(const CsrMatrix<E>& matrix, const char* plan, const Field<E>& b, int threads = 1) {
  const Operator<E> A(matrix, parse_plan(plan), Device::cpu(threads));
  Solver<vector_scalar_t<E>> solver(A, Jacobi(A));
  Field<E> x(matrix.rows());
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return {report, components_of<double>(x)};
}

template <class E>
class SolverBasis : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>,
                                 dual_quaternion<double>, block<double, 3, 3>, real<float>,
                                 quaternion<float>, block<complex<float>, 3, 3>>;
TYPED_TEST_SUITE(SolverBasis, FewOf<Entries>);

TYPED_TEST(SolverBasis, PermutedEqualsUnpermuted) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Generator generator(seed);
    const Index n = seed == 1 ? 333 : 61;
    const System<E> hermitian =
        has_adjoint<E> ? random_system<E>(n, 3, 0.1, 0, generator) : System<E>{};
    const System<E> general = general_system<E>(n, generator);
    const auto b = random_vector<E>(n, generator);
    const double norm = components_of<double>(b).norm();
    // Both residuals are within the tolerance.
    const double apart = 2 * norm * default_tolerance<vector_scalar_t<E>> * 1.01;
    const auto cg =
        has_adjoint<E> ? solved<E, ConjugateGradient>(hermitian.matrix, "CSR", b) : Solved{};
    const auto bicgstab = solved<E, BiCGStab>(general.matrix, "CSR", b);
    for (const char* plan : plans) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + plan);
      const auto compare = [&](const Solved& other, const Solved& reference, double inverse_norm) {
        EXPECT_TRUE((other.x - reference.x).norm() <= apart * inverse_norm);
        EXPECT_TRUE(std::abs(other.report.iterations - reference.report.iterations) <= 1)
            << other.report << ", unpermuted " << reference.report;
      };
      compare(solved<E, BiCGStab>(general.matrix, plan, b), bicgstab, general.inverse_norm);
      if constexpr (has_adjoint<E>) {
        compare(solved<E, ConjugateGradient>(hermitian.matrix, plan, b), cg,
                hermitian.inverse_norm);
      }
    }
  }
}

TYPED_TEST(SolverBasis, BitsDoNotDependOnThreadsOrSchedule) {
  using E = TypeParam;
  Generator generator(4);
  constexpr Index n = 20 * rows_of_group + 17;  // enough groups to wake the team
  Tiles<E> tiles(n);
  for (Index i = 0; i < n; ++i) {
    tiles.at(i, i) += 3 * Eigen::MatrixXd::Identity(tiles.size, tiles.size);
    const auto j = static_cast<Index>(generator() % n);
    if (j == i) continue;
    const auto tile = random_tile<E>(generator, 0.5);
    tiles.at(i, j) += tile;
    if constexpr (has_adjoint<E>) {
      tiles.at(j, i) += tile.transpose();
      tiles.at(j, j) += 0.5 * Eigen::MatrixXd::Identity(tiles.size, tiles.size);
    }
  }
  const auto matrix = tiles.assemble();
  const auto b = random_vector<E>(n, generator);
  for (const std::string layout : {"CSR", "K1rs,sigma=512,vector=soa"}) {
    const auto run = [&](const std::string& schedule, int threads) {
      const std::string plan = layout + schedule;
      std::vector<Solved> both{solved<E, BiCGStab>(matrix, plan.c_str(), b, threads)};
      if constexpr (has_adjoint<E>) {
        both.push_back(solved<E, ConjugateGradient>(matrix, plan.c_str(), b, threads));
      }
      return both;
    };
    const auto reference = run("", 1);
    for (const auto& [schedule, threads] :
         {std::pair("", 2),
          {"", 3},
          {",schedule=dynamic,chunk=1", 2},
          {",schedule=dynamic", 4},
          {",schedule=dynamic,chunk=3,prefetch-x=0,prefetch-matrix=0", 5}}) {
      SCOPED_TRACE(layout + schedule + ", threads " + std::to_string(threads));
      const auto other = run(schedule, threads);
      for (std::size_t i = 0; i < other.size(); ++i) {
        EXPECT_EQ(other[i].x, reference[i].x);
        EXPECT_EQ(other[i].report.iterations, reference[i].report.iterations);
        EXPECT_EQ(other[i].report.residual, reference[i].report.residual);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::solver_basis
