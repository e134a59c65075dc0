// Products of matrices that ranks share, compared with one process, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "support/few_entries.hpp"
#include "support/on_ranks.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::distributed_product {
namespace {

/// The results of one process, or of all ranks together.
template <class S>
struct Products {
  std::vector<S> y, scaled, r;
  sum_t<S> dot = 0, squared = 0;
};

template <class E, class S = vector_scalar_t<E>>
Products<S> alone(const CsrMatrix<E>& matrix, const Plan& plan, const std::vector<S>& x) {
  const Operator<E> A(matrix, plan, Device::cpu(1));
  const int width = A.row_components();
  const auto view = [&](auto& data) { return FieldView<S>(data.data(), A.rows(), width); };
  Products<S> made{x, x, x};
  Reduction<S> reduction(A.rows(), Device::cpu(1));
  std::vector<S> of = x;
  const Stream stream = A.device().stream();
  made.dot = A.apply_dot(view(of), view(made.y), reduction, stream);
  A.apply(S(0.75), view(of), S(-2), view(made.scaled), stream);
  made.squared = A.residual(view(made.y), view(of), view(made.r), reduction, stream);
  return made;
}

template <class E, class S = vector_scalar_t<E>>
Products<S> on_ranks(const CsrMatrix<E>& matrix, const Plan& plan, const std::vector<S>& x,
                     const Partition& partition, ExchangeMode mode,
                     BoundaryStorage boundary = BoundaryStorage::whole, int threads = 1) {
  Products<S> made{x, x, x};
  std::vector<sum_t<S>> dots(static_cast<std::size_t>(partition.ranks())), squares = dots;
  run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
    const auto A = part_of(matrix, partition, ranks, plan, mode, Device::cpu(threads), boundary);
    const Device device = A->device();
    const Stream stream = device.stream();
    const int width = A->row_components();
    std::vector<S> own = take_rows(x, width, partition, ranks.rank());
    const FieldView<S> part(own.data(), A->rows(), width);
    const auto give = [&](const FieldView<S>& field, std::vector<S>& all) {
      permute<S>(field, part, S(1), stream);
      put_rows(own, width, partition, ranks.rank(), all);
    };
    // Into the operator's basis and back.
    const auto in_basis = [&](std::vector<S>& data) {
      data.resize(static_cast<std::size_t>(A->rows()) *
                  static_cast<std::size_t>(A->row_components()));
      return FieldView<S>(data.data(), A->rows(), A->row_components(), VectorLayout::aos,
                          A->row_basis());
    };
    std::array<std::vector<S>, 4> storage;
    const FieldView<S> of = in_basis(storage[0]), y = in_basis(storage[1]),
                       scaled = in_basis(storage[2]), r = in_basis(storage[3]);
    permute<S>(part, of, S(1), stream);
    permute<S>(part, scaled, S(1), stream);
    Reduction<S> reduction(A->rows(), device);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    dots[rank] = A->apply_dot(of, y, reduction, stream);
    A->apply(S(0.75), of, S(-2), scaled, stream);
    squares[rank] = A->residual(y, of, r, reduction, stream);
    give(y, made.y);
    give(scaled, made.scaled);
    give(r, made.r);
  });
  for (std::size_t k = 1; k < dots.size(); ++k) {
    EXPECT_EQ(dots[k], dots[0]);
    EXPECT_EQ(squares[k], squares[0]);
  }
  made.dot = dots[0];
  made.squared = squares[0];
  return made;
}

template <class E>
class DistributedProduct : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(DistributedProduct, FewWhereSanitized<Entries>);

/// Random columns: every rank may need rows of every other rank. In a band, only neighbours are
/// needed; in blocks of 256 rows, not even those.
template <class E>
CsrMatrix<E> matrix_of(Index rows, int kind, Generator& generator) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<vector_scalar_t<E>> values;
  for (Index row = 0; row < rows; ++row) {
    std::set<Index> in_row;
    const int count = random_between(0, 6, generator);
    for (int k = 0; k < count; ++k) {
      const Index block = row / 256 * 256;
      const Index low = kind == 0 ? 0 : kind == 1 ? std::max(0, row - 5) : block;
      const Index high = kind == 0   ? rows - 1
                         : kind == 1 ? std::min(rows - 1, row + 5)
                                     : std::min(rows, block + 256) - 1;
      in_row.insert(random_between(low, high, generator));
    }
    for (const Index column : in_row) {
      columns.push_back(column);
      const E entry = random_components<E>(generator);
      values.insert(values.end(), entry.component, entry.component + E::components);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return CsrMatrix<E>(rows, rows, Array<Offset>(std::span<const Offset>(offsets)),
                      Array<Index>(std::span<const Index>(columns)),
                      Array<vector_scalar_t<E>>(std::span<const vector_scalar_t<E>>(values)));
}

TYPED_TEST(DistributedProduct, HasTheBitsOfOneProcess) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(62);
  constexpr ExchangeMode modes[] = {ExchangeMode::vector, ExchangeMode::naive, ExchangeMode::task};
  const char* const plans[] = {"CSR", "C=8,threads-per-row=4"};
  for (const int ranks : {1, 2, 3, 8}) {
    for (int kind = 0; kind < 3; ++kind) {
      const Index rows = random_between(1, 9 * 256, seed.generator);
      const CsrMatrix<E> matrix = matrix_of<E>(rows, kind, seed.generator);
      std::vector<S> x(static_cast<std::size_t>(rows) * vector_entry_t<E>::components);
      for (S& c : x)
        c = static_cast<S>(random_components<real<double>>(seed.generator).component[0]);
      const Plan plan = parse_plan(plans[kind % 2]);
      const Products<S> expected = alone(matrix, plan, x);
      const std::array partitions{random_partition(rows, ranks, seed.generator),
                                  random_owners(rows, ranks, seed.generator)};
      for (const ExchangeMode mode : modes) {
        const Partition& partition = partitions[mode == ExchangeMode::naive ? 1 : 0];
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::string(name(mode)));
        const Products<S> made = on_ranks(matrix, plan, x, partition, mode);
        EXPECT_EQ(made.y, expected.y);
        EXPECT_EQ(made.scaled, expected.scaled);
        EXPECT_EQ(made.r, expected.r);
        EXPECT_EQ(made.dot, expected.dot);
        EXPECT_EQ(made.squared, expected.squared);
      }
    }
  }
}

