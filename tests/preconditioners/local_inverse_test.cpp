// Approximate inverses as kernels compute them, lane by lane on the CPU, against the CPU's own.
#include "heddle/kernels/local_inverse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/operator.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "support/few_entries.hpp"
#include "support/lanes_in_turn.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::local_inverse {
namespace {

struct LanesOfWarp : LanesInTurn {
  /// Acts like a warp whose other teams have a longer row.
  int most(int value) const { return value + 1; }
  template <class F>
  int largest(int begin, int end, const F& f) const {
    int at = begin;
    for (int i = begin + 1; i < end; ++i) {
      if (f(i) > f(at)) at = i;
    }
    return at;
  }
};

template <class Scalar, int K, int Lanes, int Threads, int Piece, bool Planes>
struct LayoutOf {
  using scalar = Scalar;
  static constexpr int components = K, lanes = Lanes, threads = Threads, piece = Piece;
  static constexpr bool planes = Planes;
};

template <class E>
struct PlainTile {
  static constexpr Ring ring = E::ring;
  static constexpr int size = vector_entry_t<E>::components / ring_size(ring);
  static constexpr bool is_plain = true;
  static int component_of(int t) { return t; }
  static int number_of(int k) { return k; }
  static int sign_of(int /*t*/) { return 1; }
  static int sign_of_component(int /*k*/) { return 1; }
};

template <class S>
device::Matrix<S> matrix_on_host(const detail::SlicedOperator<double>& of) {
  const SlicedPattern& A = of.pattern();
  const auto given = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
  return {reinterpret_cast<const S*>(of.stored_values().data()),
          A.column.data(),
          A.offset.data(),
          given(A.row_length),
          given(A.first_row),
          given(A.threads),
          given(A.target),
          A.slots,
          A.rows,
          A.slices(),
          A.C,
          given(A.short_column),
          given(A.column_base)};
}

template <class S>
std::vector<S> values_of(const detail::SlicedOperator<double>& of) {
  std::vector<S> values(of.stored_values().size() / sizeof(S));
  std::memcpy(values.data(), of.stored_values().data(), of.stored_values().size());
  return values;
}

/// The largest difference relative to the largest value.
template <class S>
double difference(const std::vector<S>& a, const std::vector<S>& b) {
  double largest = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double defect = std::abs(double(a[i]) - double(b[i]));
    if (!(defect <= most)) most = defect;
    largest = std::max(largest, std::abs(double(b[i])));
  }
  return most / largest;
}

using device::InversePart;

template <InversePart of, class Tile, class FromLayout, class ToLayout>
struct PlanOf : Tile {
  using From = FromLayout;
  using To = ToLayout;
  static constexpr InversePart part = of;
};

struct Failed {
  Index row[device::row_failures];
};

/// Where a row of the basis is stored.
std::vector<Index> stored_rows_of(const SlicedPattern& pattern) {
  std::vector<Index> stored(static_cast<std::size_t>(pattern.rows));
  for (Index i = 0; i < pattern.rows; ++i) {
    const Index row = pattern.target.empty() ? i : pattern.target[static_cast<std::size_t>(i)];
    stored[static_cast<std::size_t>(row)] = i;
  }
  return stored;
}

