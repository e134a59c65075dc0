// Runs in both builds.
// Blocks of fields whose rows ranks share: the bits of one process, for any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/deflation.hpp"
#include "heddle/earlier_solutions.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "solvers/blocks/field_block.hpp"
#include "support/blocks_on_ranks.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::distributed_blocks {
namespace {

/// `solve(A, jacobi, fields, x)` returns the numbers.
template <class E, class Solve, class S = vector_scalar_t<E>>
Found<S> alone(const CsrMatrix<E>& matrix, Fields<S> fields, const Solve& solve) {
  const Operator<E> A(matrix, Plan{}, Device::cpu(1));
  Found<S> found{Fields<S>(fields.size(), std::vector<S>(fields.front().size())), {}};
  const std::shared_ptr<Preconditioner<S>> jacobi = std::make_shared<detail::SlicedJacobi<S>>(A);
  found.numbers = solve(OperatorReference<S>(A), jacobi,
                        views_of<S, const S>(fields, A.rows(), A.row_components()),
                        views_of(found.x, A.rows(), A.row_components()));
  return found;
}

template <class E, class Solve, class S = vector_scalar_t<E>>
void expect_bits_of_one_process(const CsrMatrix<E>& matrix, int count, Generator& generator,
                                const Solve& solve) {
  Fields<S> fields;
  for (int k = 0; k < count; ++k) fields.push_back(random_scalars<E>(matrix.rows(), generator));
  const Found<S> expected = alone(matrix, fields, solve);
  for (const int ranks : {1, 2, 3, 4, 8}) {
    const Partition partition = some_partition(matrix.rows(), ranks, generator);
    const auto mode = static_cast<ExchangeMode>(ranks % 3);
    SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::string(name(mode)));
    const Found<S> found = on_ranks(matrix, fields, partition, mode, {Device::cpu(1)}, solve);
    EXPECT_EQ(found.x, expected.x);
    EXPECT_EQ(found.numbers, expected.numbers);
  }
}

template <class E>
class DistributedBlocks : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<float>, quaternion<double>>;
TYPED_TEST_SUITE(DistributedBlocks, Entries);

constexpr Index rows = 5 * 256 + 77;

TYPED_TEST(DistributedBlocks, HaveTheBitsOfOneProcess) {
  if (group_of_entry<TypeParam> != EntryGroup::real) HEDDLE_RELEASE_ONLY();
  if (group_of_entry<TypeParam> == EntryGroup::quaternion) HEDDLE_DEEP_CHECK_ONLY();
  Seed seed(71);
  const auto system = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator);
  expect_bits_of_one_process(system.matrix, 3, seed.generator, SolveByBlocks());
  expect_bits_of_one_process(system.matrix, 2, seed.generator, SolveForEigenpairs());
}

TYPED_TEST(DistributedBlocks, LeastSquaresHaveTheBitsOfOneProcess) {
  HEDDLE_RELEASE_ONLY();
  if (group_of_entry<TypeParam> == EntryGroup::quaternion) HEDDLE_DEEP_CHECK_ONLY();
  Seed seed(72);
  const auto system = random_system<TypeParam>(rows, 2, 0.3, 0.6, seed.generator);
  expect_bits_of_one_process(system.matrix, 1, seed.generator, SolveLeastSquares());
}

/// <A x, y> = <x, A* y>, also for new values and for split rows.
TEST(DistributedAdjoints, TakeNewValues) {
  using E = quaternion<double>;
  Seed seed(75);
  const auto matrix = random_system<E>(rows, 2, 0.3, 0.6, seed.generator).matrix;
  for (const auto boundary : {BoundaryStorage::whole, BoundaryStorage::split}) {
    const Partition partition = random_owners(rows, 3, seed.generator);
    run_on_ranks(3, [&](Communicator& ranks) {
      const auto part = rows_of_rank(matrix, partition, ranks.rank());
      const auto A = part_of(matrix, partition, ranks, distributed_plan(parse_plan("C=8,sigma=64")),
                             ExchangeMode::task, Device::cpu(1), boundary);
      A->keep_adjoint(part.rows, std::as_bytes(std::span(part.values)));
      const Device device = A->device();
      std::vector<std::vector<double>> data(4, std::vector<double>(std::size_t(A->rows()) * 4));
      const auto field = [&](std::size_t k) {
        return FieldView<double>(data[k].data(), A->rows(), 4, VectorLayout::aos, A->row_basis());
      };
      for (const std::size_t k : {0, 1}) {
        fill<double>(1, field(k), device.stream());
        randomize<double>(field(k), k, device.stream());
      }
      const auto values = [&](double factor) {
        std::vector<E> scaled = part.values;
        for (E& entry : scaled) {
          for (double& component : entry.component) component *= factor;
        }
        return scaled;
      };
      for (const double factor : {1.0, -3.0}) {
        if (factor != 1) A->update_values(std::as_bytes(std::span<const E>(values(factor))));
        A->apply(1, field(0), 0, field(2), device.stream());
        A->adjoint()->apply(0.5, field(1), 0, field(3), device.stream());
        A->adjoint()->apply(0.5, field(1), 1, field(3), device.stream());
        const double there = dot<double>(field(2), field(1), device.stream());
        EXPECT_NEAR(dot<double>(field(0), field(3), device.stream()), there,
                    1e-12 * std::abs(there));
        EXPECT_NE(there, 0);
      }
    });
  }
}

