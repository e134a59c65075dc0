// Products and Jacobi for entries from a definition, compared with the same entry as a C++ type.
#include "heddle/runtime/defined_operator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "entries/dual_complex.hpp"
#include "entries/printed/symmetric_block.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

const auto dual = dual_complex_definition();

const auto symmetric = definition_of(R"json({
  "name": "symmetric-block", "members": ["xx", "yy", "xy"], "vector_members": ["x", "y"],
  "multiply": {"x": "a.xx * x.x + a.xy * x.y", "y": "a.xy * x.x + a.yy * x.y"},
  "inverse": {"xx": "a.yy / (a.xx * a.yy - a.xy * a.xy)",
              "yy": "a.xx / (a.xx * a.yy - a.xy * a.xy)",
              "xy": "-a.xy / (a.xx * a.yy - a.xy * a.xy)"},
  "adjoint": {"xx": "a.xx", "yy": "a.yy", "xy": "a.xy"}})json");

/// The tolerance is the rounding of the longest row.
template <class S>
void expect_close(const FieldView<const S>& expected, const FieldView<const S>& actual,
                  double largest) {
  const double tolerance = 32 * static_cast<double>(std::numeric_limits<S>::epsilon()) * largest;
  for (Index row = 0; row < expected.size; ++row) {
    for (int k = 0; k < expected.components; ++k) {
      const double difference = std::abs(static_cast<double>(expected.at(row, k)) -
                                         static_cast<double>(actual.at(row, k)));
      ASSERT_TRUE(difference <= tolerance) << "row " << row << ", component " << k;
    }
  }
}

/// An upper bound on sums, for entries in [-1, 1] and x in [-1, 1].
template <class E>
double largest_sum(const CsrMatrix<E>& matrix) {
  Index longest = 1;
  for (Index row = 0; row < matrix.rows(); ++row) {
    longest = std::max(longest, matrix.view().pattern().length(row));
  }
  return static_cast<double>(longest) * E::components;
}

template <class E>
void check_products(const std::shared_ptr<const EntryDefinition>& definition,
                    const std::string& layout) {
  using S = stored_scalar_t<E>;
  std::vector<PatternRequest> requests = odd_patterns();
  for (const PatternRequest& request : odd_rectangular_patterns()) requests.push_back(request);
  requests.push_back({.name = "many groups", .rows = 5000, .columns = 5000, .per_row = 9});
  std::uint64_t number = 1;
  for (const PatternRequest& request : requests) {
    SCOPED_TRACE(request.name + (" under " + layout));
    const Plan plan = parse_plan(layout + ",schedule=dynamic,chunk=1,prefetch-x=256");
    const bool is_square = request.rows == request.columns;
    if (!is_square && plan.layout.sort_window != 1 && plan.layout.basis == BasisUse::permuted)
      continue;
    Seed seed(number++);
    const CsrMatrix<E> matrix = random_matrix<E>(request, seed.generator);
    const Device device = Device::cpu(3);
    const Operator<E> typed(matrix, plan, device);
    const DefinedOperator<S> defined(as_defined(matrix, definition), plan, device);
    EXPECT_EQ(defined.has_adjoint(), has_adjoint<E>);
    EXPECT_EQ(defined.compulsory_bytes(), typed.compulsory_bytes());
    const double largest = largest_sum(matrix);
    const auto field = [&](bool is_random) {
      Field<E> made(matrix.rows(), device, plan.layout.vector, typed.row_basis());
      if (is_random)
        permute<S>(random_field<E>(matrix.rows(), seed.generator), made, S(1), device.stream());
      return made;
    };
    Field<E> x(matrix.columns(), device, plan.layout.vector, typed.column_basis());
    permute<S>(random_field<E>(matrix.columns(), seed.generator), x, S(1), device.stream());
    Field<E> expected = field(true), y = expected;
    typed.apply(S(0.5), x, S(-2), expected, device.stream());
    defined.apply(S(0.5), x, S(-2), y, device.stream());
    expect_close<S>(expected, y, largest + 2);

    const Field<E> b = field(true);
    Reduction<S> reduction(matrix.rows());
    Field<E> r = field(false), expected_r = field(false);
    const double expected_norm = typed.residual(b, x, expected_r, reduction, device.stream());
    const double norm = defined.residual(b, x, r, reduction, device.stream());
    expect_close<S>(expected_r, r, largest);
    EXPECT_TRUE(std::abs(norm - expected_norm) <= 1e-12 * expected_norm) << norm;
    if (!is_square) continue;

    // One thread and three give the same bits; y may hold anything if it is not read.
    Field<E> one = field(false), three = field(false);
    for (S& value : three.scalars()) value = std::numeric_limits<S>::quiet_NaN();
    const double dot_one = defined.apply_dot(x, one, reduction, Device::cpu(1).stream());
    const double dot_three = defined.apply_dot(x, three, reduction, device.stream());
    EXPECT_EQ(dot_one, dot_three);
    for (std::size_t i = 0; i < one.scalars().size(); ++i) {
      ASSERT_EQ(one.scalars()[i], three.scalars()[i]) << i;
    }
  }
}

