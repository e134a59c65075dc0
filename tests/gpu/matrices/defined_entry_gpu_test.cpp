// Entries from definitions on a GPU: the same products as for the type, and solves in every form of
// the loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "entries/dual_complex.hpp"
#include "entries/printed/split_complex.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/runtime/defined_tree.hpp"
#include "hierarchical/trees.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace defined_entry_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using split_complex = heddle_user::split_complex_entry<double>;

const char* const loops[] = {"loop=stepped", "loop=graph", "loop=persistent"};
const char* const layouts[] = {"C=32,T=4,sigma=n,inner=aosoa16", "C=1,schedule=full",
                               "C=16,T=2,sigma=n,inner=soa,vector=soa", "K2rs,schedule=dynamic",
                               "K1"};

/// The results of an operator's products, in the user's order, and their sums.
template <class S>
struct Products {
  std::vector<S> scaled, residual;
  double dot = 0, squared_norm = 0;

  Products(const LinearOperator<S>& A, const FieldView<const S>& x, const FieldView<const S>& b) {
    const Device device = A.device();
    const Stream& stream = device.stream();
    const auto scalars = static_cast<std::size_t>(x.scalars());
    const auto view_of = [&](Array<S>& array) {
      return FieldView<S>(array.data(), x.size, x.components, A.vector_layout(), A.row_basis());
    };
    Array<S> x_there(scalars, device), b_there(scalars, device), y_there(scalars, device);
    const FieldView<S> x_in = view_of(x_there), b_in = view_of(b_there), y = view_of(y_there);
    permute<S>(x, x_in, S(1), stream);
    permute<S>(b, b_in, S(1), stream);
    Reduction<S> reduction(A.rows(), device);
    const auto take = [&](std::vector<S>& to) {
      to.resize(scalars);
      permute<S>(y, FieldView<S>(to.data(), x.size, x.components), S(1), stream);
    };
    permute<S>(b, y, S(1), stream);
    A.apply(S(0.5), x_in, S(-2), y, stream);
    take(scaled);
    squared_norm = A.residual(b_in, x_in, y, reduction, stream);
    take(residual);
    dot = A.apply_dot(x_in, y, reduction, stream);
  }
};

template <class S>
void expect_close(const std::vector<S>& expected, const std::vector<S>& actual, double tolerance) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double(expected[i]) - double(actual[i]));
    ASSERT_FALSE(!(difference <= tolerance)) << i << ": " << difference;
  }
}

template <class E>
class DefinedProductOnGpu : public OnGpu {};
using Quaternions = testing::Types<quaternion<float>, quaternion<double>>;
TYPED_TEST_SUITE(DefinedProductOnGpu, Quaternions);

