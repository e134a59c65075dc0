// Guesses from earlier solutions, and deflation, on a GPU compared with the CPU.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/deflation.hpp"
#include "heddle/earlier_solutions.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/block_systems.hpp"
#include "support/systems/systems.hpp"

namespace sequences_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class SequencesOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(SequencesOnGpu, Entries);

/// A copy on the operator's device, in its basis.
template <class E>
Field<E> placed(const Operator<E>& A, const Field<E>& mine) {
  Field<E> field = A.field();
  permute<vector_scalar_t<E>>(mine.view(), field.view(), 1, A.device().stream());
  return field;
}
/// A copy on the host, in the user's order.
template <class E>
Field<E> fetched(const Operator<E>& A, const Field<E>& field) {
  Field<E> mine(A.rows());
  permute<vector_scalar_t<E>>(field.view(), mine.view(), 1, A.device().stream());
  A.device().synchronize();
  return mine;
}
template <class E>
struct Guessed {
  std::vector<EarlierGuess> guesses;
  std::vector<Field<E>> x;
};

/// Guesses for the same systems; the matrix changes once.
template <class E>
Guessed<E> guessed(CsrMatrix<E> matrix, const std::vector<Field<E>>& fields, const Field<E>& b,
                   const char* plan, const Device& device) {
  using S = vector_scalar_t<E>;
  Operator<E> A(matrix, parse_plan(plan), device);
  EarlierSolutions<S> earlier(A, 4);
  Guessed<E> result;
  const Field<E> right = placed(A, b);
  const auto guess = [&] {
    Field<E> x = A.field();
    result.guesses.push_back(earlier.guess(right, x));
    result.x.push_back(fetched(A, x));
  };
  for (const Field<E>& field : fields) {
    EXPECT_TRUE(earlier.keep(placed(A, field)));
    guess();
  }
  for (auto& value : matrix.values()) value *= 2;
  A.update_values(matrix);
  guess();
  return result;
}

TYPED_TEST(SequencesOnGpu, GuessesAsTheCpu) {
  using E = TypeParam;
  const double tolerance = sizeof(vector_scalar_t<E>) == 4 ? 1e-4 : 1e-10;
  Seed seed(9700);
  const auto matrix = random_positive_definite_matrix<E>(1501, 6, seed.generator);
  const auto fields = random_fields<E>(6, 1501, seed.generator);
  const Field<E> b = random_vector<E>(1501, seed.generator);
  for (const char* plan : {"CSR", "pJDS,vector=soa", "K1rs"}) {
    SCOPED_TRACE(plan);
    const auto expected = guessed<E>(matrix, fields, b, plan, Device::cpu());
    const auto found = guessed<E>(matrix, fields, b, plan, this->device);
    const auto again = guessed<E>(matrix, fields, b, plan, this->device);
    ASSERT_EQ(found.guesses.size(), expected.guesses.size());
    for (std::size_t i = 0; i < found.guesses.size(); ++i) {
      EXPECT_EQ(found.guesses[i].used, expected.guesses[i].used);
      EXPECT_NEAR(found.guesses[i].residual, expected.guesses[i].residual, tolerance);
      EXPECT_LE(distance(found.x[i], expected.x[i]), tolerance);
      EXPECT_EQ(bits_of(found.x[i]), bits_of(again.x[i]));
    }
  }
}

TYPED_TEST(SequencesOnGpu, DeflatesAsTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  const bool single = sizeof(S) == 4;
  Seed seed(9800);
  const auto matrix = random_positive_definite_matrix<E>(1501, 6, seed.generator);
  const auto fields = random_fields<E>(3, 1501, seed.generator);
  const Field<E> b = random_vector<E>(1501, seed.generator);
  const std::vector<FieldView<const S>> vectors{fields[0], fields[1], fields[2]};
  for (const char* plan : {"CSR", "pJDS,vector=soa,loop=graph", "K1rs"}) {
    SCOPED_TRACE(plan);
    std::vector<Field<E>> applied, solved;
    std::vector<long long> iterations;
    for (const Device& on : {Device::cpu(), this->device}) {
      const Operator<E> A(matrix, parse_plan(plan), on);
      const auto deflation = std::make_shared<Deflation<S>>(deflated(A, Jacobi(A), vectors));
      EXPECT_EQ(deflation->vectors(), 3);
      const Field<E> r = placed(A, b);
      Field<E> z = A.field();
      deflation->apply(r, z, A.device().stream());
      applied.push_back(fetched(A, z));
      ConjugateGradient solver(A, deflation);
      Field<E> x = A.field();
      const Report report = solver.solve(r, x);
      EXPECT_TRUE(report.converged()) << report;
      iterations.push_back(report.iterations);
      solved.push_back(fetched(A, x));
    }
    EXPECT_LE(distance(applied[1], applied[0]), single ? 1e-5 : 1e-12);
    EXPECT_LE(distance(solved[1], solved[0]), single ? 1e-3 : 1e-8);
    EXPECT_NEAR(static_cast<double>(iterations[0]), static_cast<double>(iterations[1]), 2);
  }
}

}  // namespace
}  // namespace sequences_gpu
