// Trees that a GPU makes from arrays and from other trees in its memory, equal to the CPU's byte by
// byte, and the way back.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coo.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "hierarchical/tree_pieces.hpp"
#include "hierarchical/tree_schedule_cuda.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/message_of.hpp"

namespace tree_building_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class TreesMadeOnGpu : public OnGpu {};
using FewEntries = testing::Types<real<double>, real<float>, complex<float>, quaternion<double>,
                                  block<double, 3, 3>>;
TYPED_TEST_SUITE(TreesMadeOnGpu, FewEntries);

/// A matrix's arrays in a GPU's memory, with the entries of each row in any order.
template <class E>
struct RowsThere {
  using S = stored_scalar_t<E>;
  Index rows, columns;
  Array<Offset> offsets;
  Array<Index> column;
  Array<S> values;
  Device device;

  RowsThere(const CsrMatrix<E>& matrix, const Device& gpu, Generator* shuffle)
      : rows(matrix.rows()), columns(matrix.columns()), device(gpu) {
    std::vector<Index> order(static_cast<std::size_t>(matrix.entries()));
    std::iota(order.begin(), order.end(), 0);
    for (Index row = 0; shuffle != nullptr && row < rows; ++row) {
      std::shuffle(order.begin() + matrix.offsets()[static_cast<std::size_t>(row)],
                   order.begin() + matrix.offsets()[static_cast<std::size_t>(row) + 1], *shuffle);
    }
    std::vector<Index> columns_now;
    std::vector<S> values_now;
    for (const Index i : order) {
      columns_now.push_back(matrix.column()[static_cast<std::size_t>(i)]);
      const E entry = matrix.entry(i);
      values_now.insert(values_now.end(), entry.component, entry.component + E::components);
    }
    offsets = Array<Offset>(matrix.offsets().span(), gpu);
    column = Array<Index>(std::span<const Index>(columns_now), gpu);
    values = Array<S>(std::span<const S>(values_now), gpu);
  }
  CsrView<E> view() const {
    return {rows, columns, offsets.data(), column.data(), values.data(), row_major, device};
  }
};

void expect_same_trees(const detail::Tree& made, const detail::Tree& expected) {
  ASSERT_EQ(made.rows, expected.rows);
  ASSERT_EQ(made.columns, expected.columns);
  ASSERT_EQ(made.entries, expected.entries);
  EXPECT_EQ(made.memory.leaves.of_kind, expected.memory.leaves.of_kind);
  EXPECT_EQ(made.memory.inner.of_kind, expected.memory.inner.of_kind);
  EXPECT_EQ(made.memory.leaves.bytes, expected.memory.leaves.bytes);
  EXPECT_EQ(made.memory.inner.bytes, expected.memory.inner.bytes);
  EXPECT_EQ(made.memory.leaves.items, expected.memory.leaves.items);
  EXPECT_EQ(made.memory.inner.items, expected.memory.inner.items);
  ASSERT_EQ(made.pools.size(), expected.pools.size());
  if (expected.entries == 0) return;
  EXPECT_EQ(made.root.bits, expected.root.bits);
  const auto &pool = *made.pools[0].pool, &expected_pool = *expected.pools[0].pool;
  ASSERT_EQ(pool.size(), expected_pool.size());
  EXPECT_EQ(std::memcmp(pool.data(), expected_pool.data(), pool.size()), 0);
}

template <class E>
const detail::Tree& tree_there(const HierarchicalMatrix<E>& matrix) {
  return matrix.on_gpu()->matrix().tree();
}

