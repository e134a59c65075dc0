// Edits made by a GPU, from arrays in its memory and in the host's: the same entries, account and
// errors as edits by the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "edits_of_arrays.hpp"
#include "heddle/editable_matrix.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/message_of.hpp"
#include "support/refusing_memory.hpp"

namespace edits_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;
using gpu_test::Edits;

/// A matrix whose tree is only in the GPU's memory.
template <class E>
HierarchicalMatrix<E> made_there(const CsrMatrix<E>& matrix, int d, const Device& gpu) {
  using S = stored_scalar_t<E>;
  const Array<Offset> offsets(matrix.offsets().span(), gpu);
  const Array<Index> column(matrix.column().span(), gpu);
  const Array<S> values(matrix.values().span(), gpu);
  return HierarchicalMatrix<E>(CsrView<E>{matrix.rows(), matrix.columns(), offsets.data(),
                                          column.data(), values.data(), row_major, gpu},
                               d, gpu);
}

template <class E>
class EditsOnGpu : public OnGpu {};
using FewEntries =
    testing::Types<real<double>, real<float>, complex<float>, quaternion<double>,
                   dual_quaternion<float>, block<float, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(EditsOnGpu, FewEntries);

TYPED_TEST(EditsOnGpu, FollowAMapAndLeaveTheHostAlone) {
  using E = TypeParam;
  Seed seed(91);
  for (const auto& [rows, columns, d] : {std::tuple{40, 40, 4},
                                         {300, 90, 16},
                                         {70, 333, 128},
                                         {1, 1, 4},
                                         {65, 64, 64},
                                         {600, 500, 256}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << " in nodes of " << d);
    EntryMapOf<E> map;
    auto matrix = made_there<E>(matrix_of(rows, columns, map), d, this->device);
    for (int step = 0; step < 30; ++step) {
      Edits<E> edits = random_edits<Edits>(rows, columns, 1 << (step % 11), map, seed.generator);
      matrix = step % 3 == 2 ? matrix.edited(edits.batch())
                             : matrix.edited(edits.views(rows, columns, this->device));
      EXPECT_EQ(matrix.memory().host, 0);
      expect_same_bits(matrix.to_csr(), matrix_of(rows, columns, map));
      EXPECT_EQ(matrix.memory().host, 0);
      EXPECT_LE(HierarchicalMatrix<E>::held_memory({matrix}),
                3 * matrix.memory().tree() + (1 << 16));
      if (step % 10 == 9) {
        expect_products_of_all_forms(matrix, matrix_of(rows, columns, map), seed.generator);
      }
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
    }
    expect_true_account(matrix);
    Edits<E> all;
    for (const auto& [place, entry] : map) all.remove(place.first, place.second, entry);
    matrix = matrix.edited(all.views(rows, columns, this->device));
    EXPECT_EQ(matrix.entries(), 0);
    expect_true_account(matrix);
    Edits<E> one;
    one.add(rows - 1, columns - 1, random_components<E>(seed.generator));
    EXPECT_EQ(matrix.edited(one.views(rows, columns, this->device)).entries(), 1);
  }
}

/// Dense leaves with many words of bits, which edits turn into dense and sparse ones.
TYPED_TEST(EditsOnGpu, ChangeFullLeaves) {
  using E = TypeParam;
  Seed seed(97);
  constexpr Index n = 70;
  for (const int d : {16, 64}) {
    SCOPED_TRACE(d);
    EntryMapOf<E> map;
    for (Index row = 0; row < n; ++row) {
      for (Index column = 0; column < n; ++column) {
        map[{row, column}] = random_components<E>(seed.generator);
      }
    }
    auto matrix = made_there<E>(matrix_of(n, n, map), d, this->device);
    for (const int kept : {100, 97, 60, 3}) {  // per hundred
      Edits<E> edits;
      for (auto at = map.begin(); at != map.end();) {
        const auto [row, column] = at->first;
        const E value = random_components<E>(seed.generator);
        const bool stays = random_between(0, 99, seed.generator) < kept;
        if (stays && random_between(0, 1, seed.generator) == 0) {
          edits.add(row, column, value);
          at->second = add(at->second, value);
        }
        if (!stays) edits.remove(row, column, value);
        at = stays ? std::next(at) : map.erase(at);
      }
      matrix = matrix.edited(edits.views(n, n, this->device));
      expect_same_bits(matrix.to_csr(), matrix_of(n, n, map));
      expect_true_account(matrix);
    }
    Edits<E> refill = random_edits<Edits>(n, n, 2000, map, seed.generator);
    matrix = matrix.edited(refill.views(n, n, this->device));
    expect_same_bits(matrix.to_csr(), matrix_of(n, n, map));
    EXPECT_EQ(matrix.memory().host, 0);
  }
}

using EditsOnOneGpu = OnGpu;

