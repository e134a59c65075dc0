// Runs in both builds.
// Multigrid on ranks: the bits of one rank, and the iterations of one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/distributed_multigrid.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::distributed_multigrid {
namespace {

template <class S>
using Fields = std::vector<std::vector<S>>;

template <class E>
struct Problem {
  CsrMatrix<E> matrix;
  MultigridOptions options = {};
  Fields<vector_scalar_t<E>> candidates = {};
  std::vector<vector_scalar_t<E>> b = {};
};

template <class S>
std::vector<FieldView<const S>> views_of(const Fields<S>& fields, int width) {
  std::vector<FieldView<const S>> views;
  for (const auto& field : fields) {
    views.emplace_back(field.data(), static_cast<Index>(field.size()) / width, width);
  }
  return views;
}

/// A K-cycle varies, and needs FGMRES.
template <class S>
std::unique_ptr<KrylovSolver<S>> solver_of(OperatorReference<S> matrix,
                                           std::shared_ptr<Preconditioner<S>> multigrid,
                                           SolverOptions options = {}) {
  if (multigrid->is_constant()) {
    return std::make_unique<ConjugateGradient<S>>(matrix, multigrid, options);
  }
  return std::make_unique<Fgmres<S>>(matrix, multigrid, options);
}

template <class E, class S = vector_scalar_t<E>>
SolveOutcome<S> alone(const Problem<E>& problem, MultigridReport& setup) {
  const Operator<E> A(problem.matrix, Plan{}, Device::cpu(1));
  const int width = A.row_components();
  auto multigrid =
      std::make_shared<Multigrid<S>>(A, problem.options, views_of(problem.candidates, width));
  setup = multigrid->report();
  const auto solver = solver_of<S>(A, multigrid);
  SolveOutcome<S> made{std::vector<S>(problem.b.size()), {}, {}};
  made.report = solver->solve(FieldView<const S>(problem.b.data(), A.rows(), width),
                              FieldView<S>(made.x.data(), A.rows(), width));
  return made;
}

/// `watch` is called with the operator and the preconditioner of each rank before the solve.
template <class E, class S = vector_scalar_t<E>>
SolveOutcome<S> on_ranks(
    const Problem<E>& problem, const Partition& partition, MultigridReport& setup,
    const std::type_identity_t<
        std::function<void(DistributedOperator<S>&, DistributedMultigrid<S>&)>>& watch = {}) {
  SolveOutcome<S> made{std::vector<S>(problem.b.size()), {}, {}};
  run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
    const int rank = ranks.rank();
    const auto mode = static_cast<ExchangeMode>(ranks.size() % 3);
    const auto A = part_of(problem.matrix, partition, ranks, Plan{}, mode);
    const int width = A->row_components();
    Fields<S> candidates;
    for (const auto& field : problem.candidates) {
      candidates.push_back(take_rows(field, width, partition, rank));
    }
    auto multigrid =
        std::make_shared<DistributedMultigrid<S>>(*A, problem.options, views_of(candidates, width));
    if (watch) watch(*A, *multigrid);
    const auto solver = solver_of<S>(std::shared_ptr<const LinearOperator<S>>(A), multigrid,
                                     {.record_history = true});
    const std::vector<S> own_b = take_rows(problem.b, width, partition, rank);
    std::vector<S> own_x(own_b.size());
    const Report report = solver->solve(FieldView<const S>(own_b.data(), A->rows(), width),
                                        FieldView<S>(own_x.data(), A->rows(), width));
    put_rows(own_x, width, partition, rank, made.x);
    if (rank != 0) return;
    made.report = report;
    made.history = solver->history();
    setup = multigrid->report();
  });
  return made;
}

template <class E>
void expect_bits_of_one_rank(Problem<E> problem) {
  Seed seed(81);
  const Index rows = problem.matrix.rows();
  problem.b = random_scalars<E>(rows, seed.generator);
  MultigridReport setup, of_one;
  const auto of_process = alone(problem, setup);
  const auto expected = on_ranks(problem, Partition::even(rows, 1), of_one);
  EXPECT_TRUE(expected.report.converged()) << name(expected.report.status);
  EXPECT_EQ(expected.report.iterations, of_process.report.iterations);
  EXPECT_EQ(expected.x, of_process.x);
  EXPECT_GT(setup.levels.size(), 1U);
  for (const int ranks : {2, 3, 4}) {
    SCOPED_TRACE(ranks);
    const Partition partition = some_partition(rows, ranks, seed.generator);
    MultigridReport found;
    expect_same(on_ranks(problem, partition, found), expected);
    EXPECT_EQ(found.operator_complexity, setup.operator_complexity);
    EXPECT_EQ(found.levels.size(), setup.levels.size());
    for (std::size_t l = 0; l < std::min(found.levels.size(), setup.levels.size()); ++l) {
      EXPECT_EQ(found.levels[l].rows, setup.levels[l].rows);
      EXPECT_EQ(found.levels[l].largest, setup.levels[l].largest);
      EXPECT_EQ(found.levels[l].is_solved, setup.levels[l].is_solved);
      EXPECT_EQ(found.levels[l].colours, setup.levels[l].colours);
    }
    EXPECT_GT(found.device_bytes, 0);
  }
}