TYPED_TEST(TreesMadeOnGpu, OfRowsAreThoseOfTheCpu) {
  using E = TypeParam;
  Seed seed(71);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const NodeLayout& nodes :
         {NodeLayout(4, 30), NodeLayout(32), NodeLayout(128), NodeLayout(256, 1)}) {
      SCOPED_TRACE(to_string(nodes));
      const RowsThere<E> there(matrix, this->device, nodes.size == 32 ? nullptr : &seed.generator);
      const HierarchicalMatrix<E> tree(there.view(), nodes, this->device);
      EXPECT_EQ(tree.memory().host, 0);
      if (pattern.rows <= 1000) expect_products_of_all_forms(tree, matrix, seed.generator);
      const auto back = tree.to_rows();
      EXPECT_TRUE(back.values.device().on_gpu());
      expect_same_bits(tree.to_csr(), CsrMatrix<E>(HierarchicalMatrix<E>(matrix, nodes).to_csr()));
      EXPECT_EQ(tree.memory().host, 0);
      expect_same_trees(tree_there(tree),
                        tree_there(HierarchicalMatrix<E>(matrix, nodes, this->device)));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(TreesMadeOnGpu, OfPlacesAreThoseOfTheCpu) {
  using E = TypeParam;
  using S = stored_scalar_t<E>;
  Seed seed(72);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    auto triplets = HierarchicalMatrix<E>(matrix, 16).to_triplets();
    std::shuffle(triplets.begin(), triplets.end(), seed.generator);
    std::vector<Index> row, column;
    std::vector<S> values;
    for (const auto& triplet : triplets) {
      row.push_back(triplet.row);
      column.push_back(triplet.column);
      values.insert(values.end(), triplet.value.component, triplet.value.component + E::components);
    }
    CooView<E> view{pattern.rows, pattern.columns, matrix.entries(),
                    row.data(),   column.data(),   values.data()};
    const HierarchicalMatrix<E> expected(matrix, 16, this->device);
    expect_same_bits(HierarchicalMatrix<E>(view, 16).to_csr(), expected.to_csr());
    const Array<Index> row_there(std::span<const Index>(row), this->device);
    const Array<Index> column_there(std::span<const Index>(column), this->device);
    const Array<S> values_there(std::span<const S>(values), this->device);
    view.row = row_there.data();
    view.column = column_there.data();
    view.values = values_there.data();
    view.device = this->device;
    expect_same_trees(tree_there(HierarchicalMatrix<E>(view, 16, this->device)),
                      tree_there(expected));
    // A CPU accepts such arrays too.
    expect_same_bits(HierarchicalMatrix<E>(view, 16).to_csr(), expected.to_csr());
    if (testing::Test::HasFailure()) return;
  }
}

using TreesOnOneGpu = OnGpu;

TEST_F(TreesOnOneGpu, TakeBlocksByColumnsAndNarrowOffsets) {
  using E = block<double, 2, 3>;
  Seed seed(73);
  const auto matrix = random_matrix<E>({.rows = 500, .columns = 500, .per_row = 5}, seed.generator);
  const std::vector<int> narrow(matrix.offsets().begin(), matrix.offsets().end());
  std::vector<double> by_columns;
  for (Offset i = 0; i < matrix.entries(); ++i) {
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 2; ++r) by_columns.push_back(matrix.entry(i).component[3 * r + c]);
    }
  }
  const Array<int> offsets(std::span<const int>(narrow), device);
  const Array<Index> column(matrix.column().span(), device);
  const Array<double> values(std::span<const double>(by_columns), device);
  const CsrView<E> view{500,           500,          offsets.data(), column.data(),
                        values.data(), column_major, device};
  expect_same_trees(tree_there(HierarchicalMatrix<E>(view, 32, device)),
                    tree_there(HierarchicalMatrix<E>(matrix, 32, device)));
}

TEST_F(TreesOnOneGpu, RefuseBadArraysInOneLine) {
  using E = real<double>;
  const auto expect = [&](ErrorKind kind, const std::vector<Offset>& offsets,
                          const std::vector<Index>& column) {
    const std::vector<double> values(column.size(), 1.0);
    const Array<Offset> offsets_there(std::span<const Offset>(offsets), device);
    const Array<Index> column_there(std::span<const Index>(column), device);
    const Array<double> values_there(std::span<const double>(values), device);
    const PatternView here{static_cast<Index>(offsets.size()) - 1, 40, offsets.data(),
                           column.data()};
    expect_error(kind, message_of([&] { check_pattern(here, Device::cpu()); }), [&] {
      HierarchicalMatrix<E>(CsrView<E>{here.rows, 40, offsets_there.data(), column_there.data(),
                                       values_there.data(), row_major, device},
                            16, device);
    });
  };
  expect(ErrorKind::malformed_file, {0, 2, 1}, {0, 1});
  expect(ErrorKind::out_of_range, {0, 1, 2}, {0, 40});
  expect(ErrorKind::malformed_file, {0, 1, 3}, {0, 7, 7});
  std::vector<Index> long_row;
  for (Index i = 0; i < 40; ++i) long_row.push_back(i == 39 ? 3 : i);
  expect(ErrorKind::malformed_file, {0, 40}, long_row);
}