TEST(DefinedOperator, MultipliesAsTheTypeDoes) {
  check_products<dual_complex<double>>(dual, "CSR");
  check_products<heddle_user::symmetric_block_entry<double>>(symmetric, "CSR");
}
TEST(DefinedOperator, MultipliesInSinglePrecision) {
  check_products<dual_complex<float>>(dual, "CSR");
  check_products<heddle_user::symmetric_block_entry<float>>(symmetric, "CSR");
}
TEST(DefinedOperator, MultipliesUnderEveryPlan) {
  for (const char* plan : {"CSR,inner=soa,vector=soa", "C=4", "sigma=8", "C=4,T=2,inner=aosoa",
                           "C=8,threshold=2,inner=aosoa16,vector=soa", "pJDS,T=2,use=scatter",
                           "ELL", "C=16,inner=soa"}) {
    check_products<dual_complex<double>>(dual, plan);
    check_products<heddle_user::symmetric_block_entry<float>>(symmetric, plan);
  }
  check_products<dual_complex<double>>(dual, "K2rs");
}

TEST(DefinedOperator, NotANumberReachesOnlyRowsThatReadIt) {
  Seed seed(5);
  const CsrMatrix<dual_complex<double>> matrix = random_matrix<dual_complex<double>>(
      {.rows = 300, .columns = 300, .per_row = 3}, seed.generator);
  const DefinedOperator<double> A(as_defined(matrix, dual), Plan{}, Device::cpu(2));
  Field<dual_complex<double>> x = random_field<dual_complex<double>>(300, seed.generator), y(300);
  for (int k = 0; k < 4; ++k) x.view().at(17, k) = std::nan("");
  A.apply(1, x, 0, y, Device::cpu(2).stream());
  for (Index row = 0; row < 300; ++row) {
    bool reads = false;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      reads = reads || matrix.column()[i] == 17;
    }
    EXPECT_EQ(std::isnan(y[row].component[0]), reads) << row;
  }
}

template <class E>
void check_jacobi(const std::shared_ptr<const EntryDefinition>& definition, E one,
                  const char* layout = "CSR") {
  using S = stored_scalar_t<E>;
  Seed seed(11);
  Pattern pattern =
      random_pattern({.rows = 601, .columns = 601, .per_row = 3, .diagonal = true}, seed.generator);
  CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      if (matrix.column()[i] != row) continue;
      for (int k = 0; k < E::components; ++k) {
        matrix.values()[i * E::components + k] += 3 * one.component[k];
      }
    }
  }
  const Device device = Device::cpu(2);
  const Operator<E> typed(matrix, parse_plan(layout), device);
  const DefinedOperator<S> defined(as_defined(matrix, definition), typed.plan(), device);
  Field<E> r = typed.field(), expected = typed.field(), z = typed.field();
  permute<S>(random_field<E>(matrix.rows(), seed.generator), r, S(1), device.stream());
  Jacobi<E>(typed).apply(r, expected, device.stream());
  DefinedJacobi<S>(defined).apply(r, z, device.stream());
  expect_close<S>(expected, z, 4);
}

TEST(DefinedJacobi, AppliesTheInversesOfTheType) {
  check_jacobi<dual_complex<double>>(dual, {{1, 0, 0, 0}});
  check_jacobi<dual_complex<float>>(dual, {{1, 0, 0, 0}});
  check_jacobi<dual_complex<double>>(dual, {{1, 0, 0, 0}}, "pJDS,T=2,inner=soa,vector=soa");
  check_jacobi<heddle_user::symmetric_block_entry<double>>(symmetric, {{1, 1, 0}});
}

