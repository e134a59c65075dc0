// Runs in the release.
// Entries expanded into tiles of numbers, and recovered from them.
#include "heddle/expansion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "entries/dense.hpp"
#include "entries/dual_complex.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/triplets.hpp"
#include "support/expect_error.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

struct Shape {
  Index rows, columns;
  int triplets;
};
const std::vector<Shape> shapes = {{0, 0, 0},     {1, 1, 1},     {1, 1, 0},     {5, 5, 9},
                                   {37, 37, 150}, {300, 7, 500}, {3, 400, 500}, {700, 700, 3000}};

/// Random entries at random places; some rows stay empty.
template <class E>
CsrMatrix<E> random_matrix(const Shape& shape, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<Triplet<E>> triplets;
  for (int i = 0; i < shape.triplets; ++i) {
    const auto row = static_cast<Index>(generator() % shape.rows);
    const auto column = static_cast<Index>(generator() % shape.columns);
    if (std::none_of(triplets.begin(), triplets.end(), [&](const Triplet<E>& other) {
          return other.row == row && other.column == column;
        })) {
      triplets.push_back({row, column, random<E>(generator)});
    }
  }
  return assemble<E>(shape.rows, shape.columns, std::span<const Triplet<E>>(triplets)).matrix;
}

template <class T>
std::vector<T> copied(const Array<T>& array) {
  return {array.begin(), array.end()};
}

template <class E>
void expect_same(const CsrMatrix<E>& a, const CsrMatrix<E>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  ASSERT_EQ(copied(a.offsets()), copied(b.offsets()));
  ASSERT_EQ(copied(a.column()), copied(b.column()));
  ASSERT_EQ(copied(a.values()), copied(b.values()));
}

/// The matrix without explicit zeros, with each row's columns reversed.
template <class X>
CsrMatrix<X> thinned_and_reversed(const CsrMatrix<X>& given) {
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  std::vector<stored_scalar_t<X>> values;
  for (Index row = 0; row < given.rows(); ++row) {
    for (Offset i = given.offsets()[row + 1] - 1; i >= given.offsets()[row]; --i) {
      const X value = given.entry(i);
      if (std::all_of(value.component, value.component + X::components,
                      [](auto c) { return c == 0; })) {
        continue;
      }
      column.push_back(given.column()[i]);
      values.insert(values.end(), value.component, value.component + X::components);
    }
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  return {given.rows(), given.columns(), Array<Offset>(offsets), Array<Index>(column),
          Array<stored_scalar_t<X>>(values)};
}

/// A dense matrix of scalars, row by row.
template <class S>
CsrMatrix<real<S>> dense_matrix(Index rows, Index columns, const std::vector<S>& values) {
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    for (Index c = 0; c < columns; ++c) column.push_back(c);
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  return {rows, columns, Array<Offset>(offsets), Array<Index>(column), Array<S>(values)};
}

/// Floats fold like doubles: one float entry stands for all unless every entry is taken.
template <class E>
constexpr bool is_taken = HEDDLE_TEST_EVERY_ENTRY || std::is_same_v<stored_scalar_t<E>, double> ||
                          std::is_same_v<E, quaternion<float>>;

template <class F>
void for_every_entry(F&& check) {
  for (const std::string_view kind : entry_kind_names) {
    for (const std::string_view precision : precision_names) {
      SCOPED_TRACE(std::string(kind) + " " + std::string(precision));
      visit_entry(parse_entry_kind(kind), parse_precision(precision), [&]<class E>() {
        if constexpr (is_taken<E>) check.template operator()<E>();
      });
    }
  }
  SCOPED_TRACE("an entry not built in");
  check.template operator()<real<double, 3>>();
  check.template operator()<block<double, 2, 3>>();
  check.template operator()<block<complex<float>, 3, 1>>();
  check.template operator()<dual_complex<double>>();
}

TEST(Expansion, FoldsBackToTheSameMatrix) {
  for_every_entry([]<class E>() {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + ", seed 5");
      const auto matrix = random_matrix<E>(shape, 5);
      const auto expanded = expand(matrix);
      EXPECT_EQ(expanded.rows(), shape.rows * tile_rows<E>);
      EXPECT_EQ(expanded.columns(), shape.columns * tile_columns<E>);
      EXPECT_EQ(expanded.entries(), matrix.entries() * tile_rows<E> * tile_columns<E>);
      for (int threads : {1, 2}) {
        const Device device = Device::cpu(threads);
        expect_same(fold<E>(expanded, Tiling::expansion, device), matrix);
        expect_same(fold<E>(thinned_and_reversed(expanded), Tiling::expansion, device), matrix);
      }
      if (shape.rows == shape.columns) expect_same(fold<E>(expanded), matrix);
      if constexpr (has_complex_representation<E>) {
        const auto over_complex = expand_complex(matrix);
        EXPECT_EQ(over_complex.rows(), shape.rows * tile_rows<E> / 2);
        EXPECT_EQ(over_complex.columns(), shape.columns * tile_columns<E> / 2);
        expect_same(fold<E>(over_complex, Tiling::expansion), matrix);
        expect_same(fold<E>(thinned_and_reversed(over_complex), Tiling::expansion), matrix);
      }
    }
  });
}

