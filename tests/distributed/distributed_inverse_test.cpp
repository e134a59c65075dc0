// Block Jacobi, FSAI and ISAI on ranks: the bits of one process.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/distributed_inverse.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::distributed_inverse {
namespace {

template <class S>
std::shared_ptr<Preconditioner<S>> made_alone(const detail::SlicedOperator<S>& A,
                                              const PreconditionerChoice& choice) {
  switch (choice.kind) {
    case PreconditionerKind::fsai:
      return std::make_shared<Fsai<S>>(A, choice.number);
    case PreconditionerKind::isai:
      return std::make_shared<Isai<S>>(A, choice.number);
    default:
      return std::make_shared<BlockJacobi<S>>(A, choice.number);
  }
}

template <class S>
void set_values(std::vector<S>& to, const Preconditioner<S>& M, const LinearOperator<S>& A,
                const std::vector<S>& from) {
  const int width = A.row_components();
  const auto size = static_cast<std::size_t>(A.rows()) * static_cast<std::size_t>(width);
  std::vector<S> r(size), z(size);
  const FieldView<S> r_view(r.data(), A.rows(), width, VectorLayout::aos, A.row_basis());
  const FieldView<S> z_view(z.data(), A.rows(), width, VectorLayout::aos, A.row_basis());
  const Stream stream = A.device().stream();
  permute<S>(FieldView<const S>(from.data(), A.rows(), width), r_view, S(1), stream);
  M.apply(r_view, z_view, stream);
  to.resize(size);
  permute<S>(FieldView<const S>(z_view), FieldView<S>(to.data(), A.rows(), width), S(1), stream);
}

/// M^-1 r, before and after multiplying the values by 1.5.
template <class E>
void expect_bits_of_one_process(const CsrMatrix<E>& matrix, const PreconditionerChoice& choice,
                                const Plan& plan = {}) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(choice.text());
  Seed seed(91);
  const auto r = random_scalars<E>(matrix.rows(), seed.generator);
  CsrMatrix<E> changed = matrix;
  for (auto& value : changed.values()) value *= S(1.5);
  std::vector<S> expected[2];
  Operator<E> alone(matrix, plan, Device::cpu(1));
  const auto M = made_alone<S>(alone, choice);
  set_values<S>(expected[0], *M, alone, r);
  alone.update_values(changed.values());
  M->refresh();
  set_values<S>(expected[1], *M, alone, r);
  for (const int count : {1, 2, 3, 4}) {
    SCOPED_TRACE(count);
    const Partition partition = some_partition(matrix.rows(), count, seed.generator);
    std::vector<S> found[2] = {std::vector<S>(r.size()), std::vector<S>(r.size())};
    run_on_ranks(count, [&](Communicator& ranks) {
      const int rank = ranks.rank();
      const auto A = part_of(matrix, partition, ranks, plan);
      const int width = A->row_components();
      const std::vector<S> own = take_rows(r, width, partition, rank);
      DistributedInverse<S> inverse(*A, choice);
      EXPECT_EQ(inverse.is_hermitian(), M->is_hermitian());
      EXPECT_EQ(inverse.is_symmetric(), M->is_symmetric());
      EXPECT_GT(inverse.memory() + (A->rows() == 0 ? 1 : 0), 0);
      std::vector<S> z;
      for (std::vector<S>& all : found) {
        set_values<S>(z, inverse, *A, own);
        put_rows(z, width, partition, rank, all);
        const PartOfRank<E> part = rows_of_rank(changed, partition, rank);
        A->update_values(std::as_bytes(std::span(part.values)));
        inverse.refresh();
      }
    });
    EXPECT_EQ(found[0], expected[0]);
    EXPECT_EQ(found[1], expected[1]);
  }
}

TEST(DistributedInverseOf, RealNumbers) {
  Seed seed(92);
  const auto matrix = poisson(1100);
  expect_bits_of_one_process(matrix, {PreconditionerKind::fsai, 2});
  expect_bits_of_one_process(matrix, PreconditionerKind::isai,
                             distributed_plan(parse_plan("C=8,sigma=64")));
  // The rows of neighbours' rows, which may be on further ranks.
  expect_bits_of_one_process(poisson(800), {PreconditionerKind::isai, 3});
  expect_bits_of_one_process(random_system<real<float>>(1300, 2, 0.05, 0, seed.generator).matrix,
                             {PreconditionerKind::fsai, 2});
  // Blocks of 7 rows, which do not divide groups of 256: ranks share some blocks.
  expect_bits_of_one_process(matrix, {PreconditionerKind::block_jacobi, 7});
  expect_bits_of_one_process(matrix, PreconditionerKind::block_jacobi);
}

TEST(DistributedInverseOf, CompoundEntries) {
  expect_bits_of_one_process(dirac(800), PreconditionerKind::fsai);
  expect_bits_of_one_process(elasticity(random_solid(700)), {PreconditionerKind::block_jacobi, 3});
}

/// Rows are numbered over all ranks, and the first one is reported.
TEST(DistributedInverses, RefuseOnAllRanks) {
  auto matrix = poisson(1500);
  const auto made = [&](const PreconditionerChoice& choice) {
    return error_of_three_ranks(
        matrix, [&](const auto& A) { DistributedInverse<double> inverse(A, choice); });
  };
  EXPECT_EQ(made(PreconditionerKind::jacobi),
            "the inverse on ranks must be block-jacobi, fsai or isai, not jacobi");
  EXPECT_EQ(made(PreconditionerKind::direct),
            "the inverse on ranks must be block-jacobi, fsai or isai, not direct");
  EXPECT_EQ(made({PreconditionerKind::isai, 5}), "ISAI takes a power of 1 to 4, not 5");
  const Index row = 1200;
  for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
    if (matrix.column()[k] == row) matrix.values()[static_cast<std::size_t>(k)] = -1;
  }
  EXPECT_NE(made(PreconditionerKind::fsai).find("row 1200"), std::string::npos)
      << made(PreconditionerKind::fsai);
  // Rows 507 to 513 belong to ranks 0 and 1.
  for (Index singular = 507; singular < 514; ++singular) {
    for (Offset k = matrix.offsets()[singular]; k < matrix.offsets()[singular + 1]; ++k) {
      matrix.values()[static_cast<std::size_t>(k)] = std::nan("");
    }
  }
  EXPECT_EQ(made({PreconditionerKind::block_jacobi, 13}),
            "block Jacobi: the block of rows 507 to 519 (counted from 0) has a number that is not "
            "finite");
}

}  // namespace
}  // namespace heddle::test::distributed_inverse
