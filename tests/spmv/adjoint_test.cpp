// A* of sliced matrices, compared with the transposed real representation in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/long_double.hpp"
#include "heddle/operator.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"

namespace adjoint {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Like `reference_product`, with transposed tiles.
template <class E, class S>
Reference reference_adjoint(const CsrMatrix<E>& matrix, const std::vector<S>& y) {
  constexpr int R = result_entry_t<E>::components, C = vector_entry_t<E>::components;
  const auto size = static_cast<std::size_t>(matrix.columns()) * C;
  Reference product{std::vector<long double>(size), std::vector<long double>(size),
                    std::vector<int>(size)};
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const std::vector<long double> tile = dense_tile(matrix.entry(i));
      const auto column = static_cast<std::size_t>(matrix.column()[static_cast<std::size_t>(i)]);
      for (int c = 0; c < C; ++c) {
        const std::size_t at = column * C + static_cast<std::size_t>(c);
        for (int r = 0; r < R; ++r) {
          const long double a = tile[static_cast<std::size_t>(r * C + c)];
          if (a == 0) continue;
          const long double term = a * y[static_cast<std::size_t>(row) * R + std::size_t(r)];
          product.value[at] += term;
          product.magnitude[at] += std::abs(term);
          ++product.terms[at];
        }
      }
    }
  }
  return product;
}

template <class S>
struct RandomField : OwnedField<S> {
  RandomField(Index rows, int components, const LinearOperator<S>& matrix,
              const std::shared_ptr<const Basis>& basis, Generator& generator)
      : OwnedField<S>(rows, components, matrix.vector_layout(), basis) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (S& scalar : this->scalars) scalar = static_cast<S>(uniform(generator));
  }
};

/// A* y, in the user's order.
template <class S>
std::vector<S> applied(const LinearOperator<S>& adjoint, const FieldView<const S>& y) {
  OwnedField<S> x(adjoint.rows(), adjoint.row_components(), adjoint.vector_layout(),
                  adjoint.row_basis(), std::numeric_limits<S>::quiet_NaN());
  adjoint.apply(S(1), y, S(0), x.view, adjoint.device().stream());
  return in_users_order(x.view);
}

template <class E>
void expect_adjoint(const detail::SlicedOperator<vector_scalar_t<E>>& A,
                    const LinearOperator<vector_scalar_t<E>>& adjoint, const CsrMatrix<E>& matrix,
                    Generator& generator) {
  using S = vector_scalar_t<E>;
  ASSERT_EQ(adjoint.rows(), A.columns());
  ASSERT_EQ(adjoint.columns(), A.rows());
  ASSERT_EQ(adjoint.row_basis(), A.column_basis());
  ASSERT_EQ(adjoint.column_basis(), A.row_basis());
  const RandomField<S> y(A.rows(), A.row_components(), A, A.row_basis(), generator);
  const Reference expected = reference_adjoint(matrix, in_users_order(y.view));
  const std::vector<S> found = applied<S>(adjoint, y.view);
  ASSERT_EQ(found.size(), expected.value.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const long double defect = std::abs(static_cast<long double>(found[i]) - expected.value[i]);
    ASSERT_TRUE(defect <= expected.bound(i, unit_roundoff<S>)) << "scalar " << i;
  }
}

template <class E>
class Adjoint : public testing::Test {};
using Entries = testing::Types<
    real<double>, real<float>, real<double, 3>, complex<double>, complex<float>, quaternion<double>,
    quaternion<float>, block<double, 3, 3>, block<complex<float>, 3, 3>, block<double, 2, 3>,
    block<complex<double>, 1, 2>, stored_as<float, quaternion<double>>,
    stored_as<float, block<double, 3, 2>> HEDDLE_IN_LONG_DOUBLE(, complex<long double>)>;
TYPED_TEST_SUITE(Adjoint, FewWhereSanitized<Entries>);