TEST(DistributedGuesses, HaveTheBitsOfOneProcess) {
  Seed seed(73);
  const auto system = random_system<real<double>>(rows, 2, 0.05, 0, seed.generator);
  expect_bits_of_one_process(
      system.matrix, 4, seed.generator,
      [](const OperatorReference<double>& A, auto, const auto& b, const auto& x) {
        // Guesses must be in the operator's basis.
        const Stream stream = A->device().stream();
        std::vector<double> data(static_cast<std::size_t>(A->rows())), guess(data);
        const auto in_basis = [&](std::vector<double>& of) {
          return FieldView<double>(of.data(), A->rows(), 1, VectorLayout::aos, A->row_basis());
        };
        EarlierSolutions<double> earlier(A, 3);
        for (std::size_t k = 0; k + 1 < b.size(); ++k) {
          permute<double>(b[k], in_basis(data), 1, stream);
          EXPECT_TRUE(earlier.keep(in_basis(data)));
        }
        permute<double>(b.back(), in_basis(data), 1, stream);
        earlier.guess(in_basis(data), in_basis(guess));
        permute<double>(in_basis(guess), x.back(), 1, stream);
        return std::vector<double>();
      });
}

/// Values may be new in each solve, so ranks orthonormalize the vectors once more than a single
/// process does.
TEST(DistributedDeflation, HasTheBitsOfOneRank) {
  Seed seed(77);
  const auto matrix = random_system<quaternion<double>>(rows, 2, 0.05, 0, seed.generator).matrix;
  Fields<double> fields;
  for (int k = 0; k < 4; ++k) {
    fields.push_back(random_scalars<quaternion<double>>(rows, seed.generator));
  }
  const auto on = [&](const Partition& partition) {
    return on_ranks(
        matrix, fields, partition, ExchangeMode::task, {Device::cpu(1)},
        [](const OperatorReference<double>& A, auto jacobi, const auto& b, const auto& x) {
          auto deflated = std::make_shared<Deflation<double>>(A, std::span(b).first(3), jacobi);
          ConjugateGradient<double> solver(A, deflated);
          const Report report = solver.solve(b.back(), x.back());
          EXPECT_TRUE(report.converged()) << report;
          return std::vector<double>{report.residual};
        });
  };
  const Found<double> expected = on(Partition::even(rows, 1));
  const Found<double> found = on(random_owners(rows, 3, seed.generator));
  EXPECT_EQ(found.x, expected.x);
  EXPECT_EQ(found.numbers, expected.numbers);
}

/// More groups than the parts of one process, and a short last group.
TEST(SumsOfBlocks, AreThoseOfOneProcess) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  using Operations = detail::BlockOperations<Ring::quaternion, double>;
  constexpr Index many = 140 * 256 - 19;
  Seed seed(74);
  const CsrMatrix<E> matrix = random_system<E>(many, 1, 0.05, 0, seed.generator).matrix;
  Fields<double> fields;
  for (int k = 0; k < 3; ++k) fields.push_back(random_scalars<E>(many, seed.generator));
  const auto gram = [](Fields<double>& own, Index count, const Device& device) {
    Reduction<double> reduction(count, device);
    Operations operations(reduction, device.stream(), 3);
    const auto views = views_of(own, count, 4);
    const auto products = operations.gram(views, views, true);
    std::vector<double> numbers;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (const double c : products(i, j).component) numbers.push_back(c);
      }
    }
    return numbers;
  };
  const std::vector<double> expected = gram(fields, many, Device::cpu(1));
  EXPECT_EQ(gram(fields, many, Device::cpu(3)), expected);
  for (const Partition& partition :
       {Partition::even(many, 3), random_owners(many, 2, seed.generator)}) {
    run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
      const auto A = part_of(matrix, partition, ranks);
      Fields<double> own;
      for (const auto& field : fields) {
        std::vector<double> part = take_rows(field, 4, partition, ranks.rank());
        std::vector<double>& in_basis = own.emplace_back(part.size());
        permute<double>(FieldView<const double>(part.data(), A->rows(), 4),
                        {in_basis.data(), A->rows(), 4, VectorLayout::aos, A->row_basis()}, 1,
                        A->device().stream());
      }
      EXPECT_EQ(gram(own, A->rows(), A->device()), expected);
    });
  }
}

}  // namespace
}  // namespace heddle::test::distributed_blocks