TEST(DefinedJacobi, NamesTheFirstRowThatIsNotFinite) {
  using E = dual_complex<double>;
  const Pattern diagonal{4, 4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}};
  const Pattern hole{3, 3, {0, 1, 2, 3}, {0, 2, 1}};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<E> entries = {
      {{1, 0, 0, 0}}, {{1, 2, 0, 0}}, {{0, 0, nan, 0}}, {{nan, 0, 0, 0}}};
  const auto message_of = [&](const Pattern& pattern, const std::vector<E>& values,
                              const char* plan = "CSR") {
    const DefinedOperator<double> A(as_defined(matrix_of(pattern, values), dual), parse_plan(plan),
                                    Device::cpu(1));
    try {
      const DefinedJacobi<double> jacobi(A);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::singular);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message_of(diagonal, entries).find("row 2 "), std::string::npos);
  const Pattern longer{4, 4, {0, 1, 2, 3, 5}, {0, 1, 2, 2, 3}};  // rows are sorted: 3, 0, 1, 2
  EXPECT_NE(message_of(longer, {entries[0], entries[0], entries[2], entries[0], entries[1]}, "pJDS")
                .find("row 2 "),
            std::string::npos);
  // Holes, and zero divisors, b eps alone, count as 1.
  EXPECT_EQ(message_of(hole, {entries[0], entries[0], entries[0]}), "no error");
  EXPECT_EQ(message_of(diagonal, {entries[0], entries[1], {{0, 0, 1, 0}}, entries[0]}), "no error");
}

TEST(DefinedOperator, IterationsReadFloats) {
  using E = dual_complex<double>;
  Seed seed(13);
  const CsrMatrix<E> matrix =
      random_matrix<E>({.rows = 300, .columns = 300, .per_row = 3}, seed.generator);
  const Device device = Device::cpu(2);
  const Plan plan = parse_plan("C=4,inner=aosoa16,stored=float");
  const DefinedOperator<double> A(as_defined(matrix, dual), plan, device),
      B = DefinedOperator<double>(as_defined(matrix, dual), parse_plan("prefetch-x=0", plan),
                                  device)
              .scheduled(plan);
  EXPECT_LT(A.iterated().bytes_of_product(), A.bytes_of_product());
  // The same entries, but rounded to floats first.
  CsrMatrix<E> rounded = matrix;
  for (double& value : rounded.values()) value = static_cast<float>(value);
  const DefinedOperator<double> of_rounded(as_defined(rounded, dual), parse_plan("C=4"), device);
  const Field<E> x = random_field<E>(300, seed.generator);
  Field<E> expected(300), y(300), z(300);
  of_rounded.apply(1, x, 0, expected, device.stream());
  A.iterated().apply(1, x, 0, y, device.stream());
  B.iterated().apply(1, x, 0, z, device.stream());
  EXPECT_EQ(y.scalars().to_host(), expected.scalars().to_host());
  EXPECT_EQ(z.scalars().to_host(), expected.scalars().to_host());
}

/// The copies decode as those of the printed type do.
TEST(DefinedOperator, IterationsReadEncodedCopies) {
  using E = dual_complex<double>;
  Seed seed(15);
  CsrMatrix<E> matrix =
      random_matrix<E>({.rows = 300, .columns = 300, .per_row = 3}, seed.generator);
  const Device device = Device::cpu(2);
  const Field<E> x = random_field<E>(300, seed.generator);
  for (const std::string kept : {"half", "bfloat", "scaled", "dictionary"}) {
    SCOPED_TRACE(kept);
    const bool is_exact = kept == "dictionary";
    for (std::size_t i = 0; is_exact && i < matrix.values().size(); ++i) {
      matrix.values()[i] =
          std::sin(double(i / E::components * 7 % 250) + 300.0 * (i % E::components));
    }
    const Plan plan = parse_plan("C=4,inner=aosoa16,iteration-precision=" + kept);
    const DefinedOperator<double> A(as_defined(matrix, dual), plan, device);
    const Operator<E> of_type(matrix, plan, device);
    const auto words = [](const auto& of) {
      const auto stored = of.iterated().stored_values();
      return std::vector<std::byte>(stored.begin(), stored.end());
    };
    EXPECT_EQ(words(A), words(of_type));
    Field<E> y(300), z(300), own(300);
    A.iterated().apply(1, x, 0, y, device.stream());
    of_type.iterated().apply(1, x, 0, z, device.stream());
    A.apply(1, x, 0, own, device.stream());
    double rounding = 0, encoding = 0;
    for (std::size_t i = 0; i < y.scalars().size(); ++i) {
      rounding = std::max(rounding, std::abs(y.scalars()[i] - z.scalars()[i]));
      encoding = std::max(encoding, std::abs(y.scalars()[i] - own.scalars()[i]));
    }
    EXPECT_FALSE(!(rounding <= 1e-13)) << rounding;
    EXPECT_FALSE(!(encoding <= 0.1)) << encoding;
    EXPECT_EQ(encoding == 0, is_exact);
  }
}