/// Compares the schedules made by the GPU with the host's.
template <class E>
void expect_same_schedules(const HierarchicalMatrix<E>& tree) {
  for (const bool by_columns : {false, true}) {
    const auto& made = tree.on_gpu()->schedule(by_columns);
    const detail::Tree& of = tree_there(tree);
    const auto schedule = detail::leaf_schedule(of, by_columns, Device::cpu());
    const auto expected = cuda::tree_pieces(of, schedule, Device::cpu());
    EXPECT_EQ(made.first.to_host(),
              std::vector<Offset>(schedule.places->first.begin(), schedule.places->first.end()));
    const auto leaves = made.cut.leaves.to_host();
    ASSERT_EQ(leaves.size(), expected.leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      ASSERT_EQ(leaves[i].block, expected.leaves[i].block) << i;
      ASSERT_EQ(leaves[i].end, expected.leaves[i].end) << i;
      ASSERT_EQ(leaves[i].node & 15, expected.leaves[i].node & 15) << i;
    }
    const auto pieces = made.cut.pieces.to_host();
    ASSERT_EQ(pieces.size(), expected.pieces.size());
    EXPECT_EQ(made.cut.places, expected.places);
    EXPECT_EQ(made.cut.counters, expected.counters);
    EXPECT_EQ(std::memcmp(pieces.data(), expected.pieces.data(),
                          pieces.size() * sizeof(device::TreePiece)),
              0);
  }
}

TEST_F(TreesOnOneGpu, OfSortedRowsAreThoseOfTheCpu) {
  Seed seed(77);
  const auto check = [&]<class E>(const CsrMatrix<E>& matrix, std::initializer_list<int> sizes) {
    for (const int d : sizes) {
      SCOPED_TRACE(testing::Message() << matrix.rows() << " x " << matrix.columns() << ", " << d);
      const RowsThere<E> there(matrix, device, nullptr);
      expect_same_trees(tree_there(HierarchicalMatrix<E>(there.view(), d, device)),
                        tree_there(HierarchicalMatrix<E>(matrix, d, device)));
    }
  };
  using Request = PatternRequest;
  // A long row with more leaves than shared memory counts, blocks, and block rows that are
  // processed entry by entry.
  check(
      random_matrix<real<double>>(
          Request{.rows = 3000, .columns = 30000, .per_row = 6, .dense_row = true}, seed.generator),
      {4, 16, 128});
  check(random_matrix<block<double, 3, 3>>(Request{.rows = 700, .columns = 900, .per_row = 100},
                                           seed.generator),
        {128, 256});
  check(random_matrix<real<float>>(Request{.rows = 900, .columns = 900, .per_row = 600},
                                   seed.generator),
        {64, 128, 256});
  // Enough block rows that each gets a warp, with empty rows among them.
  check(random_matrix<real<double>>(
            Request{.rows = 70000, .columns = 5000, .per_row = 2, .empty_rows = true},
            seed.generator),
        {4});
  // More block columns than there are bits for, and block rows without entries.
  check(random_matrix<real<float>>(Request{.rows = 300, .columns = 3000000, .per_row = 5},
                                   seed.generator),
        {4, 32});
}

TEST_F(TreesOnOneGpu, HaveTheSchedulesOfTheHost) {
  Seed seed(74);
  const auto check = [&]<class E>(const CsrMatrix<E>& matrix) {
    for (const int d : {4, 16, 128, 256}) {
      SCOPED_TRACE(d);
      expect_same_schedules(HierarchicalMatrix<E>(matrix, d, device));
    }
  };
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    check(random_matrix_of<real<float>>(pattern, seed.generator));
    if (HasFailure()) return;
  }
  check(random_matrix<block<double, 3, 3>>(
      {.rows = 20000, .columns = 30000, .per_row = 6, .dense_row = true}, seed.generator));
}

