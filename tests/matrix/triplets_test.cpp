// Assembly from triplets.
#include "heddle/triplets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/entries.hpp"
#include "support/counted_heap.hpp"

namespace {

using namespace heddle;

template <class E>
using Triplets = std::vector<Triplet<E>>;

template <class E>
Assembled<E> assembled_by(int threads, Index rows, Index columns, const Triplets<E>& triplets) {
  return assemble<E>(rows, columns, std::span<const Triplet<E>>(triplets), Device::cpu(threads));
}

/// `count` triplets at random places, many of them in a few rows.
template <class E>
Triplets<E> random_triplets(Index rows, Index columns, int count, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<Index> row(0, rows - 1), column(0, columns - 1);
  Triplets<E> triplets(count);
  for (auto& [r, c, value] : triplets) {
    r = uniform(generator) < 0.8 ? row(generator) : rows / 2;
    c = column(generator);
    for (auto& component : value.component) {
      component = static_cast<stored_scalar_t<E>>(uniform(generator));
    }
  }
  return triplets;
}

template <class E>
void expect_sums(const CsrMatrix<E>& matrix, const Triplets<E>& triplets) {
  // Summed in the given order, so that the numbers agree to the last bit.
  std::map<std::pair<Index, Index>, E> expected;
  for (const auto& [row, column, value] : triplets) {
    const auto [place, is_new] = expected.try_emplace({row, column}, value);
    if (!is_new) place->second = add(place->second, value);
  }
  ASSERT_EQ(matrix.entries(), static_cast<Offset>(expected.size()));
  auto next = expected.begin();
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i, ++next) {
      ASSERT_EQ(std::make_pair(row, matrix.column()[i]), next->first);
      for (int k = 0; k < E::components; ++k) {
        ASSERT_EQ(matrix.entry(i).component[k], next->second.component[k]);
      }
    }
  }
}

template <class E>
void expect_assembly() {
  const std::vector<std::tuple<Index, Index, int>> cases = {
      {1, 1, 0},     {1, 1, 5},     {7, 3, 1},       {40, 30, 600},
      {300, 1, 500}, {1, 300, 500}, {999, 77, 30000}};
  for (const auto& [rows, columns, count] : cases) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " +
                   std::to_string(count) + " triplets, seed " + std::to_string(seed));
      const auto triplets = random_triplets<E>(rows, columns, count, seed);
      for (int threads : {1, 2}) {
        const auto assembled = assembled_by(threads, rows, columns, triplets);
        EXPECT_EQ(assembled.matrix.rows(), rows);
        EXPECT_EQ(assembled.matrix.columns(), columns);
        EXPECT_EQ(assembled.map.triplets(), triplets.size());
        expect_sums(assembled.matrix, triplets);
      }
    }
  }
}

TEST(Assemble, SumsDuplicatesInTheOrderGiven) {
  expect_assembly<real<double>>();
  expect_assembly<real<float, 3>>();
  expect_assembly<quaternion<double>>();
  expect_assembly<block<float, 2, 3>>();
}

TEST(Assemble, TakesAnEmptyMatrix) {
  const auto assembled = assembled_by<quaternion<double>>(2, 0, 0, {});
  EXPECT_EQ(assembled.matrix.rows(), 0);
  EXPECT_EQ(assembled.matrix.entries(), 0);
}

TEST(Assemble, TakesSeparateArrays) {
  using E = complex<double>;
  const auto triplets = random_triplets<E>(50, 60, 1000, 1);
  std::vector<Index> row, column;
  std::vector<double> values;
  for (const auto& triplet : triplets) {
    row.push_back(triplet.row);
    column.push_back(triplet.column);
    values.insert(values.end(), triplet.value.component, triplet.value.component + 2);
  }
  expect_sums(assemble<E>(50, 60, row, column, values).matrix, triplets);
  values.pop_back();
  EXPECT_THROW(assemble<E>(50, 60, row, column, values), Error);
}

TEST(Assemble, NamesTheFirstTripletOutOfRange) {
  using E = real<double>;
  auto triplets = random_triplets<E>(10, 20, 1000, 1);
  const auto message = [&] {
    std::string text;
    for (int threads : {1, 2}) {
      try {
        assembled_by(threads, 10, 20, triplets);
        ADD_FAILURE() << "accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_range);
        if (threads > 1) {
          EXPECT_EQ(text, error.what());
        }
        text = error.what();
      }
    }
    return text;
  };
  triplets[700].row = 10;
  EXPECT_EQ(message(), "triplet 700 names row 10, but there are 10 rows, counted from 0");
  triplets[400].column = -1;
  EXPECT_EQ(message(), "triplet 400 names column -1, but there are 20 columns, counted from 0");
}

TEST(Assemble, RefusesDuplicatesOfEntriesWithoutASum) {
  using E = stored_as<float, quaternion<double>>;
  Triplets<E> triplets = {{2, 1, {{1, 2, 3, 4}}}, {0, 0, {{5, 6, 7, 8}}}};
  const auto assembled = assembled_by(2, 3, 3, triplets);
  EXPECT_EQ(assembled.matrix.entry(1).component[3], 4);
  triplets.push_back({2, 1, {{0, 0, 0, 1}}});
  try {
    assembled_by(2, 3, 3, triplets);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(std::string(error.what()),
              "triplets 0 and 2 both name row 2, column 1, but encoded entries have no sum; add "
              "them before encoding");
  }
}

TEST(ValueMap, SumsNewValuesWithoutAllocating) {
  using E = quaternion<double>;
  const auto triplets = random_triplets<E>(200, 100, 4000, 1);
  auto assembled = assembled_by(2, 200, 100, triplets);
  auto renewed = random_triplets<E>(200, 100, 4000, 2);
  std::vector<double> values;
  for (std::size_t i = 0; i < renewed.size(); ++i) {
    renewed[i].row = triplets[i].row;
    renewed[i].column = triplets[i].column;
    values.insert(values.end(), renewed[i].value.component, renewed[i].value.component + 4);
  }
  const Stream stream{2};
  const long before = heap_allocations;
  assembled.map.apply(values, assembled.matrix.values().span(), stream);
  EXPECT_EQ(heap_allocations, before);
  expect_sums(assembled.matrix, renewed);
  assembled.map.apply(std::span<const Triplet<E>>(triplets), assembled.matrix.values().span());
  expect_sums(assembled.matrix, triplets);
}

TEST(ValueMap, RefusesSizesThatDoNotFit) {
  using E = complex<float>;
  auto assembled = assembled_by(1, 9, 9, random_triplets<E>(9, 9, 30, 1));
  const std::vector<float> values(59);
  try {
    assembled.map.apply(values, assembled.matrix.values().span());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::size_mismatch);
    EXPECT_EQ(std::string(error.what()),
              "the value map has 30 triplets of 2 scalars each, but was given 59 scalars");
  }
}

TEST(Triplets, SizesAreOfAnyIntegralType) {
  const std::vector<Triplet<real<double>>> triplets = {{1, 2, {{5}}}};
  const auto matrix = assemble<real<double>>(std::size_t{2}, 3L, triplets).matrix;
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.columns(), 3);
  EXPECT_THROW(assemble<real<double>>(std::int64_t{1} << 32, 3, triplets), Error);
  EXPECT_THROW(assemble<real<double>>(-1, 3, triplets), Error);
}

}  // namespace
