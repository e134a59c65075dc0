// Copies that hold the entries exactly in fewer bytes: a dictionary, and reals times units.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/product_check.hpp"

namespace exact_copies {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Entries with few distinct values, by bits: zeros of both signs, denormal numbers and neighbours.
template <class E>
CsrMatrix<E> of_few_values(Generator& generator) {
  using S = stored_scalar_t<E>;
  CsrMatrix<E> matrix = random_matrix<E>({.rows = 83, .columns = 83}, generator);
  const S one = 1;
  const S odd[] = {
      S(0), -S(0), std::numeric_limits<S>::denorm_min(), one, std::nextafter(one, S(2)), S(-1.5)};
  for (Offset i = 0; i < matrix.entries(); ++i) {
    const auto kind = static_cast<int>(generator() % 200);
    for (int k = 0; k < E::components; ++k) {
      matrix.values()[static_cast<std::size_t>(i * E::components + k)] =
          kind < 6 ? odd[(kind + k) % 6] : std::sin(S(kind + 300 * k));
    }
  }
  return matrix;
}

/// A x, for the copy that iterations read or for the matrix itself.
template <class E>
std::vector<vector_scalar_t<E>> image(const LinearOperator<vector_scalar_t<E>>& A,
                                      const Field<E>& users_x, Index rows) {
  using S = vector_scalar_t<E>;
  Field<E> x(A.columns(), A.device(), A.vector_layout(), A.column_basis());
  Field<E> y(A.rows(), A.device(), A.vector_layout(), A.row_basis()), users_y(rows);
  const Stream stream{2};
  permute<S>(users_x.view(), x.view(), 1, stream);
  A.apply(1, x.view(), 0, y.view(), stream);
  permute<S>(y.view(), users_y.view(), 1, stream);
  return {users_y.scalars().begin(), users_y.scalars().end()};
}

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0;
}

template <class E>
class Dictionary : public testing::Test {};
using Listed =
    testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(Dictionary, Listed);

TYPED_TEST(Dictionary, MultipliesToTheSameBitsInAllLayouts) {
  using E = TypeParam;
  Seed seed(2311);
  CsrMatrix<E> matrix = of_few_values<E>(seed.generator);
  const Field<E> x = random_field<E>(83, seed.generator);
  for (Plan plan : covering_layouts(seed.generator)) {
    plan.layout.stored = StoredScalar::dictionary;
    SCOPED_TRACE(to_string(plan));
    Operator<E> A(matrix, plan, Device::cpu(2));
    poison_padding(A);
    const Offset slots = A.pattern().slots;
    EXPECT_EQ(A.memory().copy, (slots + 15) / 16 * 16 + 256 * Offset(sizeof(E)));
    EXPECT_EQ(Offset(A.iterated().stored_values().size()), A.memory().copy);
    ASSERT_TRUE(same_bits(image<E>(A, x, 83), image<E>(A.iterated(), x, 83)));
    CsrMatrix<E> other = matrix;
    for (auto& value : other.values()) value *= 3;
    A.update_values(other);
    ASSERT_TRUE(same_bits(image<E>(A, x, 83), image<E>(A.iterated(), x, 83)));
  }
}