/// Sums on the GPU compared with the host's, byte by byte.
template <class E, class C>
void expect_same_sums(const CsrMatrix<E>& a, const CsrMatrix<E>& b, const NodeLayout& of_a,
                      const NodeLayout& of_b, C alpha, C beta, const Device& device) {
  const HierarchicalMatrix<E> A(a, of_a), B(b, of_b), A_there = A.on(device),
                                                      B_there = B.on(device);
  const auto expect = [&](const HierarchicalMatrix<E>& made,
                          const HierarchicalMatrix<E>& expected) {
    EXPECT_EQ(made.memory().host, 0);
    expect_same_bits(made.to_csr(), expected.to_csr());
    EXPECT_EQ(made.memory().host, 0);
    expect_same_trees(tree_there(made), tree_there(expected.on(device)));
  };
  for (const SumSchedule schedule : {SumSchedule::tree, SumSchedule::kept}) {
    if (a.rows() == b.rows() && a.columns() == b.columns()) {
      expect(add(alpha, A_there, beta, B_there, schedule), add(alpha, A, beta, B));
    }
    if (a.rows() == b.columns() && a.columns() == b.rows()) {
      expect(add_adjoint(alpha, A_there, beta, B_there, schedule), add_adjoint(alpha, A, beta, B));
    }
    if (schedule == SumSchedule::tree) {
      EXPECT_EQ(A_there.memory().schedule + B_there.memory().adjoint_schedule, 0);
    }
  }
}

TYPED_TEST(TreesMadeOnGpu, AddAsTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(75);
  const auto patterns = tree_patterns(seed.generator);
  for (const Pattern& pattern : patterns) {
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> a = random_matrix_of<E>(pattern, seed.generator);
    for (const Pattern& other : patterns) {
      const bool fits = other.rows == pattern.rows && other.columns == pattern.columns;
      const bool fits_transposed = other.rows == pattern.columns && other.columns == pattern.rows;
      if (!fits && !fits_transposed) continue;
      const CsrMatrix<E> b = random_matrix_of<E>(other, seed.generator);
      for (const int d : {4, 32, 256}) {
        SCOPED_TRACE(d);
        expect_same_sums(a, b, d, d, S(0.7), S(-1.3), this->device);
        if (testing::Test::HasFailure()) return;
      }
    }
    const CsrMatrix<E> adjoint_a = plain_adjoint(a);
    expect_same_sums(a, adjoint_a, 16, 16, S(1), S(3), this->device);
    if constexpr (E::ring == Ring::complex) {
      expect_same_sums(a, a, 16, 16, std::complex<S>(0.3F, 0.9F), std::complex<S>(-1.1F, 0.2F),
                       this->device);
      expect_same_sums(a, adjoint_a, 16, 16, std::complex<S>(0.3F, 0.9F), std::complex<S>(0, 1),
                       this->device);
    }
  }
}