/// Values of G or of the inverse, and of G*, as the kernels compute them. `groups`: of blocks.
template <class Plan>
Failed compute(const detail::SlicedOperator<double>& A, const detail::SlicedOperator<double>& G,
               const detail::SlicedOperator<double>* second, std::span<const Index> groups,
               int lanes, bool backwards, std::vector<typename Plan::To::scalar>& first_values,
               std::vector<typename Plan::To::scalar>& second_values) {
  using From = typename Plan::From::scalar;
  using To = typename Plan::To::scalar;
  device::InverseArguments<From, To> a{};
  a.A = matrix_on_host<From>(A);
  a.G = matrix_on_host<To>(G);
  first_values.assign(first_values.size(), 0);
  second_values.assign(second_values.size(), 0);
  a.first = first_values.data();
  a.second = second_values.data();
  const SlicedPattern& pattern = G.pattern();
  std::vector<Offset> second_slot(static_cast<std::size_t>(pattern.slots), -1);
  if (second != nullptr) {
    // Pair the slots by their rows and columns in both patterns.
    const SlicedPattern& other = second->pattern();
    const auto each_entry = [](const SlicedPattern& of, const auto& body) {
      for (Index stored = 0; stored < of.rows; ++stored) {
        const auto place = of.view().place_of(stored);
        const Index row = of.target.empty() ? stored : of.target[static_cast<std::size_t>(stored)];
        const Index length = of.C == 1 ? static_cast<Index>(of.offset[std::size_t(stored) + 1] -
                                                            of.offset[std::size_t(stored)])
                                       : of.row_length[std::size_t(stored)];
        for (Index j = 0; j < length; ++j) {
          const Offset slot = slot_of(place.offset, of.C, place.T, place.r, j);
          body(row, of.column[static_cast<std::size_t>(slot)], slot);
        }
      }
    };
    std::map<std::pair<Index, Index>, Offset> slots;
    each_entry(other, [&](Index row, Index column, Offset slot) { slots[{column, row}] = slot; });
    each_entry(pattern, [&](Index row, Index column, Offset slot) {
      second_slot[static_cast<std::size_t>(slot)] = slots.at({row, column});
    });
    a.second_slots = other.slots;
  }
  a.second_slot = second_slot.data();
  const std::vector<Index> stored_row = stored_rows_of(A.pattern());
  const std::vector<Index> row_of_inverse = stored_rows_of(pattern);
  if (!A.pattern().target.empty()) a.stored_row = stored_row.data();
  if (!pattern.target.empty()) a.row_of_inverse = row_of_inverse.data();
  a.user_row = A.row_basis()->user_rows_on(Device::cpu());
  a.mirror_tolerance = 1e-8;
  std::vector<Index> rows(static_cast<std::size_t>(A.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  if (!groups.empty()) {
    rows.clear();
    for (const Index first : groups.first(groups.size() - 1)) {
      rows.push_back(row_of_inverse[static_cast<std::size_t>(A.row_basis()->position(first))]);
    }
  }
  a.rows = rows.data();
  a.count = static_cast<Index>(rows.size());
  Failed failed;
  std::fill(std::begin(failed.row), std::end(failed.row), A.rows());
  for (int kind = 0; kind < device::row_failures; ++kind) a.failed[kind] = failed.row + kind;
  a.words = static_cast<int>(
      device::words_of_system(Plan::part, A.rows(), Plan::size, ring_size(Plan::ring)));
  for (Index i = 0; i < a.count + 1; ++i) {
    // The room is exactly what a row needs, so that a sanitizer sees accesses beyond it.
    const Index length =
        i == a.count ? 0 : device::place_of_row<typename Plan::To>(a.G, a.rows[i]).length;
    std::vector<double> words(static_cast<std::size_t>(device::words_of_system(
                                  Plan::part, length, Plan::size, ring_size(Plan::ring))),
                              std::nan(""));
    device::invert_row<Plan>(LanesOfWarp{{lanes, backwards}}, a, i, words.data());
  }
  return failed;
}

template <class Plan>
void expect_as_on_cpu(const detail::SlicedOperator<double>& A,
                      const detail::SlicedOperator<double>& first,
                      const detail::SlicedOperator<double>* second, double digits,
                      std::span<const Index> groups = {}) {
  using To = typename Plan::To::scalar;
  const std::vector<To> expected = values_of<To>(first);
  const std::vector<To> of_second = second != nullptr ? values_of<To>(*second) : std::vector<To>{};
  for (const int lanes : {1, 4, 32}) {
    for (const bool backwards : {false, true}) {
      std::vector<To> values = expected, second_values = of_second;
      const Failed failed =
          compute<Plan>(A, first, second, groups, lanes, backwards, values, second_values);
      for (int kind = 0; kind < device::row_failures; ++kind)
        EXPECT_EQ(failed.row[kind], A.rows()) << kind;
      EXPECT_FALSE(!(difference(values, expected) <= digits)) << difference(values, expected);
      if (second == nullptr) continue;
      EXPECT_FALSE(!(difference(second_values, of_second) <= digits))
          << difference(second_values, of_second);
    }
  }
}

template <class E, class Tile, template <class, int> class Layout>
void expect_both(const std::string& plan) {
  SCOPED_TRACE(plan);
  constexpr int K = E::components;
  using From = Layout<stored_scalar_t<E>, K>;
  using Own = PlanOf<InversePart::factor_row, Tile, From, From>;
  Seed seed(4501);
  const auto matrix = random_positive_definite_matrix<E>(41, 4, seed.generator, 0.8);
  const Operator<E> A(matrix, parse_plan(plan));
  for (const int power : {1, 2}) {
    const Fsai fsai(A, power);
    expect_as_on_cpu<Own>(A, fsai.factor(), &fsai.adjoint_factor(), 1e-12);
    const Isai isai(A, power);
    expect_as_on_cpu<PlanOf<InversePart::row, Tile, From, From>>(A, isai.inverse(), nullptr, 1e-12);
  }
  using Block = PlanOf<InversePart::block, Tile, From, From>;
  for (const int entries : {0, 1, 3}) {
    const BlockJacobi blocks(A, entries);
    expect_as_on_cpu<Block>(A, blocks.inverse(), nullptr, 1e-12, blocks.groups());
  }
  const Operator<E> skew(random_dominant_matrix<E>({.rows = 41, .columns = 41}, seed.generator),
                         parse_plan(plan));
  const BlockJacobi blocks(skew, 3);
  expect_as_on_cpu<Block>(skew, blocks.inverse(), nullptr, 1e-12, blocks.groups());
  if constexpr (std::is_same_v<stored_scalar_t<E>, double>) {
    using Narrow = Layout<float, K>;
    const Operator<E> mixed(matrix, parse_plan(plan + ",iteration-precision=single"));
    const Fsai fsai(mixed);
    expect_as_on_cpu<PlanOf<InversePart::factor_row, Tile, From, Narrow>>(
        mixed, fsai.factor(), &fsai.adjoint_factor(), 2e-7);
  }
}

template <class S, int K>
using Csr = LayoutOf<S, K, 1, 1, K, false>;
template <class S, int K>
using Slices = LayoutOf<S, K, 4, 1, K, false>;
template <class S, int K>
using Planes = LayoutOf<S, K, 8, 2, 1, true>;
template <class S, int K>
using Pieces = LayoutOf<S, K, 4, 4, 1, false>;
template <class S, int K>
using WidePieces = LayoutOf<S, K, 8, 1, 16 / int(sizeof(S)), false>;
template <class S, int K>
using OneSlice = LayoutOf<S, K, 0, 1, K, false>;
template <class S, int K>
using ByLength = LayoutOf<S, K, 8, 0, K, false>;

template <class E>
class LocalInverseOf : public testing::Test {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, block<complex<double>, 2, 2>>;
TYPED_TEST_SUITE(LocalInverseOf, FewOf<Entries>);

TYPED_TEST(LocalInverseOf, HasTheValuesOfTheCpu) {
  using E = TypeParam;
  using Tile = PlainTile<E>;
  expect_both<E, Tile, Csr>("CSR");
  expect_both<E, Tile, Csr>("C=1,inner=aosoa");
  expect_both<E, Tile, Slices>("order=rcm,C=4,sigma=16,vector=soa");
  expect_both<E, Tile, Slices>("C=4,sigma=16,use=scatter");
  expect_both<E, Tile, Planes>("C=8,T=2,sigma=8,inner=soa");
  expect_both<E, Tile, Pieces>("C=4,T=4,inner=aosoa");
  expect_both<E, Tile, WidePieces>("C=8,inner=aosoa16,order=rcm");
  expect_both<E, Tile, OneSlice>("C=n");
  expect_both<E, Tile, ByLength>("C=8,threshold=4,sigma=n");
}

/// 8 x 8 numbers made of 8 components, and zeros: a tile that differs from its components.
struct DualTile {
  static constexpr Ring ring = Ring::real;
  static constexpr int size = 8;
  static constexpr bool is_plain = false;
  static const detail::EntryTiles& tiles() {
    static const detail::EntryTiles found = [] {
      const Offset offsets[] = {0, 1};
      const Index column = 0;
      const double values[8] = {1};
      const Operator<dual_quaternion<double>> A({1, 1, offsets, &column, values}, Plan{});
      return detail::tiles_of<double>(A.entry(), "a test");
    }();
    return found;
  }
  static int component_of(int t) { return tiles().component_of[static_cast<std::size_t>(t)].at; }
  static int sign_of(int t) { return tiles().component_of[static_cast<std::size_t>(t)].sign; }
  static int number_of(int k) { return tiles().number_of[static_cast<std::size_t>(k)].at; }
  static int sign_of_component(int k) {
    return tiles().number_of[static_cast<std::size_t>(k)].sign;
  }
};

TEST(LocalInverse, OfTilesThatAreNotTheirComponents) {
  using E = dual_quaternion<double>;
  Seed seed(4502);
  const auto matrix = random_dominant_matrix<E>({.rows = 23, .columns = 23}, seed.generator);
  const Operator<E> A(matrix, parse_plan("C=8,inner=aosoa16,order=rcm"));
  const Isai isai(A, 2);
  using Layout = WidePieces<double, 8>;
  expect_as_on_cpu<PlanOf<InversePart::row, DualTile, Layout, Layout>>(A, isai.inverse(), nullptr,
                                                                       1e-12);
  const BlockJacobi blocks(A, 3);
  expect_as_on_cpu<PlanOf<InversePart::block, DualTile, Layout, Layout>>(
      A, blocks.inverse(), nullptr, 1e-12, blocks.groups());
}

/// Without a rounding error, whichever the order of elimination.
TEST(LocalInverse, BlocksKeepTheirSymmetry) {
  using E = complex<double>;
  Seed seed(4504);
  for (const bool is_hermitian : {true, false}) {
    SCOPED_TRACE(is_hermitian);
    auto matrix = random_positive_definite_matrix<E>(64, 60, seed.generator, 0.8);
    const double sign = is_hermitian ? -1 : 1;
    if (!is_hermitian) {
      for (Index i = 0; i < matrix.rows(); ++i) {
        for (Offset at = matrix.offsets()[std::size_t(i)];
             at < matrix.offsets()[std::size_t(i) + 1]; ++at) {
          double& imaginary = matrix.values()[std::size_t(2 * at + 1)];
          if (matrix.column()[std::size_t(at)] < i) imaginary = -imaginary;
        }
      }
    }
    const Operator<E> A(matrix, parse_plan("CSR"));
    const BlockJacobi blocks(A, 16);
    using Layout = Csr<double, 2>;
    std::vector<double> values = values_of<double>(blocks.inverse()), none;
    compute<PlanOf<InversePart::block, PlainTile<E>, Layout, Layout>>(
        A, blocks.inverse(), nullptr, blocks.groups(), 4, false, values, none);
    for (std::size_t block = 0; block < 4; ++block) {
      for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t j = 0; j < 16; ++j) {
          const double *const a = values.data() + 2 * (256 * block + 16 * i + j),
                              *const b = values.data() + 2 * (256 * block + 16 * j + i);
          EXPECT_EQ(a[0], b[0]);
          EXPECT_EQ(a[1], sign * b[1]);
        }
      }
    }
  }
}

/// A row of zeros counts as one of the identity, and a block without inverse as its columns' sizes.
TEST(LocalInverse, BlocksWithoutInverseCountAsTheirSize) {
  using E = real<double>;
  Seed seed(4505);
  Pattern pattern{9, 9, {0}, {}};
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 3; ++j) pattern.column.push_back(i / 3 * 3 + j);
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  auto matrix = random_matrix_of<E>(pattern, seed.generator);
  double* const values = matrix.values().data();
  for (int k = 0; k < 3; ++k) values[9 + 3 + k] = values[9 + k] = 4;  // two equal rows
  for (int k = 0; k < 3; ++k) values[18 + 3 * k + 1] = values[18 + 3 + k] = 0;
  const Operator<E> A(matrix, parse_plan("CSR"));
  const BlockJacobi blocks(A, 3);
  const std::vector<double> inverse = values_of<double>(blocks.inverse());
  const std::vector<double> second(inverse.begin() + 9, inverse.begin() + 18);
  EXPECT_EQ(second, (std::vector<double>{0.25, 0, 0, 0, 0.25, 0, 0, 0, 0.25}));
  const double *const a = values + 18, *const b = inverse.data() + 18;
  const double determinant = a[0] * a[8] - a[2] * a[6];
  const double expected[] = {a[8] / determinant,  0, -a[2] / determinant, 0, 1, 0,
                             -a[6] / determinant, 0, a[0] / determinant};
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(b[k], expected[k], 1e-12 * std::abs(1 / determinant));
  using Layout = Csr<double, 1>;
  expect_as_on_cpu<PlanOf<InversePart::block, PlainTile<E>, Layout, Layout>>(
      A, blocks.inverse(), nullptr, 1e-12, blocks.groups());
}