/// Checks a refusal, and that it changed nothing.
template <class E>
void expect_refusal(const CsrMatrix<E>& good, const CsrMatrix<E>& bad, const Plan& plan,
                    const std::string& says) {
  Operator<E> A(good, plan);
  Seed seed(2312);
  const Field<E> x = random_field<E>(good.columns(), seed.generator);
  const auto own = image<E>(A, x, good.rows()), copy = image<E>(A.iterated(), x, good.rows());
  for (const bool is_new : {true, false}) {
    try {
      if (is_new) {
        const Operator<E> B(bad, plan);
      } else {
        A.update_values(bad);
      }
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_plan);
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(same_bits(own, image<E>(A, x, good.rows())));
  EXPECT_TRUE(same_bits(copy, image<E>(A.iterated(), x, good.rows())));
}

TEST(DictionaryEnds, RefusesMoreThan256ValuesAndLeavesThingsAsTheyWere) {
  using E = real<double>;
  Seed seed(2313);
  auto matrix = random_matrix<E>({.rows = 400, .columns = 400}, seed.generator);
  ASSERT_GT(matrix.entries(), 300);
  auto many = matrix;
  for (Offset i = 0; i < matrix.entries(); ++i) {
    matrix.values()[static_cast<std::size_t>(i)] = double(i % 256);
    many.values()[static_cast<std::size_t>(i)] = double(i % 257);
  }
  const Index row = [&] {
    Index at = 0;
    while (many.view().offsets[at + 1] <= 256) ++at;
    return at;
  }();
  expect_refusal(matrix, many, parse_plan("CSR,iteration-precision=dictionary"),
                 "the entry of row " + std::to_string(row) + ", column ");
}

/// Units times one of a few reals, some with nearly equal or vanishing components.
template <class E>
CsrMatrix<E> of_units(Generator& generator) {
  using S = stored_scalar_t<E>;
  CsrMatrix<E> matrix = random_matrix<E>({.rows = 83, .columns = 83}, generator);
  std::normal_distribution<double> normal;
  const double reals[] = {1, -1, 4, 0, std::sqrt(2.0), 1e-7, 1e6};
  for (Offset i = 0; i < matrix.entries(); ++i) {
    double q[4], squares = 0;
    for (int k = 0; k < 4; ++k) {
      q[k] = normal(generator);
      if (i % 5 == 1) q[k] = 1 + 1e-9 * q[k];
      if (i % 5 == 2 && k != i % 4) q[k] = i % 2 == 0 ? 0.0 : -0.0;
      if (i % 5 == 3 && k != i % 4) q[k] *= 1e-320;
      if (i % 5 == 4 && k == 0) q[k] = 0;
      squares += q[k] * q[k];
    }
    const double real = reals[generator() % 7];
    for (int k = 0; k < 4; ++k) {
      matrix.values()[static_cast<std::size_t>(4 * i + k)] =
          static_cast<S>(q[k] / std::sqrt(squares) * real);
    }
  }
  return matrix;
}

template <class S>
void expect_units(unsigned number) {
  using E = quaternion<S>;
  using Kept = heddle::encoded<unit_code, E>;
  Seed seed(number);
  const CsrMatrix<E> matrix = of_units<E>(seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=unit"));
  const Offset slots = A.pattern().slots;
  const S* const words = reinterpret_cast<const S*>(A.iterated().stored_values().data());
  const S* const table = trailing_table<Kept>(words, slots);
  CsrMatrix<E> decoded = matrix;
  for (Offset i = 0; i < slots; ++i) {
    const E is = PackedValues<Kept>{words}(i, 0).load(table);
    const S* const own = matrix.values().data() + 4 * i;
    long double off = 0, norm = 0;
    for (int k = 0; k < 4; ++k) {
      off += std::pow(static_cast<long double>(is.component[k]) - own[k], 2);
      norm += static_cast<long double>(own[k]) * own[k];
      decoded.values()[static_cast<std::size_t>(4 * i + k)] = is.component[k];
    }
    const long double ulp = std::ldexp(std::sqrt(norm), 1 - std::numeric_limits<S>::digits);
    ASSERT_FALSE(!(std::sqrt(off) <= 4 * ulp)) << i;
    for (int k = 0; k < 4; ++k) {
      if (own[k] != 0 || i % 5 == 4) continue;
      EXPECT_EQ(is.component[k], 0) << i;
      EXPECT_EQ(std::signbit(own[k]), std::signbit(is.component[k])) << i;
    }
  }
  const Problem<E> problem(decoded, seed.generator);
  for (Plan plan : covering_layouts(seed.generator)) {
    plan.layout.stored = StoredScalar::unit;
    SCOPED_TRACE(to_string(plan));
    Operator<E> B(matrix, plan, Device::cpu(2));
    poison_padding(B);
    EXPECT_EQ(B.memory().copy,
              (B.pattern().slots * Offset(3 * sizeof(S)) + 15) / 16 * 16 + 16 * Offset(sizeof(S)));
    expect_product(B, problem, 1, 0, seed.generator,
                   [&](auto alpha, const auto& x, auto beta, const auto& y) {
                     B.iterated().apply(alpha, x, beta, y, Stream{2});
                   });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Units, AreWithinFourUlpOfTheEntryAndMultiplyInAllLayouts) {
  expect_units<double>(2314);
  expect_units<float>(2315);
}

/// A GPU's reciprocal, from the worst estimates, except for the number just below 2.
template <class S>
void expect_reciprocals(unsigned number, double estimate_off) {
  Seed seed(number);
  std::uniform_real_distribution<S> anywhere(1, 2), off(S(-estimate_off), S(estimate_off));
  const S eps = std::numeric_limits<S>::epsilon();
  for (int i = 0; i < 100000; ++i) {
    const S d = i % 3 == 0   ? 2 - S(i / 3 + 2) * eps
                : i % 3 == 1 ? 1 + S(i / 3) * eps
                             : anywhere(seed.generator);
    const S estimate = static_cast<S>(1 / d * (1 + off(seed.generator)));
    ASSERT_EQ(reciprocal_from(d, estimate), 1 / d) << i << " " << d;
  }
}

TEST(Units, HaveTheReciprocalOfADivisionOnAGpu) {
  expect_reciprocals<double>(2319, std::ldexp(1.0, -18));
  expect_reciprocals<float>(2320, std::ldexp(1.0, -24));
}

TEST(Units, RefuseTheSeventeenthRealAndLeaveThingsAsTheyWere) {
  using E = quaternion<double>;
  Seed seed(2316);
  const auto matrix = of_units<E>(seed.generator);
  auto many = matrix;
  for (Offset i = 0; i < many.entries(); ++i) {
    for (int k = 0; k < 4; ++k) {
      many.values()[static_cast<std::size_t>(4 * i + k)] = k == 2 ? double(1 + i % 17) : 0;
    }
  }
  Index row = 0;
  while (many.view().offsets[row + 1] <= 16) ++row;
  expect_refusal(matrix, many, parse_plan("CSR,iteration-precision=unit"),
                 "the entry of row " + std::to_string(row) + ", column ");
  many = matrix;
  many.values()[4 * 7 + 1] = std::numeric_limits<double>::quiet_NaN();
  expect_refusal(matrix, many, parse_plan("CSR,iteration-precision=unit"), "is not a unit times");
}

TEST(Units, OfRealNumbersAreRefusedByName) {
  Seed seed(2317);
  const auto matrix = random_matrix<real<double>>({.rows = 9, .columns = 9}, seed.generator);
  expect_error(ErrorKind::bad_plan,
               "plan: iteration-precision=unit is for quaternions of floats or doubles; leave it "
               "out",
               [&] { Operator<real<double>>(matrix, parse_plan("iteration-precision=unit")); });
}

/// -1 on a random pattern, and 40 on the diagonal, which makes the matrix definite.
TEST(ExactCopies, TakeTheIterationsOfTheMatrix) {
  using E = quaternion<double>;
  Seed seed(2318);
  auto matrix = random_positive_definite_matrix<E>(300, 5, seed.generator);
  for (Index row = 0; row < 300; ++row) {
    for (Offset i = matrix.view().offsets[row]; i < matrix.view().offsets[row + 1]; ++i) {
      const bool is_diagonal = matrix.view().column[i] == row;
      for (int k = 0; k < 4; ++k) {
        matrix.values()[static_cast<std::size_t>(4 * i + k)] =
            is_diagonal ? (k == 0 ? 40.0 : 0.0) : (k == 0 ? -1.0 : 0.0);
      }
    }
  }
  const Field<E> b = random_field<E>(300, seed.generator);
  std::array<Report, 3> reports;
  const char* const kept[] = {"full", "dictionary", "unit"};
  for (std::size_t i = 0; i < 3; ++i) {
    const Operator<E> A(matrix, parse_plan(std::string("iteration-precision=") + kept[i]));
    ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-11});
    Field<E> x(300);
    reports[i] = solver.solve(b.view(), x.view());
    EXPECT_TRUE(reports[i].converged()) << kept[i];
    EXPECT_EQ(reports[i].iterations, reports[0].iterations) << kept[i];
    EXPECT_EQ(reports[i].restarts, 0) << kept[i];
  }
  EXPECT_EQ(reports[1].residual, reports[0].residual);
}

/// Values that cannot be refused on arrival, like those of an assembly.
TEST(ExactCopies, StepAsideForValuesThatTheyRefuse) {
  using E = real<double>;
  Seed seed(2321);
  auto good = random_positive_definite_matrix<E>(300, 5, seed.generator);
  auto bad = good;
  for (Index row = 0; row < 300; ++row) {
    for (Offset i = good.view().offsets[row]; i < good.view().offsets[row + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      good.values()[at] = bad.values()[at] = good.view().column[i] == row ? 40 : -1;
      if (good.view().column[i] == row) bad.values()[at] += 0.1 * row;
    }
  }
  const Field<E> b = random_field<E>(300, seed.generator);
  Operator<E> A(good, parse_plan("iteration-precision=dictionary"));
  ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-9});
  for (const auto* matrix : {&good, &bad, &good}) {
    const bool fits = matrix == &good;
    A.place_values(std::as_bytes(std::span(matrix->values())), ComponentOrder::row_major, Stream{});
    A.values_changed();
    EXPECT_EQ(&A.iterated() != &A, fits);
    Field<E> x(300);
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.detail, fits ? ""
                                  : "iteration-precision=dictionary refuses the newest values, "
                                    "iterations read the matrix");
  }
  EXPECT_THROW(A.update_values(bad), Error);
}

}  // namespace
}  // namespace exact_copies