/// Leaves merged by a warp and leaves merged by a block of threads: dense and sparse ones are
/// combined, and the sum has both kinds.
TEST_F(TreesOnOneGpu, AddLeavesOfEveryKind) {
  Seed seed(77);
  const auto filled = [&](int percent) {
    Pattern pattern{300, 300, {0}, {}};
    for (Index row = 0; row < pattern.rows; ++row) {
      for (Index column = 0; column < pattern.columns; ++column) {
        if (random_between(1, 100, seed.generator) <= percent) pattern.column.push_back(column);
      }
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    return pattern;
  };
  for (const auto& [of_a, of_b] : {std::pair{3, 95}, {95, 3}, {50, 60}, {8, 1}, {1, 1}}) {
    const auto a = random_matrix_of<real<double>>(filled(of_a), seed.generator),
               b = random_matrix_of<real<double>>(filled(of_b), seed.generator);
    for (const NodeLayout& nodes_of_a :
         {NodeLayout(128), NodeLayout(128, 1), NodeLayout(128, NodeLayout::never)}) {
      for (const NodeLayout& nodes_of_b :
           {NodeLayout(128), NodeLayout(128, 1), NodeLayout(128, NodeLayout::never)}) {
        SCOPED_TRACE(testing::Message() << of_a << " and " << of_b << " percent, "
                                        << to_string(nodes_of_a) << ", " << to_string(nodes_of_b));
        expect_same_sums(a, b, nodes_of_a, nodes_of_b, 0.7, -1.3, device);
        if (HasFailure()) return;
      }
    }
  }
  const auto blocks = random_matrix_of<complex<float>>(filled(30), seed.generator);
  expect_same_sums(blocks, plain_adjoint(blocks), 256, 256, std::complex<float>(0.3F, 0.9F),
                   std::complex<float>(-1.1F, 0.2F), device);
}

/// Trees without entries, of one leaf, after edits, and with shared nodes.
TEST_F(TreesOnOneGpu, AddByAWalkOverBothTrees) {
  using E = complex<double>;
  Seed seed(78);
  auto of_a = map_of(random_matrix<E>({.rows = 700, .columns = 700}, seed.generator));
  const auto b = random_matrix<E>({.rows = 700, .columns = 700, .per_row = 9}, seed.generator);
  HierarchicalMatrix<E> A(matrix_of(700, 700, of_a), 16, device);
  const HierarchicalMatrix<E> B(b, 16, device), none(700, 700, 16, device);
  const auto shared = B.with_shared_nodes();
  const auto expect = [](const HierarchicalMatrix<E>& made, const HierarchicalMatrix<E>& expected) {
    expect_same_bits(made.to_csr(), expected.to_csr());
    expect_same_trees(tree_there(made), tree_there(expected));
  };
  for (int round = 0; round < 5; ++round) {
    A = A.edited(random_edits<EditBatch, E>(700, 700, 200, of_a, seed.generator));
    for (const auto& left : {A, none}) {
      for (const auto& right : {B, shared, none}) {
        expect(add(2.0, left, -1.0, right, SumSchedule::tree), add(2.0, left, -1.0, right));
        expect(add_adjoint(2.0, left, -1.0, right, SumSchedule::tree),
               add_adjoint(2.0, left, -1.0, right));
      }
    }
    if (HasFailure()) return;
  }
  for (const Index size : {1, 9}) {
    const HierarchicalMatrix<E> leaf(
        random_matrix<E>({.rows = size, .columns = size}, seed.generator), 16, device);
    const HierarchicalMatrix<E> empty(size, size, 16, device);
    for (const auto& other : {leaf, empty}) {
      expect(add_adjoint(1.0, leaf, 1.0, other, SumSchedule::tree),
             add_adjoint(1.0, leaf, 1.0, other));
      expect(add(1.0, other, 1.0, leaf, SumSchedule::tree), add(1.0, other, 1.0, leaf));
    }
  }
}

TEST_F(TreesOnOneGpu, AddLargeOnesOfTwoStreamsAndGoOn) {
  Seed seed(76);
  using E = real<double>;
  const auto a = random_matrix<E>(
      {.rows = 90000, .columns = 90000, .per_row = 7, .dense_row = true}, seed.generator);
  const auto b = random_matrix<E>({.rows = 90000, .columns = 90000, .per_row = 5}, seed.generator);
  const OwnStream stream;
  const HierarchicalMatrix<E> A(a, 128), B(b, 128), A_there = A.on(device),
                                                    B_there = B.on(Device::cuda(0, stream.get()));
  for (int round = 0; round < 2; ++round) {
    const auto schedule = round == 0 ? SumSchedule::tree : SumSchedule::kept;
    const auto sum = add(2.0, A_there, 0.5, B_there, schedule),
               adjoint_sum = add_adjoint(1., A_there, 1., B_there, schedule);
    const auto expected = add(2.0, A, 0.5, B);
    expect_same_trees(tree_there(sum), tree_there(expected.on(device)));
    expect_same_trees(tree_there(adjoint_sum), tree_there(add_adjoint(1., A, 1., B).on(device)));
    expect_products(sum, expected.to_csr(), seed.generator);
    // The host edits a tree made by a GPU, once it has read that tree.
    static_cast<void>(sum.find(0, 0));
    EditBatch<E> edits;
    edits.set(11, 12, {{5}});
    edits.add(0, 0, {{1}});
    expect_same_bits(sum.edited(edits).to_csr(), expected.edited(edits).to_csr());
  }
}

}  // namespace
}  // namespace tree_building_gpu
