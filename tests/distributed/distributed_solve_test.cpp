// Solves on ranks: the bits of one process, for any number of ranks and in every mode.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/operator.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::distributed_solve {
namespace {

template <template <class> class Solver, class E, class S = vector_scalar_t<E>>
SolveOutcome<S> alone(const CsrMatrix<E>& matrix, const std::vector<S>& b, SolverOptions options,
                      const Plan& plan = {}) {
  options.record_history = true;
  const Operator<E> A(matrix, plan, Device::cpu(1));
  Solver<S> solver(A, std::make_shared<detail::SlicedJacobi<S>>(A), options);
  SolveOutcome<S> made{std::vector<S>(b.size()), {}, {}};
  made.report = solver.solve(FieldView<const S>(b.data(), A.rows(), A.row_components()),
                             FieldView<S>(made.x.data(), A.rows(), A.row_components()));
  made.history = solver.history();
  return made;
}

template <template <class> class Solver, class E>
void expect_bits_of_one_process(const CsrMatrix<E>& matrix, Generator& generator,
                                const SolverOptions& options = {}, const Plan& plan = {}) {
  const auto b = random_scalars<E>(matrix.rows(), generator);
  const auto expected = alone<Solver>(matrix, b, options, plan);
  EXPECT_TRUE(expected.report.solved()) << name(expected.report.status);
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Partition partition = some_partition(matrix.rows(), ranks, generator);
    const auto mode = static_cast<ExchangeMode>(ranks % 3);
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::string(name(mode)));
    expect_same(solve_on_ranks<Solver>(matrix, b, partition, mode, options, {Device::cpu(1)}, plan),
                expected);
  }
}

template <class E>
class DistributedSolve : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(DistributedSolve, FewWhereSanitized<Entries>);

constexpr Index rows = 5 * 256 + 77;

TYPED_TEST(DistributedSolve, HermitianMethodsHaveTheBitsOfOneProcess) {
  Seed seed(65);
  const auto system = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator);
  expect_bits_of_one_process<ConjugateGradient>(system.matrix, seed.generator);
  expect_bits_of_one_process<Minres>(system.matrix, seed.generator);
}

TYPED_TEST(DistributedSolve, OtherMethodsHaveTheBitsOfOneProcess) {
  Seed seed(66);
  const auto system = random_system<TypeParam>(rows, 2, 0.2, 0.6, seed.generator);
  // Rows are sorted within the groups of sums, and within parts of them.
  expect_bits_of_one_process<BiCGStab>(system.matrix, seed.generator, {},
                                       distributed_plan(parse_plan("C=8,sigma=1024")));
  SolverOptions options;
  options.restart = 12;
  expect_bits_of_one_process<Gmres>(system.matrix, seed.generator, options,
                                    distributed_plan(parse_plan("C=4,sigma=32")));
}

/// The solve's level of rounding decides, which is measured with random vectors among others.
TEST(DistributedSolves, EndAtTheSameAccuracyLimit) {
  Seed seed(67);
  const auto system = random_system<quaternion<double>>(rows, 2, 1e-3, 0, seed.generator);
  SolverOptions options;
  options.tolerance = 0;
  const auto b = random_scalars<quaternion<double>>(rows, seed.generator);
  for (const Plan& plan : {Plan{}, distributed_plan(parse_plan("C=8,sigma=1024"))}) {
    const auto expected = alone<ConjugateGradient>(system.matrix, b, options, plan);
    EXPECT_EQ(expected.report.status, Status::accuracy_limit);
    const auto found =
        solve_on_ranks<ConjugateGradient>(system.matrix, b, Partition::even(rows, 3),
                                          ExchangeMode::naive, options, {Device::cpu(1)}, plan);
    expect_same(found, expected);
    EXPECT_EQ(found.report.backward_error, expected.report.backward_error);
  }
}

TEST(DistributedSolves, ScaleAndRefuseAsOneProcess) {
  Seed seed(68);
  const auto system = random_system<real<double>>(rows, 2, 0.1, 0, seed.generator);
  auto b = random_scalars<real<double>>(rows, seed.generator);
  const Partition partition({0, 0, 512, 1280, rows, rows});
  for (const double factor : {1e-200, 0.0}) {
    auto scaled = b;
    for (double& c : scaled) c *= factor;
    expect_same(
        solve_on_ranks<ConjugateGradient>(system.matrix, scaled, partition, ExchangeMode::task, {}),
        alone<ConjugateGradient>(system.matrix, scaled, {}));
  }
  b[700] = std::numeric_limits<double>::quiet_NaN();
  const auto found =
      solve_on_ranks<ConjugateGradient>(system.matrix, b, partition, ExchangeMode::task, {});
  EXPECT_EQ(found.report.status, Status::not_finite);
  const auto skewed = random_system<real<double>>(rows, 2, 0.1, 0.6, seed.generator);
  const auto ones = std::vector<double>(static_cast<std::size_t>(rows), 1);
  EXPECT_EQ(
      solve_on_ranks<ConjugateGradient>(skewed.matrix, ones, partition, ExchangeMode::task, {})
          .report.status,
      Status::not_hermitian);
}

}  // namespace
}  // namespace heddle::test::distributed_solve
