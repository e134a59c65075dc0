// Products and adjoints of assembled matrices on a GPU: the same patterns and places as on the CPU,
// number by number, and the same values up to rounding.
#include "heddle/matrix_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "entries/dual_complex.hpp"
#include "heddle/multiply.hpp"
#include "heddle/operator.hpp"
#include "solvers/tiles/tile_patterns_cuda.hpp"
#include "solvers/tiles/tile_products.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace matrix_product_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using cuda::DevicePattern, cuda::DevicePlaces;
using heddle::detail::ProductPlaces, heddle::detail::TileMatrix;

class PatternsOnGpu : public OnGpu {};
class ProductsOnGpu : public OnGpu {};

TileMatrix tiles_of(const Pattern& pattern) {
  TileMatrix a;
  a.shape = {2, 2, 1};
  a.columns = pattern.columns;
  a.pattern.offsets = Array<Offset>(std::span<const Offset>(pattern.offsets));
  a.pattern.column = Array<Index>(std::span<const Index>(pattern.column));
  return a;
}

DevicePattern on_gpu(const TileMatrix& a, const Device& device) {
  DevicePattern pattern;
  pattern.offsets = Array<Offset>(a.pattern.offsets.span(), device);
  pattern.column = Array<Index>(a.pattern.column.span(), device);
  pattern.rows = a.rows();
  pattern.columns = a.columns;
  return pattern;
}

template <class T>
std::vector<T> vector_of(const Array<T>& array) {
  return {array.begin(), array.end()};
}

void expect_same(const DevicePattern& found, const TileMatrix& expected) {
  EXPECT_EQ(found.rows, expected.rows());
  EXPECT_EQ(found.columns, expected.columns);
  EXPECT_EQ(found.offsets.to_host(), vector_of(expected.pattern.offsets));
  EXPECT_EQ(found.column.to_host(), vector_of(expected.pattern.column));
  Offset longest = 0;
  for (Index row = 0; row < expected.rows(); ++row) {
    longest = std::max(longest, expected.pattern.begin(row + 1) - expected.pattern.begin(row));
  }
  EXPECT_EQ(found.longest, longest);
}

void expect_same(const DevicePlaces& found, const ProductPlaces& expected) {
  EXPECT_EQ(found.first.to_host(), vector_of(expected.first));
  EXPECT_EQ(found.mirror.to_host(), vector_of(expected.mirror));
  const auto expect_terms = [&](const auto& places) {
    const auto bytes = std::as_bytes(places.span());
    ASSERT_EQ(static_cast<std::size_t>(found.bytes), sizeof places[0]);
    const std::vector<unsigned char> terms = found.of_terms.to_host();
    ASSERT_EQ(terms.size(), bytes.size());
    EXPECT_TRUE(std::equal(terms.begin(), terms.end(),
                           reinterpret_cast<const unsigned char*>(bytes.data())));
  };
  if (expected.longest <= 0xff) return expect_terms(expected.bytes);
  if (expected.longest <= 0xffff) return expect_terms(expected.halves);
  expect_terms(expected.words);
}

void expect_product(const TileMatrix& a, const TileMatrix& b, bool is_hermitian,
                    const Device& device) {
  ProductPlaces places;
  const Device host = Device::cpu();
  const TileMatrix expected = product_pattern(a, b, is_hermitian, host.stream(), places);
  const DevicePattern left = on_gpu(a, device), right = on_gpu(b, device);
  const DevicePattern found = cuda::product_pattern(left, right, device);
  expect_same(found, expected);
  expect_same(cuda::product_places(left, right, found, is_hermitian, device), places);
}

void expect_adjoint(const TileMatrix& a, const Device& device) {
  Array<Offset> place, expected_place;
  const DevicePattern found = cuda::adjoint_pattern(on_gpu(a, device), place, device);
  expect_same(found, adjoint_pattern(a, Device::cpu().stream(), expected_place));
  EXPECT_EQ(place.to_host(), vector_of(expected_place));
}