TEST(DefinedOperator, TakesNewValues) {
  using E = dual_complex<double>;
  Seed seed(14);
  Pattern pattern =
      random_pattern({.rows = 200, .columns = 200, .per_row = 3, .diagonal = true}, seed.generator);
  const CsrMatrix<E> first = random_matrix_of<E>(pattern, seed.generator),
                     second = random_matrix_of<E>(pattern, seed.generator);
  const Device device = Device::cpu(2);
  const Plan plan = parse_plan("pJDS,inner=soa,stored=float");
  DefinedOperator<double> A(as_defined(first, dual), plan, device);
  const DefinedOperator<double> fresh(as_defined(second, dual), plan, device);
  DefinedJacobi<double> jacobi(A);
  A.update_values(second.values().span());
  jacobi.refresh();
  Field<E> x(200, device, plan.layout.vector, A.column_basis());
  permute<double>(random_field<E>(200, seed.generator), x, 1, device.stream());
  const auto images = [&](const LinearOperator<double>& of, const DefinedJacobi<double>& inverses) {
    std::vector<std::vector<double>> all;
    Field<E> y(200, device, plan.layout.vector, A.row_basis());
    for (const LinearOperator<double>* one : {&of, &of.iterated()}) {
      one->apply(1, x, 0, y, device.stream());
      all.push_back(y.scalars().to_host());
    }
    inverses.apply(x, y, device.stream());
    all.push_back(y.scalars().to_host());
    return all;
  };
  EXPECT_EQ(images(A, jacobi), images(fresh, DefinedJacobi<double>(fresh)));
  EXPECT_THROW(A.update_values(second.values().span().first(8)), Error);
}

ScalarMatrix numbers(Index rows, Index columns, const std::vector<double>& dense) {
  Pattern pattern{rows, columns, {0}, {}};
  std::vector<real<double>> values;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const double value = dense[static_cast<std::size_t>(i * columns + j)];
      if (value == 0) continue;
      pattern.column.push_back(j);
      values.push_back({{value}});
    }
    pattern.offsets.push_back(static_cast<Offset>(values.size()));
  }
  return {matrix_of(pattern, values)};
}

std::vector<double> values_of(const DefinedMatrix<double>& matrix) {
  return {matrix.values().begin(), matrix.values().end()};
}

TEST(DefinedMatrix, FoldsComponentsAndRepresentations) {
  const std::vector<double> entries = {1, 2, 3, 4, 5, 6};  // xx yy xy, twice on the diagonal
  const auto components = numbers(6, 2, {1, 0, 2, 0, 3, 0, 0, 4, 0, 5, 0, 6});
  const auto tiles = numbers(4, 4, {1, 3, 0, 0, 3, 2, 0, 0, 0, 0, 4, 6, 0, 0, 6, 5});
  EXPECT_EQ(values_of(fold<double>(components, symmetric)), entries);
  EXPECT_EQ(values_of(fold<double>(tiles, symmetric)), entries);
  const auto bad = numbers(4, 4, {1, 3, 0, 0, 3, 2, 0, 0, 0, 0, 4, 6, 0, 0, 6.001, 5});
  try {
    fold<double>(bad, symmetric);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("tile (1, 1) is not the 2 x 2"), 0u) << error.what();
  }
}

TEST(DefinedMatrix, FoldsComplexNumbersWhereTheRingIsComplex) {
  const Pattern pattern{2, 2, {0, 1, 3}, {0, 0, 1}};  // [a 0; b a]
  const ScalarMatrix file{
      matrix_of<heddle::complex<double>>(pattern, {{{1, 2}}, {{3, 4}}, {{1, 2}}})};
  EXPECT_EQ(values_of(fold<double>(file, dual)), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_THROW(fold<double>(file, symmetric), Error);
}

TEST(DefinedMatrix, ReadsOnlyComponentsWhereTheRepresentationMixesThem) {
  const auto golden = definition_of(R"json({
    "name": "golden", "members": ["a", "b"],
    "multiply": {"a": "a.a * x.a + a.b * x.b", "b": "a.a * x.b + a.b * (x.a + x.b)"}})json");
  EXPECT_EQ(values_of(fold<double>(numbers(2, 1, {2, 3}), golden)), (std::vector<double>{2, 3}));
  EXPECT_THROW(fold<double>(numbers(2, 2, {2, 3, 3, 5}), golden), Error);
}

TEST(DefinedMatrix, RefusesArraysThatDoNotFit) {
  const auto make = [](std::vector<double> values, std::vector<Index> column) {
    const std::vector<Offset> offsets = {0, 1, 2};
    return DefinedMatrix<double>(dual, 2, 2, Array<Offset>(std::span<const Offset>(offsets)),
                                 Array<Index>(std::span<const Index>(column)),
                                 Array<double>(std::span<const double>(values)));
  };
  EXPECT_NO_THROW(make(std::vector<double>(8), {0, 1}));
  EXPECT_THROW(make(std::vector<double>(7), {0, 1}), Error);
  EXPECT_THROW(make(std::vector<double>(8), {0, 2}), Error);
  EXPECT_THROW(make(std::vector<double>(8), {0}), Error);
}

}  // namespace