TEST(Expansion, KeepsTheSignOfZero) {
  for (std::size_t kind = 0; kind < entry_kind_names.size(); ++kind) {
    SCOPED_TRACE(entry_kind_names[kind]);
    visit_entry<double>(static_cast<EntryKind>(kind), [&]<class E>() {
      std::vector<Triplet<E>> triplets(2);
      for (Index i = 0; i < 2; ++i) {
        auto& triplet = triplets[static_cast<std::size_t>(i)];
        triplet.column = i;
        for (int k = 0; k < E::components; ++k) {
          triplet.value.component[k] = (k + i) % 3 == 0 ? -0. : (k + i) % 3 == 1 ? 0. : k - 1.5;
        }
      }
      const auto matrix = assemble<E>(1, 2, std::span<const Triplet<E>>(triplets)).matrix;
      const auto expect_same_bits = [&](const CsrMatrix<E>& back) {
        ASSERT_EQ(back.values().size(), matrix.values().size());
        for (std::size_t i = 0; i < back.values().size(); ++i) {
          EXPECT_EQ(back.values()[i], matrix.values()[i]);
          EXPECT_EQ(std::signbit(back.values()[i]), std::signbit(matrix.values()[i])) << i;
        }
      };
      expect_same_bits(fold<E>(expand(matrix).view(), Tiling::expansion));
      if constexpr (has_complex_representation<E>) {
        expect_same_bits(fold<E>(expand_complex(matrix).view(), Tiling::expansion));
      }
    });
  }
}

TEST(Expansion, HoldsTheRepresentationOfEveryEntry) {
  for_every_entry([]<class E>() {
    const auto matrix = random_matrix<E>({20, 30, 80}, 2);
    const auto expanded = expand(matrix);
    constexpr int R = tile_rows<E>, C = tile_columns<E>;
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        const Dense tile = rep(matrix.entry(i));
        for (int a = 0; a < R; ++a) {
          const Offset from = expanded.offsets()[row * R + a] + (i - matrix.offsets()[row]) * C;
          for (int b = 0; b < C; ++b) {
            ASSERT_EQ(expanded.column()[from + b], matrix.column()[i] * C + b);
            ASSERT_EQ(expanded.values()[from + b], tile(a, b));
          }
        }
      }
    }
  });
}

TEST(Expansion, ReadsBlocksByColumns) {
  using E = block<complex<double>, 2, 3>;
  const auto matrix = random_matrix<E>({4, 4, 6}, 3);
  Array<double> by_columns(matrix.values().size());
  for (Offset i = 0; i < matrix.entries(); ++i) {
    for (int k = 0; k < E::components; ++k) {
      const int part = k % 2, row = k / 2 / 3, column = k / 2 % 3;
      by_columns[i * E::components + (column * 2 + row) * 2 + part] = matrix.entry(i).component[k];
    }
  }
  auto view = matrix.view();
  view.values = by_columns.data();
  view.order = column_major;
  expect_same(expand(view), expand(matrix));
}

TEST(Expansion, ReadsNarrowOffsetsAndNarrowStorage) {
  using E = stored_as<float, quaternion<double>>;
  const auto matrix = random_matrix<E>({6, 6, 12}, 4);
  const std::vector<std::int32_t> offsets(matrix.offsets().begin(), matrix.offsets().end());
  auto view = matrix.view();
  view.offsets = OffsetsView(offsets.data());
  const CsrMatrix<real<double>> expanded = expand(view);
  expect_same(fold<E>(expanded), matrix);
}