TYPED_TEST(Adjoint, IsTheTransposeOfTheRepresentationInEveryLayout) {
  using E = TypeParam;
  Seed seed(7101);
  std::vector<PatternRequest> shapes = odd_patterns();
  const auto rectangular = odd_rectangular_patterns();
  shapes.insert(shapes.end(), rectangular.begin(), rectangular.end());
  const std::vector<Plan> plans = covering_layouts(seed.generator);
  for (const PatternRequest& shape : shapes) {
    SCOPED_TRACE(shape.name);
    const Pattern pattern = random_pattern(shape, seed.generator);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const Plan& plan : plans) {
      if (!fits(plan, shape.rows, shape.columns)) continue;
      SCOPED_TRACE(to_string(plan));
      Operator<E> A(matrix, plan, Device::cpu(2));
      poison_padding(A);
      const auto adjoint = A.adjoint();
      expect_adjoint<E>(A, *adjoint, matrix, seed.generator);
      const CsrMatrix<E> other = random_matrix_of<E>(pattern, seed.generator);
      A.update_values(other);
      expect_adjoint<E>(A, *adjoint, other, seed.generator);
      if (this->HasFailure()) return;
    }
  }
}

TEST(AdjointValues, AreThoseOfEveryHandleAndOfEntriesWrittenInPlace) {
  using E = quaternion<double>;
  Seed seed(7102);
  const Pattern pattern = random_pattern({.rows = 70, .columns = 70}, seed.generator);
  const auto matrix = random_matrix_of<E>(pattern, seed.generator);
  std::optional<Operator<E>> A(std::in_place, matrix, parse_plan("pJDS"));
  Operator<E> other = A->scheduled(parse_plan("pJDS,schedule=dynamic,chunk=3"));
  const auto adjoint = A->adjoint(), again = other.adjoint();
  const auto next = random_matrix_of<E>(pattern, seed.generator);
  other.update_values(next);
  expect_adjoint<E>(*A, *adjoint, next, seed.generator);
  expect_adjoint<E>(*A, *again, next, seed.generator);

  const auto third = random_matrix_of<E>(pattern, seed.generator);
  const auto slots = slots_of_entries(A->pattern());
  auto writer = A->entry_writer();
  for (Offset i = 0; i < third.entries(); ++i) {
    writer.store(slots[static_cast<std::size_t>(i)], third.entry(i));
  }
  A->values_changed();
  expect_adjoint<E>(*A, *again, third, seed.generator);

  // A** is A while A exists, and equivalent to A afterwards.
  const RandomField<double> y(70, 4, *A, A->row_basis(), seed.generator);
  const std::vector<double> image = applied<double>(*A, y.view);
  EXPECT_EQ(applied<double>(*adjoint->adjoint(), y.view), image);
  const auto twice = adjoint->adjoint();
  A.reset();
  EXPECT_EQ(applied<double>(*twice, y.view), image);
  EXPECT_EQ(applied<double>(*adjoint->adjoint(), y.view), image);
}

TEST(AdjointValues, ReachTheCopyInFloats) {
  using E = complex<double>;
  Seed seed(7103);
  const Pattern pattern = random_pattern({.rows = 70, .columns = 70}, seed.generator);
  Operator<E> A(random_matrix_of<E>(pattern, seed.generator),
                parse_plan("Sl-32,iteration-precision=single"));
  const auto adjoint = A.adjoint();
  const auto next = random_matrix_of<E>(pattern, seed.generator);
  A.update_values(next);
  const RandomField<double> y(70, 2, A, A.row_basis(), seed.generator);
  const auto expected = reference_adjoint(next, in_users_order(y.view));
  EXPECT_NE(&adjoint->iterated(), adjoint.get());
  const std::vector<double> found = applied<double>(adjoint->iterated(), y.view);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(std::abs(found[i] - expected.value[i]), expected.bound(i, unit_roundoff<float>));
  }
}