TYPED_TEST(DefinedProductOnGpu, IsThatOfTheType) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2801 + sizeof(E));
  const Definition definition = quaternion_definition();
  for (const Index rows : {1, 33, 1001}) {
    const auto matrix = random_matrix<E>(
        {.rows = rows, .columns = rows, .per_row = std::min<Index>(rows, 9)}, seed.generator);
    const Field<E> x = random_field<E>(rows, seed.generator),
                   b = random_field<E>(rows, seed.generator);
    Index longest = 0;
    for (Index row = 0; row < rows; ++row) {
      longest = std::max(longest, matrix.view().pattern().length(row));
    }
    // Components in [-1, 1]: sums of 4 products per entry, times 0.5, in addition to 2 |b|.
    const double tolerance =
        4.0 * longest * (4.0 * longest + 2) * double(std::numeric_limits<S>::epsilon());
    for (const char* layout : layouts) {
      SCOPED_TRACE(std::to_string(rows) + " rows, " + layout);
      const Plan plan = parse_plan(layout);
      const Operator<E> typed(matrix, plan, this->device);
      const DefinedOperator<S> defined(as_defined(matrix, definition), plan, this->device);
      EXPECT_EQ(defined.compulsory_bytes(), typed.compulsory_bytes());
      EXPECT_EQ(defined.memory().total(), typed.memory().total());
      const Products<S> expected(typed, x.view(), b.view()), actual(defined, x.view(), b.view());
      expect_close(expected.scaled, actual.scaled, tolerance);
      expect_close(expected.residual, actual.residual, tolerance);
      EXPECT_FALSE(
          !(std::abs(actual.squared_norm - expected.squared_norm) <= 1e-13 * expected.squared_norm))
          << actual.squared_norm - expected.squared_norm;
      EXPECT_FALSE(!(std::abs(actual.dot - expected.dot) <= tolerance * 4 * rows));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DefinedProductOnGpu, OfTreesAreThoseOfTheType) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2811 + sizeof(E));
  const Definition definition = quaternion_definition();
  for (const Index rows : {1, 33, 1001}) {
    const auto matrix = random_matrix<E>(
        {.rows = rows, .columns = rows, .per_row = std::min<Index>(rows, 9)}, seed.generator);
    for (const int d : {4, 32, 128}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, nodes of " + std::to_string(d));
      const auto defined = as_defined(matrix, definition);
      const DefinedTree<S> here(defined, d), there(defined, d, this->device);
      expect_products(there, matrix, seed.generator);
      expect_products(*there.adjoint(), plain_adjoint(matrix), seed.generator);
      for (const bool transposes : {false, true}) {
        const auto made = there.plus(S(0.7), S(-1.3), there, transposes).to_rows();
        const auto expected = here.plus(S(0.7), S(-1.3), here, transposes).to_rows();
        EXPECT_TRUE(std::ranges::equal(made.offsets(), expected.offsets()));
        EXPECT_TRUE(std::ranges::equal(made.column(), expected.column()));
        EXPECT_TRUE(std::ranges::equal(made.values(), expected.values()));
      }
      if (this->HasFailure()) return;
    }
  }
}

class DefinedEntryOnGpu : public OnGpu {
 protected:
  /// Solves through the front that the command line uses.
  static Report solve(const AnyMatrix& matrix, const MethodInfo& method,
                      PreconditionerKind preconditioner, const Plan& plan, const Device& on,
                      const AnyField& b, AnyField& x) {
    const AnyOperator A(matrix, plan, on);
    AnySolver solver(A, method, preconditioner, {});
    return solver.solve(b, x);
  }

  /// Solves in every form of the loop, with and without Jacobi; `x` is known.
  template <class E>
  void check_solves(const CsrMatrix<E>& typed, Definition definition, const MethodInfo& method,
                    Generator& generator) {
    const AnyMatrix matrix(as_defined(typed, std::move(definition)));
    const AnyOperator on_cpu(matrix, Plan{}, Device::cpu());
    AnyField solution = on_cpu.column_field(), b = on_cpu.row_field();
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Offset scalars = Offset(solution.rows()) * solution.components();
    for (Offset i = 0; i < scalars; ++i) solution.set(i, uniform(generator));
    on_cpu.apply(solution, b);
    std::vector<Plan> plans = {choose_plan(matrix, device, Profiles())};
    for (const char* loop : loops) plans.push_back(parse_plan(std::string("pJDS,T=2,") + loop));
    for (const Plan& plan : plans) {
      for (const auto preconditioner : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        SCOPED_TRACE(to_string(plan) +
                     (preconditioner == PreconditionerKind::jacobi ? ", Jacobi" : ""));
        AnyField x = on_cpu.column_field();
        const Report report = solve(matrix, method, preconditioner, plan, device, b, x);
        ASSERT_TRUE(report.converged()) << report;
        // Diagonally dominant: |x - x*| <= |A^-1| |r|, and |A^-1| is below 4.
        double error = 0;
        for (Offset i = 0; i < scalars; ++i) {
          const double difference = x.get(i) - solution.get(i);
          error += difference * difference;
        }
        EXPECT_FALSE(!(std::sqrt(error) <= 4 * report.residual_norm + 1e-12 * double(scalars)))
            << std::sqrt(error);
      }
    }
  }
};

TEST_F(DefinedEntryOnGpu, SplitComplexByConjugateGradient) {
  Seed seed(2803);
  for (const Index rows : {1, 33, 2001}) {
    SCOPED_TRACE(rows);
    check_solves(random_positive_definite_matrix<split_complex>(rows, std::min<Index>(rows, 7),
                                                                seed.generator),
                 split_complex_definition(), find_method("cg"), seed.generator);
  }
}