/// The second level is shared, too.
TEST(DistributedMultigridOf, Poisson) {
  HEDDLE_RELEASE_ONLY();
  expect_bits_of_one_rank<real<double>>({poisson(12000)});
}

TEST(DistributedMultigridOf, DiracByWCyclesAndSweeps) {
  expect_bits_of_one_rank<quaternion<double>>(
      {dirac(5000),
       {.cycle = Cycle::w, .smoother = Smoother::jacobi, .degree = 2, .coarsest = 60}});
}

TEST(DistributedMultigridOf, ElasticityWithTheMotionsOfARigidBody) {
  HEDDLE_RELEASE_ONLY();
  const TetrahedronMesh mesh = random_solid(2500);
  expect_bits_of_one_rank<block<double, 3, 3>>(
      {elasticity(mesh),
       {.degree = 2},
       rigid_body_modes<double>(
           std::span(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices)))});
}

/// The second level is shared, and the third is solved: sums on two kinds of levels.
TEST(DistributedMultigridOf, PoissonByKCycles) {
  HEDDLE_RELEASE_ONLY();
  expect_bits_of_one_rank<real<double>>({poisson(12000), {.cycle = Cycle::k, .coarsest = 60}});
}

TEST(DistributedMultigridOf, DiracByColours) {
  HEDDLE_RELEASE_ONLY();
  expect_bits_of_one_rank<quaternion<double>>(
      {dirac(5000), {.smoother = Smoother::gauss_seidel, .degree = 2, .coarsest = 60}});
}

/// The second level has a matrix of wider entries.
TEST(DistributedMultigridOf, ElasticityByColoursAndKCycles) {
  HEDDLE_RELEASE_ONLY();
  const TetrahedronMesh mesh = random_solid(2500);
  expect_bits_of_one_rank<block<double, 3, 3>>(
      {elasticity(mesh),
       {.cycle = Cycle::k, .smoother = Smoother::gauss_seidel, .coarsest = 60},
       rigid_body_modes<double>(
           std::span(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices)))});
}

/// Weak connections, and levels of few rows, which are only on rank 0.
TEST(DistributedMultigridOf, FewRowsOfALevelByColours) {
  Seed seed(86);
  auto matrix = poisson(1500);
  for (auto& value : matrix.values()) value *= value > 0 ? 4 : 1e-3;
  Problem<real<double>> problem{matrix,
                                {.smoother = Smoother::gauss_seidel, .coarsest = 1},
                                {},
                                random_scalars<real<double>>(matrix.rows(), seed.generator)};
  MultigridReport setup;
  const auto expected = alone(problem, setup);
  EXPECT_TRUE(expected.report.converged());
  EXPECT_GT(setup.levels.size(), 1U);
  EXPECT_GT(setup.levels.front().colours, 1);
  const auto found = on_ranks(problem, random_owners(matrix.rows(), 3, seed.generator), setup);
  EXPECT_EQ(found.x, expected.x);
}

/// One group of rows, so that all ranks but one have none, and one level, which is solved.
TEST(DistributedMultigridOf, FewRows) {
  Seed seed(82);
  const auto matrix = random_system<complex<float>>(100, 2, 0.2, 0, seed.generator).matrix;
  Problem<complex<float>> problem{
      matrix, {}, {}, random_scalars<complex<float>>(100, seed.generator)};
  MultigridReport setup;
  const auto expected = on_ranks(problem, Partition({0, 100}), setup);
  EXPECT_TRUE(expected.report.converged());
  EXPECT_TRUE(setup.levels.front().is_solved);
  expect_same(on_ranks(problem, Partition({0, 0, 100, 100}), setup), expected);
}

/// The rows are on three ranks, all of which need the rows of the others.
TEST(DistributedMultigridOf, AFinestLevelThatIsSolved) {
  Seed seed(85);
  const auto matrix = poisson(600);
  Problem<real<double>> problem{
      matrix, {.coarsest = 700}, {}, random_scalars<real<double>>(matrix.rows(), seed.generator)};
  MultigridReport setup;
  const auto expected = on_ranks(problem, Partition::even(matrix.rows(), 1), setup);
  EXPECT_LE(expected.report.iterations, 2);
  const auto found = on_ranks(problem, random_owners(matrix.rows(), 3, seed.generator), setup);
  expect_same(found, expected);
}