TEST_F(PatternsOnGpu, AreThoseOfTheCpu) {
  Seed seed(7201);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    SCOPED_TRACE(request.name);
    const TileMatrix a = tiles_of(random_pattern(request, seed.generator));
    PatternRequest of_b{.rows = request.columns, .columns = 700, .empty_rows = true};
    expect_product(a, tiles_of(random_pattern(of_b, seed.generator)), false, device);
    of_b.dense_row = true;
    expect_product(a, tiles_of(random_pattern(of_b, seed.generator)), false, device);
    of_b.per_row = 0, of_b.dense_row = false;
    expect_product(a, tiles_of(random_pattern(of_b, seed.generator)), false, device);
    expect_adjoint(a, device);
  }
}

TEST_F(PatternsOnGpu, HaveRowsOfEveryLength) {
  Seed seed(7202);
  for (const Index columns : {40, 300, 4000, 70'000}) {
    for (const int per_row : {1, 12, 90}) {
      SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(per_row) + " a row");
      const PatternRequest request{
          .rows = 700, .columns = 500, .per_row = per_row, .empty_rows = true, .dense_row = true};
      const TileMatrix a = tiles_of(random_pattern(request, seed.generator));
      const TileMatrix b = tiles_of(random_pattern(
          {.rows = 500, .columns = columns, .per_row = 17, .dense_row = per_row == 12},
          seed.generator));
      expect_product(a, b, false, device);
      expect_adjoint(b, device);
    }
  }
}

TEST_F(PatternsOnGpu, OfHermitianProductsAreHalf) {
  Seed seed(7203);
  for (const bool dense_row : {false, true}) {
    const TileMatrix a = tiles_of(random_pattern(
        {.rows = 900, .columns = 900, .per_row = 3, .dense_row = dense_row, .diagonal = true},
        seed.generator));
    Array<Offset> place;
    const TileMatrix transpose = adjoint_pattern(a, Device::cpu().stream(), place);
    expect_product(transpose, a, true, device);
    expect_product(a, a, true, device);  // not symmetric
  }
}

template <class E>
void expect_same_pattern(const CsrMatrix<E>& found, const CsrMatrix<E>& expected) {
  EXPECT_EQ(found.columns(), expected.columns());
  ASSERT_EQ(vector_of(found.offsets()), vector_of(expected.offsets()));
  ASSERT_EQ(vector_of(found.column()), vector_of(expected.column()));
}

/// Compares values up to the rounding of sums of `terms` terms of about 1.
template <class E>
void expect_near(const CsrMatrix<E>& found, const CsrMatrix<E>& expected, double terms) {
  expect_same_pattern(found, expected);
  const double bound = terms * std::numeric_limits<stored_scalar_t<E>>::epsilon();
  for (std::size_t k = 0; k < expected.values().size(); ++k) {
    const double difference = double(found.values()[k]) - double(expected.values()[k]);
    ASSERT_TRUE(std::abs(difference) <= bound) << k << ": " << difference;
  }
}

/// With many columns, rows are also multiplied in windows, which requires sorted rows, and are
/// longer.
template <class A, class B = A>
void expect_products(std::uint64_t number, const Device& device, Index columns = 60) {
  Seed seed(number);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    SCOPED_TRACE(request.name);
    const auto a = random_matrix<A>(request, seed.generator);
    const Pattern of_b = random_pattern({.rows = request.columns,
                                         .columns = columns,
                                         .empty_rows = true,
                                         .dense_row = columns > 60,
                                         .sorted = columns > 60},
                                        seed.generator);
    const auto b = random_matrix_of<B>(of_b, seed.generator);
    const double terms = 16.0 * (request.columns + 1);
    expect_near(multiply(a, b, device), multiply(a, b), terms);
    ProductOnGpu product(a, b, device);
    const auto again = random_matrix_of<B>(of_b, seed.generator);
    product.update_values(a.values().data(), again.values().data());
    expect_near(product.to_host(), multiply(a, again), terms);
    const auto adjoint_a = adjoint(a);
    expect_near(adjoint(a, device), adjoint_a, 0);
  }
}

