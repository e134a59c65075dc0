// Edits of hierarchical storage, compared with plain maps.
#include <gtest/gtest.h>

#include <cstddef>

#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_edit {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class Edits : public testing::Test {};
TYPED_TEST_SUITE(Edits, FewOf<TreeEntries>);

TYPED_TEST(Edits, FollowAMapThroughLongSequences) {
  using E = TypeParam;
  Seed seed(31);
  const std::tuple<Index, Index, NodeLayout> cases[] = {{40, 40, {4, 20}},
                                                        {300, 90, 16},
                                                        {70, 333, 128},
                                                        {1, 1, 4},
                                                        {65, 64, {64, NodeLayout::never}}};
  for (const auto& [rows, columns, nodes] : cases) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << " in " << to_string(nodes));
    EntryMapOf<E> map;
    HierarchicalMatrix<E> matrix(matrix_of(rows, columns, map), nodes);
    // The matrix is filled, changed, and finally emptied.
    for (int step = 0; step < 30; ++step) {
      const auto edits =
          random_edits<EditBatch>(rows, columns, 1 << (step % 10), map, seed.generator);
      matrix = matrix.edited(edits);
      expect_same_bits(matrix.to_csr(), matrix_of(rows, columns, map));
      expect_true_account(matrix, nodes.dense);
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
    }
    EditBatch<E> all;
    for (const auto& [place, entry] : map) all.remove(place.first, place.second);
    matrix = matrix.edited(all);
    EXPECT_EQ(matrix.entries(), 0);
    expect_true_account(matrix);
    EXPECT_EQ(HierarchicalMatrix<E>::held_memory({matrix}), matrix.memory().schedule);
  }
}

/// Views of arrays act as batches, in the order set, add, remove.
TYPED_TEST(Edits, OfViewsAreThoseOfABatch) {
  using E = TypeParam;
  using S = stored_scalar_t<E>;
  Seed seed(39);
  const auto csr = random_matrix<E>({.rows = 60, .columns = 50, .per_row = 4}, seed.generator);
  const HierarchicalMatrix<E> matrix(csr, 16);
  const std::vector<Index> rows{3, 59, 17}, columns{49, 0, 20};
  std::vector<S> values;
  EditBatch<E> batch;
  for (std::size_t i = 0; i < 3; ++i) {
    const E value = random_components<E>(seed.generator);
    values.insert(values.end(), value.component, value.component + E::components);
    if (i < 2) batch.set(rows[i], columns[i], value);
    if (i == 2) batch.add(rows[i], columns[i], value);
  }
  const Index there = csr.column()[0];
  const Index row_of_there = 0;
  batch.remove(row_of_there, there);
  const CooView<E> set{60, 50, 2, rows.data(), columns.data(), values.data()};
  const CooView<E> add{60,
                       50,
                       1,
                       rows.data() + 2,
                       columns.data() + 2,
                       values.data() + std::size_t{2} * E::components};
  const CooView<E> remove{60, 50, 1, &row_of_there, &there};
  expect_same_bits(matrix.edited({set, add, remove}).to_csr(), matrix.edited(batch).to_csr());
  expect_error(
      ErrorKind::out_of_range,
      "edit 3 removes row 0, column " + std::to_string(there) + ", where there is no entry",
      [&] { matrix.edited(batch).edited({set, add, remove}); });
  CooView<E> other = set;
  other.rows = 61;
  expect_error(ErrorKind::size_mismatch,
               "edits of a matrix of 61 x 50 entries do not fit one of 60 x 50",
               [&] { matrix.edited({.set = other}); });
}