/// K m x n scalars: the components of each entry are stacked vertically.
template <class E>
CsrMatrix<real<stored_scalar_t<E>>> columns_of_components(const CsrMatrix<E>& matrix) {
  using S = stored_scalar_t<E>;
  std::vector<Triplet<real<S>>> triplets;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      for (int k = 0; k < E::components; ++k) {
        triplets.push_back(
            {row * E::components + k, matrix.column()[i], {{matrix.entry(i).component[k]}}});
      }
    }
  }
  return assemble<real<S>>(matrix.rows() * E::components, matrix.columns(),
                           std::span<const Triplet<real<S>>>(triplets))
      .matrix;
}

TEST(Fold, ReadsColumnsOfComponents) {
  for_every_entry([]<class E>() {
    for (const Shape& shape : shapes) {
      const auto matrix = random_matrix<E>(shape, 6);
      const auto columns = columns_of_components(matrix);
      expect_same(fold<E>(columns, Tiling::components), matrix);
      expect_same(fold<E>(thinned_and_reversed(columns), Tiling::components), matrix);
    }
  });
}

TEST(Fold, ChoosesTheTilingThatYieldsASquareMatrix) {
  for (const Index n : {1, 4, 8, 13}) {
    const auto q = random_matrix<quaternion<double>>({n, n, 3 * n}, 7);
    expect_same(fold<quaternion<double>>(expand(q)), q);
    expect_same(fold<quaternion<double>>(columns_of_components(q)), q);
    const auto d = random_matrix<dual_quaternion<double>>({n, n, 3 * n}, 8);
    expect_same(fold<dual_quaternion<double>>(expand(d)), d);
    expect_same(fold<dual_quaternion<double>>(columns_of_components(d)), d);
  }
  // Neither tiling is square: 5 columns are not a multiple of 4, 8 are.
  const auto narrow = random_matrix<quaternion<double>>({9, 5, 20}, 9);
  expect_same(fold<quaternion<double>>(columns_of_components(narrow)), narrow);
  const auto wide = random_matrix<quaternion<double>>({9, 2, 12}, 9);
  expect_same(fold<quaternion<double>>(expand(wide)), wide);
}

TEST(Fold, RoundsToTheScalarOfTheEntry) {
  const auto matrix = random_matrix<quaternion<double>>({30, 30, 100}, 10);
  const auto narrow = fold<quaternion<float>>(expand(matrix));
  ASSERT_EQ(narrow.entries(), matrix.entries());
  for (std::size_t i = 0; i < matrix.values().size(); ++i) {
    ASSERT_EQ(narrow.values()[i], static_cast<float>(matrix.values()[i]));
  }
  const auto wide = fold<quaternion<double>>(expand(narrow));
  for (std::size_t i = 0; i < wide.values().size(); ++i) {
    ASSERT_EQ(wide.values()[i], narrow.values()[i]);
  }
}

/// Adds `change` to the number at (row, column) of an expansion.
template <class X>
void disturb(CsrMatrix<X>& matrix, Index row, Index column, double change, int part = 0) {
  for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
    if (matrix.column()[i] == column) matrix.values()[i * X::components + part] += change;
  }
}

TEST(Fold, NamesTheFirstBadTile) {
  using Q = quaternion<double>;
  std::vector<Triplet<Q>> triplets;
  for (Index i = 0; i < 2000; ++i) triplets.push_back({i, (i * 7) % 2000, {{1, 0.5, -2, 4}}});
  const auto matrix = assemble<Q>(2000, 2000, std::span<const Triplet<Q>>(triplets)).matrix;
  auto expanded = expand(matrix);
  // An error within 1e-12 of the tile's largest number, 4, is accepted.
  disturb(expanded, 1, 1, 3.9e-12);
  EXPECT_NO_THROW(fold<Q>(expanded));
  disturb(expanded, 1, 1, -3.9e-12);
  disturb(expanded, 4 * 1900 + 2, 4 * (1900 * 7 % 2000), 1);
  disturb(expanded, 4 * 3 + 1, 4 * 21 + 2, 0.25);
  for (int threads : {1, 2, 4}) {
    expect_error(ErrorKind::malformed_file,
                 "tile (3, 21) is not the 4 x 4 representation of an entry: scalar row 13, column "
                 "86 is -3.75, but must be -4 as at row 15, column 84 (counted from 0); choose the "
                 "entry that the matrix was written for",
                 [&] { fold<Q>(expanded, Tiling::automatic, Device::cpu(threads)); });
  }
}