TEST_F(ProductsOnGpu, AreThoseOfTheCpu) {
  expect_products<real<double>>(7211, device);
  expect_products<complex<double>>(7212, device);
  expect_products<quaternion<double>>(7213, device);
  expect_products<block<double, 3, 3>>(7214, device);
  expect_products<block<complex<double>, 3, 3>>(7215, device);
  expect_products<block<double, 2, 3>, block<double, 3, 6>>(7216, device);
  expect_products<block<double, 3, 3>, block<double, 3, 6>>(7219, device, 400);
  expect_products<block<double, 6, 3>, block<double, 3, 6>>(7220, device);
  expect_products<block<double, 6, 6>>(7222, device, 200);
  expect_products<block<double, 6, 6>>(7223, device, 400);
  expect_products<quaternion<float>>(7217, device);
  expect_products<block<float, 2, 2>>(7218, device);
}

/// P* A P without the host, and an operator made of it.
TEST_F(ProductsOnGpu, FollowEachOther) {
  using E = complex<double>;
  Seed seed(7221);
  const auto A = random_matrix<E>({.rows = 900, .columns = 900, .diagonal = true}, seed.generator);
  const auto P = random_matrix<E>({.rows = 900, .columns = 80, .per_row = 1}, seed.generator);
  AdjointOnGpu restrict(P, device);
  ProductOnGpu image(A, P, device);
  ProductOnGpu<E, E> coarse(restrict.view(), image.view(), device);
  expect_near(coarse.to_host(), multiply(adjoint(P), multiply(A, P)), 1e5);
  const auto other = random_matrix_of<E>(
      {900, 900, {A.offsets().begin(), A.offsets().end()}, {A.column().begin(), A.column().end()}},
      seed.generator);
  image.update_values(other.values().data(), P.values().data());
  coarse.update_values(restrict.values().data(), image.values().data());
  const auto expected = multiply(adjoint(P), multiply(other, P));
  expect_near(coarse.to_host(), expected, 1e5);
  const Field<E> x = random_field<E>(80, seed.generator);
  const Operator<E> there(coarse.view(), parse_plan("CSR"));
  const Operator<E> here(expected, parse_plan("CSR"));
  Field<E> y = here.field(), found = there.field();
  const Field<E> x_there = heddle::test::on_gpu(x, device);
  multiply<double>(here, x.view(), y.view());
  multiply<double>(there, x_there.view(), found.view());
  const auto values = found.to_host().scalars().to_host();
  const auto expected_values = y.scalars().to_host();
  ASSERT_EQ(values.size(), expected_values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(std::abs(values[i] - expected_values[i]) <= 1e-9) << i;
  }
}

TEST_F(ProductsOnGpu, RefuseWhatTheyCannot) {
  Seed seed(7231);
  const PatternRequest square{.rows = 9, .columns = 9};
  const auto dual = random_matrix<dual_quaternion<double>>(square, seed.generator);
  const std::string message = "MatrixProduct of these entries works only on the CPU";
  expect_error(ErrorKind::unsupported, message, [&] { multiply(dual, dual, device); });
  const auto own = random_matrix<dual_complex<double>>(square, seed.generator);
  expect_error(ErrorKind::unsupported, message, [&] { multiply(own, own, device); });
  const auto wide = random_matrix<real<double>>({.rows = 3, .columns = 4}, seed.generator);
  expect_error(ErrorKind::size_mismatch,
               "a product of 3 x 4 and 3 x 4 entries: the inner sizes differ",
               [&] { multiply(wide, wide, device); });
}

}  // namespace
}  // namespace matrix_product_gpu
