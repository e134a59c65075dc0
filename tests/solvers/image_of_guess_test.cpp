// Solves whose caller supplies A times the guess.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/field.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/plan.hpp"
#include "heddle/vector_operations.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::image_of_guess {
namespace {

using E = quaternion<double>;
constexpr Index n = 500;

struct System {
  Seed seed{7301};
  CsrMatrix<E> matrix = random_positive_definite_matrix<E>(n, 7, seed.generator);
  Operator<E> A;
  Field<E> b, guess, image;

  explicit System(const char* plan)
      : A(matrix, parse_plan(plan)), b(A.field()), guess(A.field()), image(A.field()) {
    permute<double>(random_field<E>(n, seed.generator).view(), b.view(), 1, stream());
    permute<double>(random_field<E>(n, seed.generator).view(), guess.view(), 1, stream());
    multiply(guess, image);
  }
  void multiply(const Field<E>& x, Field<E>& y) const {
    A.apply(1, x.view(), 0, y.view(), stream());
  }
  Stream stream() const { return A.device().stream(); }
  double residual_of(const Field<E>& x) {
    Field<E> r = A.field();
    multiply(x, r);
    axpby<double>(1.0, b.view(), -1.0, r.view(), stream());
    return norm(r) / norm(b);
  }
  static double norm(const Field<E>& field) {
    double sum = 0;
    for (const double c : field.scalars().span()) sum += c * c;
    return std::sqrt(sum);
  }
};

template <class Solver>
void expect_solutions(const char* plan) {
  SCOPED_TRACE(plan);
  System system(plan);
  Solver known(system.A, Jacobi<E>(system.A)), unknown(system.A, Jacobi<E>(system.A));
  known.set_image_of_guess(system.image.view());
  Field<E> x = system.guess, y = system.guess;
  const Report found = known.solve(system.b, x), expected = unknown.solve(system.b, y);
  EXPECT_TRUE(found.converged()) << found;
  EXPECT_NEAR(static_cast<double>(found.iterations), static_cast<double>(expected.iterations), 1);
  EXPECT_LE(system.residual_of(x), 1.001e-10);

  // The residual belongs to x, and gives A x without a product.
  system.multiply(x, system.image);
  const double* const r = known.residual().data;
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    EXPECT_NEAR(system.b.scalars()[i] - r[i], system.image.scalars()[i], 1e-12);
  }
  EXPECT_EQ(known.solve(system.b, x).iterations, 0);

  // An image that is not A x, though it looks like that of a solution.
  std::ranges::copy(system.b.scalars(), system.image.scalars().begin());
  x = system.guess;
  const Report misled = known.solve(system.b, x);
  EXPECT_TRUE(misled.converged()) << misled;
  EXPECT_GT(misled.iterations, 2);
  EXPECT_LE(system.residual_of(x), 1.001e-10);

  known.set_image_of_guess({});
  x = system.guess;
  EXPECT_EQ(known.solve(system.b, x).iterations, expected.iterations);

  Field<E> zero = system.A.field();
  known.set_image_of_guess(system.image.view());
  EXPECT_TRUE(known.solve(zero, x).converged());
  EXPECT_EQ(System::norm(x), 0);
}

TEST(ImageOfGuess, TakesThePlaceOfAProduct) {
  for (const char* plan : {"CSR", "pJDS,order=rcm", "CSR,vector=soa"}) {
    expect_solutions<ConjugateGradient<double>>(plan);
    expect_solutions<Gmres<double>>(plan);
  }
}

/// A diagonal matrix that counts its products.
class Counting final : public LinearOperator<double> {
 public:
  Index rows() const override { return n; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    ++products;
    for (Index i = 0; i < n; ++i) {
      y.data[i] = alpha * (1 + i % 7) * x.data[i] + (beta == 0 ? 0 : beta * y.data[i]);
    }
  }
  mutable int products = 0;
};

/// The outcome of one solve from a guess, with an image or without.
struct Outcome {
  Report report;
  int products = 0;
  double x = 0, residual = 0;

  Outcome(const std::vector<double>& image, SolverOptions options, std::size_t systems = 1) {
    const Counting A;
    options.checks = false;
    ConjugateGradient<double> solver(A, options);
    const std::vector<double> b(n, 1);
    std::vector<std::vector<double>> guesses(systems, std::vector<double>(n, 0.25));
    std::vector<FieldView<const double>> of_b(systems, {b.data(), n});
    std::vector<FieldView<double>> of_x;
    for (auto& guess : guesses) of_x.emplace_back(guess.data(), n);
    if (!image.empty()) solver.set_image_of_guess({image.data(), n});
    report = solver.solve(of_b, of_x).back();
    products = A.products;
    x = guesses.back()[1];
    for (Index i = 0; i < n; ++i) {
      const double r = 1 - (1 + i % 7) * guesses.back()[static_cast<std::size_t>(i)];
      residual = std::max(residual, std::abs(r));
    }
  }
};
std::vector<double> image_of_guess() {
  std::vector<double> image(n);
  for (Index i = 0; i < n; ++i) image[static_cast<std::size_t>(i)] = 0.25 * (1 + i % 7);
  return image;
}

TEST(ImageOfGuess, SavesAProduct) {
  const Outcome known(image_of_guess(), {}), unknown({}, {});
  EXPECT_EQ(known.products + 1, unknown.products);
  EXPECT_EQ(known.x, unknown.x);
}

TEST(ImageOfGuess, ThatIsWrongCostsIterationsOnly) {
  std::vector<double> nearly_b(n, 1 + 1.2e-10);
  for (const long long iterations : {4LL, 1000LL}) {
    const Outcome misled(nearly_b, {.max_iterations = iterations});
    EXPECT_NE(misled.x, 0.25) << "the guess came back";
    EXPECT_EQ(misled.report.converged(), iterations > 4) << misled.report;
  }
  // A tolerance relative to |r0| requires a product.
  const Outcome far(std::vector<double>(n, 1e6), {.baseline = Baseline::initial_residual});
  EXPECT_TRUE(far.report.converged()) << far.report;
  EXPECT_LT(far.residual, 1e-9);
  const Outcome no_number(std::vector<double>(n, std::nan("")), {});
  EXPECT_TRUE(no_number.report.converged()) << no_number.report;
  const Outcome at_once(nearly_b, {.max_iterations = 0});
  EXPECT_GT(at_once.report.residual, 0.1) << "that of the guess";
}

TEST(ImageOfGuess, IsNotOfSeveralSystems) {
  for (const std::size_t systems : {2, 9}) {
    const Outcome known(std::vector<double>(n, 7), {}, systems), unknown({}, {}, systems);
    EXPECT_EQ(known.products, unknown.products);
    EXPECT_EQ(known.x, unknown.x);
  }
}

TEST(ImageOfGuess, IsOfTheOperatorsBasis) {
  System system("pJDS,order=rcm");
  ConjugateGradient<double> solver(system.A);
  const Field<E> in_users_order(n);
  expect_error(ErrorKind::usage,
               "the image of a guess must have the operator's basis, layout and memory",
               [&] { solver.set_image_of_guess(in_users_order.view()); });
  const Field<E> shorter(n - 1);
  EXPECT_THROW(solver.set_image_of_guess(shorter.view()), Error);
}

}  // namespace
}  // namespace heddle::test::image_of_guess