TEST_F(EditsOnOneGpu, HaveTheBytesOfTheHost) {
  using E = real<double>;
  Seed seed(92);
  auto map =
      map_of(random_matrix<E>({.rows = 3000, .columns = 2000, .per_row = 9}, seed.generator));
  const HierarchicalMatrix<E> here(matrix_of(3000, 2000, map), 32), there = here.on(device);
  Edits<E> edits = random_edits<Edits>(3000, 2000, 200, map, seed.generator);
  const auto expected = here.edited(edits.batch());
  const auto made = there.edited(edits.views(3000, 2000, device));
  const detail::Tree& tree = made.on_gpu()->matrix().tree();
  const auto expected_there = expected.on(device);
  const detail::Tree& expected_tree = expected_there.on_gpu()->matrix().tree();
  ASSERT_EQ(tree.pools.size(), expected_tree.pools.size());
  ASSERT_EQ(tree.pools.size(), 2U);
  EXPECT_EQ(tree.root.bits, expected_tree.root.bits);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(tree.pools[k].used, expected_tree.pools[k].used);
    const auto &pool = *tree.pools[k].pool, &other = *expected_tree.pools[k].pool;
    ASSERT_EQ(pool.size(), other.size());
    EXPECT_EQ(std::memcmp(pool.data(), other.data(), pool.size()), 0) << k;
  }
  // Shared nodes are counted once, and the original stays.
  EXPECT_EQ(tree.pools[0].pool, there.on_gpu()->matrix().tree().pools[0].pool);
  expect_same_bits(there.to_csr(), here.to_csr());
}

TEST_F(EditsOnOneGpu, TakeManyAtOnceAndLongChains) {
  using E = real<float>;
  Seed seed(93);
  constexpr Index n = 60000;
  auto map = map_of(random_matrix<E>({.rows = n, .columns = n, .per_row = 8}, seed.generator));
  EditableMatrix<E> A(made_there(matrix_of(n, n, map), 128, device));
  for (const int count : {200000, 20, 20000, 2000}) {
    A.edit(random_edits<Edits>(n, n, count, map, seed.generator).views(n, n, device));
    EXPECT_EQ(A.matrix().memory().host, 0);
    expect_same_bits(A.matrix().to_csr(), matrix_of(n, n, map));
    ASSERT_FALSE(HasFailure()) << count;
  }
  std::size_t pools = 0;
  for (int step = 0; step < 300; ++step) {
    A.edit(random_edits<Edits>(n, n, 50, map, seed.generator).views(n, n, device));
    const auto& matrix = A.matrix();
    ASSERT_LE(HierarchicalMatrix<E>::held_memory({matrix}), 3 * matrix.memory().tree() + (1 << 16));
    pools = std::max(pools, matrix.on_gpu()->matrix().tree().pools.size());
  }
  EXPECT_LT(pools, 60U);
  EXPECT_EQ(A.matrix().memory().host, 0);
  expect_same_bits(A.matrix().to_csr(), matrix_of(n, n, map));
  expect_true_account(A.matrix());
}

TEST_F(EditsOnOneGpu, TakeBlocksByColumnsAndArraysOfTheHost) {
  using E = block<double, 2, 3>;
  Seed seed(94);
  const auto matrix = random_matrix<E>({.rows = 50, .columns = 50, .per_row = 5}, seed.generator);
  const auto there = made_there(matrix, 16, device);
  const std::vector<Index> row{3, 40}, column{7, 8};
  const std::vector<double> by_columns{1, 4, 2, 5, 3, 6, -1, -4, -2, -5, -3, -6};
  CooView<E> view{50, 50, 2, row.data(), column.data(), by_columns.data(), column_major};
  const auto expect = [&](const HierarchicalMatrix<E>& edited) {
    for (int k = 0; k < 6; ++k) {
      EXPECT_EQ(edited.find(3, 7)->component[k], k + 1);
      EXPECT_EQ(edited.find(40, 8)->component[k], -k - 1);
    }
  };
  expect(there.edited({.set = view}));
  const Array<double> values(std::span<const double>(by_columns), device);
  const Array<Index> row_there(std::span<const Index>(row), device);
  const Array<Index> column_there(std::span<const Index>(column), device);
  view = {50, 50, 2, row_there.data(), column_there.data(), values.data(), column_major, device};
  expect(there.edited({.set = view}));
  expect(HierarchicalMatrix<E>(matrix, 16).edited({.set = view}));  // on the host
}