TYPED_TEST(Edits, LeaveBothOwnersAsTheyAre) {
  using E = TypeParam;
  Seed seed(32);
  auto map = map_of(random_matrix<E>({.rows = 400, .columns = 400, .per_row = 5}, seed.generator));
  const CsrMatrix<E> first_matrix = matrix_of(400, 400, map);
  const HierarchicalMatrix<E> first(first_matrix, 16);
  auto map_of_second = map, map_of_third = map;
  const auto second =
      first.edited(random_edits<EditBatch>(400, 400, 20, map_of_second, seed.generator));
  const auto third =
      first.edited(random_edits<EditBatch>(400, 400, 20, map_of_third, seed.generator));
  auto map_of_fourth = map_of_second;
  const auto fourth =
      second.edited(random_edits<EditBatch>(400, 400, 20, map_of_fourth, seed.generator));
  expect_same_bits(first.to_csr(), first_matrix);
  expect_same_bits(second.to_csr(), matrix_of(400, 400, map_of_second));
  expect_same_bits(third.to_csr(), matrix_of(400, 400, map_of_third));
  expect_same_bits(fourth.to_csr(), matrix_of(400, 400, map_of_fourth));
  const auto held = [](std::initializer_list<HierarchicalMatrix<E>> of) {
    return HierarchicalMatrix<E>::held_memory(of);
  };
  EXPECT_LT(held({first, second}), first.memory().total() + second.memory().total());
  EXPECT_EQ(held({first, first}), held({first}));
  // The original's nodes are part of the edited matrix.
  EXPECT_EQ(held({first, second}), held({second}) + first.memory().schedule);
}

TEST(TreeEdits, ShareAllButOnePathWithTheOriginal) {
  Seed seed(33);
  using E = real<double>;
  const auto matrix =
      random_matrix<E>({.rows = 30000, .columns = 30000, .per_row = 5}, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 32);
  EditBatch<E> edits;
  edits.set(12345, 23456, {{7}});
  const auto B = A.edited(edits);
  EXPECT_EQ(B.find(12345, 23456)->component[0], 7);
  EXPECT_FALSE(A.find(12345, 23456));
  const long long more = HierarchicalMatrix<E>::held_memory({A, B}) - A.memory().tree();
  EXPECT_GT(more, 0);
  EXPECT_LT(more, 3 * (32 * 32 * 8 + 1024));
}

TEST(TreeEdits, LongChainsDoNotKeepWhatNobodyUses) {
  using E = real<double>;
  Seed seed(34);
  auto map = map_of(random_matrix<E>({.rows = 500, .columns = 500, .per_row = 4}, seed.generator));
  HierarchicalMatrix<E> matrix(matrix_of(500, 500, map), 16);
  for (int step = 0; step < 300; ++step) {
    matrix = matrix.edited(random_edits<EditBatch>(500, 500, 5, map, seed.generator));
    ASSERT_LE(HierarchicalMatrix<E>::held_memory({matrix}), 3 * matrix.memory().tree() + (1 << 16));
  }
  expect_same_bits(matrix.to_csr(), matrix_of(500, 500, map));
  expect_true_account(matrix);
}

/// Pools are merged gradually: no edit in a long chain copies the matrix, nor does the whole chain.
TEST(TreeEdits, MergePoolsByDegrees) {
  using E = real<double>;
  Seed seed(38);
  const auto held = [](std::initializer_list<HierarchicalMatrix<E>> of) {
    return HierarchicalMatrix<E>::held_memory(of);
  };
  // In the second matrix each edit writes a dense inner node, 1% of the tree.
  for (const bool is_banded : {true, false}) {
    SCOPED_TRACE(is_banded ? "banded" : "scattered");
    const auto matrix =
        random_matrix<E>({.rows = 20000, .columns = 20000, .per_row = 6}, seed.generator);
    EntryMapOf<E> map;
    for (const auto& [place, entry] : map_of(matrix)) {
      const Index column = is_banded ? (place.first + place.second % 150) % 20000 : place.second;
      map[{place.first, column}] = entry;
    }
    const HierarchicalMatrix<E> first(matrix_of(20000, 20000, map), 64);
    HierarchicalMatrix<E> A = first;
    const long long tree = A.memory().tree();
    long long written = 0, most = 0;
    for (Index step = 0; step < 2000; ++step) {
      EditBatch<E> edits;
      const auto row = static_cast<Index>(step * 7919LL % 20000);
      const Index column =
          is_banded ? (row + step % 150) % 20000 : static_cast<Index>(step * 104729LL % 20000);
      const E value = random_components<E>(seed.generator);
      edits.set(row, column, value);
      map[{row, column}] = value;
      const auto next = A.edited(edits);
      const long long more = held({A, next}) - held({A});
      written += more;
      most = std::max(most, more);
      A = next;
    }
    EXPECT_LE(most, is_banded ? tree / 8 + (1 << 16) : tree / 2 + (1 << 16));
    EXPECT_LE(written, (is_banded ? 20 : 80) * tree);
    EXPECT_LE(held({A}), 3 * A.memory().tree());
    expect_same_bits(A.to_csr(), matrix_of(20000, 20000, map));
    expect_true_account(A);
  }
}