TEST(AdjointOfADefinition, IsThatOfTheSameType) {
  Seed seed(7104);
  const Pattern pattern = random_pattern(
      {.rows = 90, .columns = 40, .empty_rows = true, .sorted = false}, seed.generator);
  const auto matrix = random_matrix_of<quaternion<double>>(pattern, seed.generator);
  const DefinedMatrix<double> defined(
      quaternion_definition(), 90, 40, Array<Offset>(std::span<const Offset>(pattern.offsets)),
      Array<Index>(std::span<const Index>(pattern.column)), Array<double>(matrix.values()));
  DefinedOperator<double> A(defined, parse_plan("CSR"), Device::cpu(2));
  expect_adjoint<quaternion<double>>(A, *A.adjoint(), matrix, seed.generator);
  const auto next = random_matrix_of<quaternion<double>>(pattern, seed.generator);
  A.update_values(next.values().span());
  expect_adjoint<quaternion<double>>(A, *A.adjoint(), next, seed.generator);
}

TEST(AdjointOfNone, IsRefused) {
  Seed seed(7105);
  const auto matrix =
      random_matrix<dual_quaternion<double>>({.rows = 5, .columns = 5}, seed.generator);
  const Operator<dual_quaternion<double>> A(matrix, Plan{});
  expect_error(ErrorKind::unsupported, "no adjoint: the entry has none of its kind, or is encoded",
               [&] { A.adjoint(); });
  struct Plain final : LinearOperator<double> {
    Index rows() const override { return 1; }
    void apply(double, const FieldView<const double>&, double, const FieldView<double>&,
               const Stream&) const override {}
  };
  expect_error(ErrorKind::unsupported,
               "this operator defines no adjoint; override LinearOperator::adjoint",
               [] { Plain().adjoint(); });
}

/// Compares Re <A x, y> with Re <x, A* y>.
template <class S>
void expect_same_products(const LinearOperator<S>& A, Generator& generator) {
  const auto adjoint = A.adjoint();
  const RandomField<S> x(A.columns(), A.column_components(), A, A.column_basis(), generator);
  const RandomField<S> y(A.rows(), A.row_components(), A, A.row_basis(), generator);
  const std::vector<S> Ax = applied<S>(A, x.view), xs = in_users_order(x.view);
  const std::vector<S> Ay = applied<S>(*adjoint, y.view), ys = in_users_order(y.view);
  long double left = 0, right = 0, size = 0;
  for (std::size_t i = 0; i < Ax.size(); ++i) {
    left += static_cast<long double>(Ax[i]) * ys[i];
    size += std::abs(static_cast<long double>(Ax[i]) * ys[i]);
  }
  for (std::size_t i = 0; i < Ay.size(); ++i) right += static_cast<long double>(Ay[i]) * xs[i];
  EXPECT_LE(std::abs(left - right), 64 * std::numeric_limits<S>::epsilon() * size);
}

TEST(AdjointOfOperators, IsMadeOfThoseOfTheParts) {
  using E = complex<double>;
  Seed seed(7106);
  const auto matrix = [&](Index rows, Index columns) {
    return random_matrix<E>({.rows = rows, .columns = columns}, seed.generator);
  };
  const Operator<E> A(matrix(50, 50), parse_plan("CSR")), B(matrix(50, 50), parse_plan("CSR")),
      C(matrix(50, 30), parse_plan("CSR"));
  expect_same_products<double>(shifted(A, 0.75), seed.generator);
  expect_same_products<double>(shifted(A, std::complex<double>(0.75, -2)), seed.generator);
  expect_same_products<double>(shifted(A, std::complex<double>(0.5, 3), B), seed.generator);
  expect_same_products<double>(sum(2, A, -0.5, B), seed.generator);
  expect_same_products<double>(product(A, C), seed.generator);
  expect_same_products<double>(product(shifted(A, std::complex<double>(0, 1)), C), seed.generator);
}

}  // namespace
}  // namespace adjoint