/// Split rows are summed in another order, which modes and threads do not change.
TYPED_TEST(DistributedProduct, OfSplitRowsIsNearThatOfOneProcess) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(76);
  for (const int ranks : {1, 2, 4}) {
    for (int kind = 0; kind < 3; ++kind) {
      const Index rows = random_between(700, 9 * 256, seed.generator);
      const CsrMatrix<E> matrix = matrix_of<E>(rows, kind, seed.generator);
      std::vector<S> x(static_cast<std::size_t>(rows) * vector_entry_t<E>::components);
      for (S& c : x) {
        c = static_cast<S>(random_components<real<double>>(seed.generator).component[0]);
      }
      const Plan plan = distributed_plan(parse_plan(kind == 0 ? "CSR" : "C=8,sigma=1024"));
      const Products<S> expected = alone(matrix, parse_plan("CSR"), x);
      const Partition partition = random_owners(rows, ranks, seed.generator);
      const auto split = [&](ExchangeMode mode, int threads) {
        return on_ranks(matrix, plan, x, partition, mode, BoundaryStorage::split, threads);
      };
      const Products<S> made = split(ExchangeMode::task, 1);
      constexpr double rounding = 64 * static_cast<double>(std::numeric_limits<S>::epsilon());
      const auto expect_near = [&](const std::vector<S>& found, const std::vector<S>& wanted) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_NEAR(double(found[i]), double(wanted[i]), rounding) << i;
        }
      };
      expect_near(made.y, expected.y);
      expect_near(made.scaled, expected.scaled);
      expect_near(made.r, expected.r);
      EXPECT_NEAR(made.dot, expected.dot, rounding * rows);
      EXPECT_NEAR(made.squared, expected.squared, rounding * rows);
      for (const auto& again : {split(ExchangeMode::vector, 2), split(ExchangeMode::naive, 1)}) {
        EXPECT_EQ(again.y, made.y);
        EXPECT_EQ(again.scaled, made.scaled);
        EXPECT_EQ(again.r, made.r);
        EXPECT_EQ(again.dot, made.dot);
      }
    }
  }
}

TEST(DistributedOperator, TellsItsParts) {
  Seed seed(63);
  const auto matrix = matrix_of<real<double>>(4 * 256, 1, seed.generator);
  run_on_ranks(2, [&](Communicator& ranks) {
    const auto A = part_of(matrix, Partition({0, 512, 1024}), ranks);
    EXPECT_EQ(A->rows(), 512);
    EXPECT_EQ(A->interior_rows(), 256);
    EXPECT_EQ(A->boundary(), BoundaryStorage::whole);
    const auto split = part_of(matrix, Partition({0, 512, 1024}), ranks, {}, ExchangeMode::naive,
                               Device::cpu(1), BoundaryStorage::split);
    EXPECT_EQ(split->interior_rows(), 256);
    EXPECT_EQ(split->boundary(), BoundaryStorage::split);
    EXPECT_EQ(split->halo(), A->halo());
    EXPECT_EQ(A->neighbours(), 1);
    EXPECT_GT(A->halo(), 0);
    EXPECT_LE(A->halo(), 5);
    EXPECT_GT(A->memory(), 0);
  });
}

TEST(DistributedOperator, TakesNewValues) {
  Seed seed(64);
  const Index rows = 600;
  const auto matrix = matrix_of<real<double>>(rows, 0, seed.generator);
  const Partition partition = Partition::even(rows, 3);
  run_on_ranks(3, [&](Communicator& ranks) {
    const auto A = part_of(matrix, partition, ranks);
    std::vector<double> twice;
    const long long begin = partition.first_row(ranks.rank());
    const long long end = partition.first_row(ranks.rank() + 1);
    for (Offset k = matrix.offsets()[begin]; k < matrix.offsets()[end]; ++k) {
      twice.push_back(2 * matrix.entry(k).component[0]);
    }
    const auto count = static_cast<std::size_t>(A->rows());
    std::vector<double> x(count, 1), y(count), z(count);
    const auto view = [&](std::vector<double>& data) {
      return FieldView<double>(data.data(), A->rows(), 1, VectorLayout::aos, A->row_basis());
    };
    A->apply(1, view(x), 0, view(y), A->device().stream());
    A->update_values(std::as_bytes(std::span(twice)));
    A->apply(1, view(x), 0, view(z), A->device().stream());
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(z[i], 2 * y[i]);
  });
}

}  // namespace
}  // namespace heddle::test::distributed_product