/// The scalars of A x and of A* x.
template <class E>
std::vector<vector_scalar_t<E>> products_of(const HierarchicalMatrix<E>& A, Generator& generator) {
  using S = vector_scalar_t<E>;
  std::vector<S> scalars;
  const auto multiply = [&](const LinearOperator<S>& map) {
    const auto x = random_field<E>(map.columns(), generator);
    Field<E> y(map.rows());
    map.apply(S(1), x.view(), S(0), y.view(), map.device().stream());
    scalars.insert(scalars.end(), y.scalars().begin(), y.scalars().end());
  };
  multiply(A);
  multiply(*A.adjoint());
  return scalars;
}

/// Schedules mended one after another, or after several batches, equal those of a new tree. With
/// several threads, A* x uses a separate schedule.
TEST(TreeEdits, KeepSchedulesThatTheyMend) {
  using E = quaternion<double>;
  Seed seed(36);
  for (const int threads : {1, 5}) {
    auto map =
        map_of(random_matrix<E>({.rows = 900, .columns = 700, .per_row = 3}, seed.generator));
    const Device device = Device::cpu(threads);
    HierarchicalMatrix<E> matrix(matrix_of(900, 700, map), 8, device);
    products_of(matrix, seed.generator);
    EXPECT_EQ(matrix.memory().adjoint_schedule > 0, threads == 5);
    for (int step = 0; step < 40; ++step) {
      // Only values, then the pattern too; some steps without a product in between, once too many.
      EditBatch<E> values;
      for (const auto& [place, entry] : map) {
        if (place.first % 37 == step % 37) values.add(place.first, place.second, entry);
      }
      for (auto& [place, entry] : map) {
        if (place.first % 37 == step % 37) entry = add(entry, entry);
      }
      matrix = matrix.edited(values);
      for (int more = step == 20 ? 70 : step % 3; more > 0; --more) {
        matrix =
            matrix.edited(random_edits<EditBatch>(900, 700, 1 << (step % 8), map, seed.generator));
      }
      matrix = matrix.edited(EditBatch<E>());
      const HierarchicalMatrix<E> anew(matrix_of(900, 700, map), 8, device);
      Generator first = seed.generator, second = seed.generator;
      ASSERT_EQ(products_of(matrix, first), products_of(anew, second)) << "step " << step;
      ASSERT_EQ(matrix.memory().schedule, anew.memory().schedule);
      ASSERT_EQ(matrix.memory().adjoint_schedule, anew.memory().adjoint_schedule);
    }
    const long long earlier = matrix.memory().total();
    EditBatch<E> one;
    one.set(1, 1, random_components<E>(seed.generator));
    const HierarchicalMatrix<E> next = matrix.edited(one);
    // It holds both schedules until its products have mended them.
    EXPECT_EQ(next.memory().schedule, 0);
    EXPECT_EQ(HierarchicalMatrix<E>::held_memory({next, matrix}) -
                  HierarchicalMatrix<E>::held_memory({next}),
              0);
    EXPECT_GE(HierarchicalMatrix<E>::held_memory({next}), earlier);
  }
}