/// Reports the first failing row of each kind, in the user's order.
TEST(LocalInverse, NamesTheRowsThatFail) {
  using E = real<double>;
  Seed seed(4503);
  auto matrix = random_positive_definite_matrix<E>(60, 4, seed.generator, 0.8);
  Operator<E> A(matrix, parse_plan("order=rcm,C=4,sigma=16"));
  const Fsai fsai(A);
  const Isai isai(A);
  const auto negate = [&](Index row) {
    for (Offset at = matrix.offsets()[std::size_t(row)];
         at < matrix.offsets()[std::size_t(row) + 1]; ++at) {
      if (matrix.column()[std::size_t(at)] == row) matrix.values()[std::size_t(at)] = -1;
    }
  };
  negate(48);
  negate(31);
  A.update_values(matrix);
  using Layout = Slices<double, 1>;
  std::vector<double> first = values_of<double>(fsai.factor()), second = first;
  second.resize(values_of<double>(fsai.adjoint_factor()).size());
  const Failed failed = compute<PlanOf<InversePart::factor_row, PlainTile<E>, Layout, Layout>>(
      A, fsai.factor(), &fsai.adjoint_factor(), {}, 4, false, first, second);
  EXPECT_EQ(failed.row[device::row_is_singular], 31);
  for (double& value : matrix.values()) value = 0;
  A.update_values(matrix);
  std::vector<double> inverse = values_of<double>(isai.inverse()), none;
  const Failed general = compute<PlanOf<InversePart::row, PlainTile<E>, Layout, Layout>>(
      A, isai.inverse(), nullptr, {}, 8, true, inverse, none);
  EXPECT_EQ(general.row[device::row_is_singular], 0);
  auto singular = random_positive_definite_matrix<E>(60, 4, seed.generator, 0.8);
  Operator<E> of_blocks(singular, parse_plan("order=rcm,C=4,sigma=16"));
  const BlockJacobi blocks(of_blocks, 7);
  for (Offset at = singular.offsets()[38]; at < singular.offsets()[39]; ++at) {
    singular.values()[std::size_t(at)] = std::nan("");
  }
  of_blocks.update_values(singular);
  inverse = values_of<double>(blocks.inverse());
  const Failed of_block = compute<PlanOf<InversePart::block, PlainTile<E>, Layout, Layout>>(
      of_blocks, blocks.inverse(), nullptr, blocks.groups(), 8, true, inverse, none);
  EXPECT_EQ(of_block.row[device::row_is_singular], 35);  // the first of its block
}

}  // namespace
}  // namespace heddle::test::local_inverse