TEST(Fold, NamesNumbersWhereARepresentationHasZeros) {
  using D = dual_quaternion<double>;
  std::vector<double> values(64, 0.0);
  for (int i = 0; i < 8; ++i) values[i * 8 + i] = 2;
  EXPECT_NO_THROW(fold<D>(dense_matrix(8, 8, values)));
  values[1 * 8 + 6] = 1e-3;
  expect_error(ErrorKind::malformed_file,
               "tile (0, 0) is not the 8 x 8 representation of an entry: scalar row 1, column 6 is "
               "0.001, but must be 0 (counted from 0); choose the entry that the matrix was "
               "written for",
               [&] { fold<D>(dense_matrix(8, 8, values)); });
}

TEST(Fold, RefusesARealMatrixThatIsNoComplexExpansion) {
  EXPECT_THROW(fold<complex<double>>(dense_matrix<double>(2, 2, {2, -1, -1, 2})), Error);
  const auto a = fold<complex<double>>(dense_matrix<double>(2, 2, {2, -1, 1, 2}));
  ASSERT_EQ(a.entries(), 1);
  EXPECT_EQ(a.entry(0).re(), 2);
  EXPECT_EQ(a.entry(0).im(), 1);
  const auto b = fold<complex<double>>(dense_matrix<double>(2, 1, {3, 4}));
  EXPECT_EQ(b.entry(0).re(), 3);
  EXPECT_EQ(b.entry(0).im(), 4);
}

TEST(Fold, RefusesNumbersThatAreNotFiniteInARepresentation) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity}) {
    EXPECT_THROW(fold<complex<double>>(dense_matrix<double>(2, 2, {bad, -1, 1, bad})), Error);
    EXPECT_THROW(fold<complex<double>>(dense_matrix<double>(2, 2, {1, -bad, bad, 1})), Error);
  }
}

TEST(Fold, NamesTheBadPartOfAComplexTile) {
  using E = dual_complex<double>;
  auto expanded = expand_complex(random_matrix<E>({3, 3, 9}, 11));
  const Index row = [&] {
    Index first = 0;
    while (expanded.offsets()[first + 1] == 0) ++first;
    return first;
  }();
  disturb(expanded, row + 1, expanded.column()[expanded.offsets()[row]] + 1, 1, 1);
  try {
    fold<E>(expanded);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the imaginary part at scalar row 1"),
              std::string::npos)
        << error.what();
  }
}

TEST(Fold, RefusesShapesThatDoNotDivide) {
  const auto ten = dense_matrix(10, 10, std::vector<double>(100, 1.0));
  expect_error(ErrorKind::size_mismatch,
               "a 10 x 10 real matrix does not divide into tiles of 3 x 3, one per entry; choose "
               "the entry that the matrix was written for",
               [&] { fold<block<double, 3, 3>>(ten); });
  expect_error(ErrorKind::size_mismatch,
               "a 10 x 10 real matrix does not divide into tiles of 4 x 4, one per entry; choose "
               "the entry that the matrix was written for",
               [&] { fold<quaternion<double>>(ten); });
  expect_error(ErrorKind::size_mismatch,
               "a 10 x 10 real matrix does not divide into tiles of 4 x 1, one per entry; choose "
               "the entry that the matrix was written for",
               [&] { fold<quaternion<double>>(ten, Tiling::components); });
}

TEST(Fold, RefusesComplexIntoEntriesOverOtherNumbers) {
  const auto matrix = random_matrix<complex<double>>({12, 12, 30}, 12);
  const auto refused = [&]<class E>() {
    expect_error(
        ErrorKind::unsupported,
        "a complex matrix cannot be folded into entries that are not over complex numbers; "
        "choose a complex entry",
        [&] { fold<E>(matrix); });
  };
  refused.operator()<real<double>>();
  refused.operator()<quaternion<double>>();
  refused.operator()<dual_quaternion<double>>();
  refused.operator()<block<double, 3, 3>>();
  expect_same(fold<complex<double>>(matrix), matrix);
  EXPECT_EQ((fold<block<complex<double>, 3, 3>>(matrix).rows()), 4);
}

}  // namespace