TEST_F(EditsOnOneGpu, FailAsThoseOfTheHostAndChangeNothing) {
  using E = real<double>;
  Seed seed(95);
  const auto matrix = random_matrix<E>({.rows = 30, .columns = 40, .per_row = 5}, seed.generator);
  const HierarchicalMatrix<E> here(matrix, 16);
  EditableMatrix<E> there(made_there(matrix, 16, device));
  const auto expect = [&](ErrorKind kind, Edits<E> edits) {
    const auto message = message_of([&] { here.edited(edits.batch()); });
    expect_error(kind, message, [&] { there.edit(edits.views(30, 40, device)); });
    expect_error(kind, message, [&] { there.edit(edits.batch()); });
    expect_same_bits(there.matrix().to_csr(), here.to_csr());
  };
  Index free = 0;
  while (here.find(2, free)) ++free;
  Edits<E> outside, twice, missing;
  outside.set(1, 2, {{1}});
  outside.add(30, 2, {{1}});
  expect(ErrorKind::out_of_range, outside);
  outside = {};
  outside.set(-1, 2, {{1}});
  expect(ErrorKind::out_of_range, outside);
  twice.set(9, 9, {{1}});
  twice.set(1, 2, {{1}});
  twice.add(9, 9, {{1}});
  expect(ErrorKind::usage, twice);
  missing.set(9, 9, {{1}});
  missing.remove(2, free, {{1}});
  expect(ErrorKind::out_of_range, missing);
  expect_error(ErrorKind::size_mismatch,
               "edits of a matrix of 3 x 4 entries do not fit one of 30 x 40", [&] {
                 Edits<E> other;
                 other.set(1, 1, {{1}});
                 there.edit(other.views(3, 4, device));
               });
}

/// If an edit runs out of memory anywhere, the matrix stays unchanged, and the memory is returned.
TEST_F(EditsOnOneGpu, RefusedMemoryLeavesTheMatrixAsItWas) {
  using E = real<double>;
  Seed seed(98);
  constexpr Index n = 700;
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  RefusingMemory memory(own.memory());
  const Device gpu = Device::cuda(0, stream.get(), &memory);
  auto map = map_of(random_matrix<E>({.rows = n, .columns = n, .per_row = 7}, seed.generator));
  const auto before = matrix_of(n, n, map);
  const auto matrix = made_there(before, 32, gpu);
  Edits<E> edits = random_edits<Edits>(n, n, 300, map, seed.generator);
  const auto after = matrix_of(n, n, map);
  const EditViews<E> views = edits.views(n, n, own);
  own.synchronize();
  expect_same_bits(matrix.to_csr(), before);
  const long long live = memory.live;
  int refused = 0;
  for (bool is_done = false; !is_done; ++refused) {
    ASSERT_LT(refused, 300);
    memory.allow(refused);
    try {
      const auto edited = matrix.edited(views);
      memory.allow_all();
      expect_same_bits(edited.to_csr(), after);
      is_done = true;
    } catch (const Error& error) {
      memory.allow_all();
      EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
      EXPECT_EQ(memory.live, live) << refused;
    }
    expect_same_bits(matrix.to_csr(), before);
    ASSERT_FALSE(HasFailure()) << refused;
  }
  EXPECT_GT(refused, 1);
}

/// An edit waits for work on another stream that has yet to write its arrays.
TEST_F(EditsOnOneGpu, WaitForTheStreamOfTheArrays) {
  using E = real<double>;
  Seed seed(99);
  constexpr Index n = 900;
  auto map = map_of(random_matrix<E>({.rows = n, .columns = n, .per_row = 5}, seed.generator));
  const OwnStream stream;
  const Device other = Device::cuda(0, stream.get());
  Array<std::byte> busy(std::size_t(256) << 20, other);
  /// A copy of an array, queued after some milliseconds of work.
  const auto later = [&]<class T>(const T* from, std::size_t count) {
    Array<T> to(count, other);
    for (int k = 0; k < 20; ++k) detail::fill_bytes(busy.data(), k, busy.size(), other.stream());
    detail::copy_bytes(to.data(), from, count * sizeof(T), other.stream());
    return to;
  };
  const auto matrix = matrix_of(n, n, map);
  const Array<Offset> offsets(matrix.offsets().span(), device);
  const Array<Index> column(matrix.column().span(), device);
  const Array<double> values(matrix.values().span(), device);
  device.synchronize();
  {
    const auto o = later(offsets.data(), offsets.size());
    const auto c = later(column.data(), column.size());
    const auto v = later(values.data(), values.size());
    const HierarchicalMatrix<E> made(
        CsrView<E>{n, n, o.data(), c.data(), v.data(), row_major, other}, 32, device);
    expect_same_bits(made.to_csr(), matrix);
  }
  const auto there = made_there(matrix, 32, device);
  Edits<E> edits;
  for (Index i = 0; i < 40; ++i) {
    edits.set(7 * i, 11 * i, {{i + 0.5}});
    map[{7 * i, 11 * i}] = {{i + 0.5}};
  }
  EditViews<E> views = edits.views(n, n, device);
  device.synchronize();
  const auto count = static_cast<std::size_t>(views.set.entries);
  const auto r = later(views.set.row, count), c = later(views.set.column, count);
  const auto v = later(views.set.values, count);
  views.set = {n, n, views.set.entries, r.data(), c.data(), v.data(), row_major, other};
  expect_same_bits(there.edited(views).to_csr(), matrix_of(n, n, map));
}

}  // namespace
}  // namespace edits_gpu