/// All levels take new values: a hierarchy of other values takes more iterations.
TEST(DistributedMultigrids, TakeNewValues) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  Seed seed(83);
  Problem<E> problem{poisson(5000)};
  const auto& matrix = problem.matrix;
  problem.b = random_scalars<E>(matrix.rows(), seed.generator);
  // D A D, whose near-null vector is not constant.
  const auto factor = [](long long row) { return 1 + 0.2 * static_cast<double>(row % 7); };
  const auto change = [&](DistributedOperator<double>& A, DistributedMultigrid<double>& levels) {
    RankEntries own = A.entries();
    double* value = reinterpret_cast<double*>(own.values.data());
    const long long first = A.partition().first_row(A.ranks().rank());
    for (std::size_t i = 0; i + 1 < own.rows.offsets.size(); ++i) {
      const long long row = A.partition().row(first + static_cast<long long>(i));
      for (Offset k = own.rows.offsets[i]; k < own.rows.offsets[i + 1]; ++k) {
        *value++ *= factor(row) * factor(own.rows.columns[static_cast<std::size_t>(k)]);
      }
    }
    A.update_values(own.values);
    levels.refresh();
  };
  std::vector<double> values;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
      values.push_back(matrix.entry(k).component[0] * factor(row) * factor(matrix.column()[k]));
    }
  }
  for (const Smoother smoother :
       {Smoother::chebyshev, Smoother::l1_jacobi, Smoother::gauss_seidel}) {
    problem.options.smoother = smoother;
    Operator<E> A(matrix, Plan{}, Device::cpu(1));
    auto levels = std::make_shared<Multigrid<double>>(A, problem.options);
    A.update_values(values);
    levels->refresh();
    std::vector<double> x(problem.b.size());
    const Report alone = ConjugateGradient<double>(A, levels).solve(
        FieldView<const double>(problem.b.data(), A.rows()), FieldView<double>(x.data(), A.rows()));
    EXPECT_TRUE(alone.converged());
    const auto on = [&](int ranks) {
      MultigridReport setup;
      return on_ranks<E>(problem, Partition::even(matrix.rows(), ranks), setup, change);
    };
    const auto expected = on(1);
    EXPECT_EQ(expected.report.iterations, alone.iterations);
    expect_same(on(3), expected);
  }
}

TEST(DistributedMultigrids, GiveBackTheEntriesOfARank) {
  using E = quaternion<double>;
  Seed seed(84);
  const auto matrix = random_system<E>(1000, 3, 0.2, 0.3, seed.generator).matrix;
  const Partition partition = random_owners(1000, 3, seed.generator);
  const Plan plan = distributed_plan(parse_plan("C=8,sigma=64"));
  run_on_ranks(3, [&](Communicator& ranks) {
    const auto A = part_of(matrix, partition, ranks, plan);
    const RankEntries found = A->entries();
    ASSERT_EQ(found.rows.offsets.size(), static_cast<std::size_t>(A->rows()) + 1);
    const E* value = reinterpret_cast<const E*>(found.values.data());
    auto column = found.rows.columns.begin();
    for (long long i = 0; i < A->rows(); ++i) {
      const long long row = partition.row(partition.first_row(ranks.rank()) + i);
      for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
        EXPECT_EQ(*column++, matrix.column()[k]);
        const E expected = matrix.entry(k);
        EXPECT_TRUE(std::ranges::equal(expected.component, (value++)->component));
      }
      EXPECT_EQ(found.rows.offsets[static_cast<std::size_t>(i) + 1],
                column - found.rows.columns.begin());
    }
  });
}

TEST(DistributedMultigrids, RefuseOnAllRanks) {
  using E = real<double>;
  const auto made = [](const CsrMatrix<E>& matrix, const MultigridOptions& options) {
    return error_of_three_ranks(
        matrix, [&](const auto& A) { DistributedMultigrid<double> multigrid(A, options); });
  };
  auto matrix = poisson(1500);
  EXPECT_EQ(made(matrix, {.coarsest = 0}), "multigrid: the coarsest level has 1 to 4096 scalars");
  EXPECT_EQ(made(matrix, {.level_precision = StoredScalar::single}),
            "multigrid: ranks allow no levels in single precision for a matrix in double");
  for (auto& value : matrix.values()) value = -value;
  EXPECT_EQ(made(matrix, {}),
            "multigrid: the matrix is not positive semidefinite; use jacobi, or none");
  matrix.values()[1300] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(made(matrix, {}), "multigrid: a value of the matrix is not a number, or too large");
}

TEST(DistributedMultigrids, RefuseAnotherNumberOfCandidates) {
  const auto matrix = poisson(600);
  const std::vector<double> ones(600, 1);
  expect_error(ErrorKind::usage, "ranks disagree about the number of multigrid candidates", [&] {
    run_on_ranks(2, [&](Communicator& ranks) {
      const auto A = part_of(matrix, Partition::even(matrix.rows(), 2), ranks);
      const FieldView<const double> own(ones.data(), A->rows());
      DistributedMultigrid<double> multigrid(
          *A, {}, std::span(&own, ranks.rank() == 0 ? std::size_t(1) : std::size_t(0)));
    });
  });
}

/// A level's set-up on rank 0 ends while the others wait for it.
TEST(DistributedMultigrids, EndWhereOneRankThrows) {
  const auto matrix = poisson(1500);
  expect_error(ErrorKind::internal, "the second rank", [&] {
    run_on_ranks(3, [&](Communicator& ranks) {
      const auto A = part_of(matrix, Partition::even(matrix.rows(), 3), ranks);
      if (ranks.rank() == 1) throw std::runtime_error("the second rank");
      DistributedMultigrid<double> multigrid(*A);
    });
  });
}

}  // namespace
}  // namespace heddle::test::distributed_multigrid