/// The list of changes to mend grows neither with batches that touch many leaves nor with empty
/// ones.
TEST(TreeEdits, KeepFewChangesWithASchedule) {
  using E = real<double>;
  Seed seed(37);
  auto map = map_of(random_matrix<E>({.rows = 900, .columns = 700, .per_row = 3}, seed.generator));
  const HierarchicalMatrix<E> first(matrix_of(900, 700, map), 4);
  products_of(first, seed.generator);
  const auto held = [](const HierarchicalMatrix<E>& of) {
    return HierarchicalMatrix<E>::held_memory({of});
  };
  const long long schedules = first.memory().schedule + first.memory().adjoint_schedule;
  EditBatch<E> all, one;
  for (const auto& [place, entry] : map) all.set(place.first, place.second, entry);
  one.set(map.begin()->first.first, map.begin()->first.second, {{7}});
  EXPECT_EQ(held(first.edited(EditBatch<E>())), held(first));
  EXPECT_EQ(first.edited(EditBatch<E>()).memory().schedule, first.memory().schedule);
  // Nothing of the schedules is left, and all nodes are new.
  EXPECT_EQ(held(first.edited(all)), first.memory().tree());
  HierarchicalMatrix<E> matrix = first;
  const Offset leaves = first.memory().leaves.nodes();
  bool keeps_schedules = true;
  for (int step = 0; step < leaves; ++step) {
    matrix = matrix.edited(one);
    const long long added = HierarchicalMatrix<E>::held_memory({first, matrix}) - held(first);
    keeps_schedules = held(matrix) >= schedules + matrix.memory().tree();
    EXPECT_EQ(keeps_schedules, step < leaves / 8) << "step " << step << " of " << leaves;
    if (!keeps_schedules) break;
    EXPECT_GE(added, (step + 1) * static_cast<long long>(sizeof(detail::LeafChange)));
  }
  EXPECT_FALSE(keeps_schedules);
  // If a leaf stays in place, both schedules keep the places of all leaves.
  const HierarchicalMatrix<E> next = first.edited(one);
  products_of(next, seed.generator);
  EXPECT_LT(HierarchicalMatrix<E>::held_memory({first, next}),
            held(first) + next.memory().schedule + next.memory().adjoint_schedule);
}

TEST(TreeEdits, AreTheSameFromAnyNumberOfThreads) {
  Seed seed(35);
  using E = complex<double>;
  const auto matrix =
      random_matrix<E>({.rows = 3000, .columns = 3000, .per_row = 5}, seed.generator);
  auto map = map_of(matrix);
  const auto edits = random_edits<EditBatch>(3000, 3000, 4000, map, seed.generator);
  const auto one = HierarchicalMatrix<E>(matrix, 64, Device::cpu(1)).edited(edits);
  const auto many = HierarchicalMatrix<E>(matrix, 64, Device::cpu(6)).edited(edits);
  expect_same_bits(one.to_csr(), many.to_csr());
  EXPECT_EQ(HierarchicalMatrix<E>::held_memory({one}), HierarchicalMatrix<E>::held_memory({many}));
}

TEST(TreeEdits, ThatFailChangeNothing) {
  Seed seed(36);
  using E = real<double>;
  const auto matrix = random_matrix<E>({.rows = 50, .columns = 60, .per_row = 2}, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 16);
  const auto expect_refused = [&](ErrorKind kind, const std::string& message, auto&& fill) {
    EditBatch<E> edits;
    edits.set(0, 0, {{1}});
    fill(edits);
    expect_error(kind, message, [&] { static_cast<void>(A.edited(edits)); });
    expect_same_bits(A.to_csr(), matrix);
    expect_true_account(A);
  };
  expect_refused(ErrorKind::out_of_range,
                 "edit 1 names row 50, column 0 of a matrix of 50 x 60 entries, counted from 0",
                 [](auto& edits) { edits.set(50, 0, {{1}}); });
  expect_refused(ErrorKind::out_of_range,
                 "edit 1 names row 3, column -1 of a matrix of 50 x 60 entries, counted from 0",
                 [](auto& edits) { edits.remove(3, -1); });
  expect_refused(ErrorKind::usage, "edits 1 and 3 of one batch both name row 7, column 9",
                 [](auto& edits) {
                   edits.set(7, 9, {{1}});
                   edits.set(8, 9, {{1}});
                   edits.add(7, 9, {{1}});
                 });
  const auto map = map_of(matrix);
  Index column = 0;
  while (map.contains({20, column})) ++column;
  expect_refused(
      ErrorKind::out_of_range,
      "edit 1 removes row 20, column " + std::to_string(column) + ", where there is no entry",
      [&](auto& edits) { edits.remove(20, column); });
  EditBatch<E> uneven;
  const Index rows[] = {1, 2}, columns[] = {1};
  const E values[] = {{{1}}, {{2}}};
  expect_error(ErrorKind::size_mismatch, "edits have 2 rows, 1 columns and 2 values",
               [&] { uneven.set(rows, columns, values); });
  EXPECT_TRUE(uneven.empty());
  expect_same_bits(A.edited(EditBatch<E>()).to_csr(), matrix);
}

}  // namespace
}  // namespace hierarchical_edit