TEST_F(DefinedEntryOnGpu, DualComplexByBiCGStab) {
  Seed seed(2804);
  check_solves(random_dominant_matrix<dual_complex<double>>(
                   {.rows = 1001, .columns = 1001, .per_row = 7}, seed.generator),
               dual_complex_definition(), find_method("bicgstab"), seed.generator);
}

TEST_F(DefinedEntryOnGpu, ProductsOfTheFrontAreThoseOfTheCpu) {
  using E = dual_complex<float>;
  Seed seed(2805);
  const auto typed = random_matrix<E>({.rows = 400, .columns = 400, .per_row = 5}, seed.generator);
  const AnyMatrix matrix(as_defined(typed, dual_complex_definition()));
  const AnyOperator on_cpu(matrix, Plan{}, Device::cpu());
  const AnyOperator on_gpu(matrix, parse_plan("K2rs,inner=aosoa,vector=soa"), device);
  AnyField x = on_cpu.column_field(), expected = on_cpu.row_field(), y = on_gpu.row_field();
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Offset i = 0; i < 4 * 400; ++i) x.set(i, uniform(seed.generator));
  on_cpu.apply(x, expected);
  on_gpu.apply(x, y);
  for (Offset i = 0; i < 4 * 400; ++i) {
    ASSERT_FALSE(!(std::abs(y.get(i) - expected.get(i)) <= 1e-4)) << i;
  }
}

TEST_F(DefinedEntryOnGpu, NewValuesAndQueuedSolvesOfTheFront) {
  Seed seed(2807);
  const auto typed = random_positive_definite_matrix<split_complex>(500, 5, seed.generator);
  auto scaled = typed;
  for (double& value : scaled.values()) value *= 4;
  const AnyMatrix matrix(as_defined(typed, split_complex_definition()));
  AnyOperator A(matrix, parse_plan("pJDS,loop=graph,stored=float"), device);
  AnySolver solver(A, find_method("cg"), PreconditionerKind::jacobi, {});
  A.update_values<double>(scaled.values().span());
  AnyField b = A.row_field(), expected = A.column_field();
  for (Offset i = 0; i < 1000; ++i) b.set(i, std::sin(static_cast<double>(i)));
  ASSERT_TRUE(solver.solve(b, expected).converged());

  const Array<double> b_there(std::span<const double>(b.view<double>().data, 1000), device);
  Array<double> x_there(1000, device);
  Array<DeviceReport> report(1, device);
  solver.solver<double>().enqueue(FieldView<const double>(b_there.data(), 500, 2),
                                  FieldView<double>(x_there.data(), 500, 2), report.data());
  device.synchronize();
  EXPECT_EQ(report.to_host()[0].status, Status::converged);
  const std::vector<double> x = x_there.to_host();
  AnyField reached = A.column_field(), image = A.row_field();
  for (Offset i = 0; i < 1000; ++i) reached.set(i, x[static_cast<std::size_t>(i)]);
  AnyOperator(AnyMatrix(as_defined(scaled, split_complex_definition())), Plan{}, Device::cpu())
      .apply(reached, image);
  for (Offset i = 0; i < 1000; ++i) ASSERT_NEAR(image.get(i), b.get(i), 1e-8) << i;
}

TEST_F(DefinedEntryOnGpu, ADiagonalThatIsNotFiniteNamesTheUsersRow) {
  using E = dual_complex<double>;
  Seed seed(2806);
  auto matrix =
      random_dominant_matrix<E>({.rows = 301, .columns = 301, .per_row = 5}, seed.generator);
  constexpr Index singular = 117;
  for (Offset i = matrix.offsets()[singular]; i < matrix.offsets()[singular + 1]; ++i) {
    if (matrix.column()[static_cast<std::size_t>(i)] != singular) continue;
    matrix.values()[static_cast<std::size_t>(i * 4 + 1)] = std::nan("");
  }
  const DefinedOperator<double> A(as_defined(matrix, dual_complex_definition()),
                                  parse_plan("pJDS,T=2"), device);
  expect_error(ErrorKind::singular,
               "Jacobi: the diagonal entry of row 117 (counted from 0) is not finite",
               [&] { const DefinedJacobi<double> jacobi(A); });
}

}  // namespace
}  // namespace defined_entry_gpu
