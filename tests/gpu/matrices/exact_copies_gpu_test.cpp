// Copies on a GPU that hold the entries exactly in fewer bytes, compared with the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/enqueued.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace exact_copies_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr Index rows = 1003;
const char* const layouts[] = {"C=32,sigma=n,inner=aosoa16,unroll=3", "C=1",
                               "C=16,T=2,sigma=n,inner=soa,vector=soa,unroll=1",
                               "K2rs,inner=aosoa"};
const char* const exact[] = {"dictionary", "unit"};

template <class E>
class ExactCopiesOnGpu : public OnGpu {};
using Listed = testing::Types<quaternion<double>, quaternion<float>>;
TYPED_TEST_SUITE(ExactCopiesOnGpu, Listed);

/// A gauge of Hurwitz units with a diagonal of 40: positive definite, with 25 distinct values.
template <class E>
CsrMatrix<E> gauge_matrix(Generator& generator) {
  using S = stored_scalar_t<E>;
  CsrMatrix<E> matrix = random_positive_definite_matrix<E>(rows, 9, generator);
  std::vector<E> gauge;
  for (Index row = 0; row < rows; ++row) {
    E g = {};
    const auto kind = static_cast<int>(generator() % 24);
    if (kind < 8) {
      g.component[kind / 2] = kind % 2 == 0 ? S(1) : S(-1);
    } else {
      for (int k = 0; k < 4; ++k) g.component[k] = (kind - 8) >> k & 1 ? S(0.5) : S(-0.5);
    }
    gauge.push_back(g);
  }
  for (Index row = 0; row < rows; ++row) {
    for (Offset i = matrix.view().offsets[row]; i < matrix.view().offsets[row + 1]; ++i) {
      const Index column = matrix.view().column[i];
      E entry = {};
      if (column == row) {
        entry.component[0] = S(40);
      } else {
        multiply_add(entry, gauge[static_cast<std::size_t>(row)],
                     adjoint(gauge[static_cast<std::size_t>(column)]));
      }
      for (int k = 0; k < 4; ++k) {
        matrix.values()[static_cast<std::size_t>(4 * i + k)] = entry.component[k];
      }
    }
  }
  return matrix;
}

TYPED_TEST(ExactCopiesOnGpu, HaveTheBytesOfTheCpuAndItsProducts) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2331 + sizeof(E));
  const auto matrix = gauge_matrix<E>(seed.generator);
  auto bad = matrix;
  for (std::size_t i = 0; i < bad.values().size(); ++i) bad.values()[i] += S(0.01) * S(i % 1000);
  const Field<E> users_x = random_field<E>(rows, seed.generator);
  const auto bytes = [](const Operator<E>& A) {
    const auto stored = A.iterated().stored_values();
    std::vector<std::byte> all(stored.size());
    detail::copy_bytes(all.data(), stored.data(), all.size(), A.device().stream());
    return all;
  };
  const auto image = [&](const LinearOperator<S>& of) {
    const Device& device = of.device();
    Field<E> x(rows, device, of.vector_layout(), of.column_basis());
    Field<E> y(rows, device, of.vector_layout(), of.row_basis()), users_y(rows);
    permute<S>(users_x.view(), x.view(), 1, device.stream());
    of.apply(1, x.view(), 0, y.view(), device.stream());
    permute<S>(y.view(), users_y.view(), 1, device.stream());
    device.synchronize();
    return std::vector<S>(users_y.scalars().begin(), users_y.scalars().end());
  };
  const S rounding = 100 * std::numeric_limits<S>::epsilon() * 50;
  for (const char* layout : layouts) {
    for (const char* kept : exact) {
      const Plan plan = parse_plan(std::string(layout) + ",iteration-precision=" + kept);
      SCOPED_TRACE(to_string(plan));
      const Operator<E> on_cpu(matrix, plan);
      Operator<E> on_gpu(matrix, plan, this->device);
      ASSERT_EQ(bytes(on_cpu), bytes(on_gpu));
      EXPECT_THROW(on_gpu.update_values(bad), Error);
      ASSERT_EQ(bytes(on_cpu), bytes(on_gpu));
      const auto own = image(on_cpu), found = image(on_gpu.iterated());
      for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_FALSE(!(std::abs(own[i] - found[i]) <= rounding)) << i;
      }
    }
  }
}

TYPED_TEST(ExactCopiesOnGpu, SolveInEveryLoopAsTheMatrixDoes) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2333 + sizeof(E));
  const auto matrix = gauge_matrix<E>(seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const SolverOptions options{.tolerance = sizeof(S) == 4 ? 1e-5 : 1e-11};
  for (const char* loop : {"loop=graph", "loop=persistent", "loop=stepped"}) {
    for (const char* kept : exact) {
      const std::string text = std::string("pJDS,T=4,") + loop + ",iteration-precision=";
      SCOPED_TRACE(text + kept);
      const auto solve = [&](const char* precision) {
        const Operator<E> A(matrix, parse_plan(text + precision), this->device);
        ConjugateGradient<S> solver(A, Jacobi<E>(A), options);
        Field<E> x(rows);
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_EQ(report.stored, "own");
        return report.iterations;
      };
      EXPECT_NEAR(double(solve(kept)), double(solve("full")), 1.0);
      if (std::string(loop) == "loop=stepped") continue;
      expect_as_solve<E, ConjugateGradient>(matrix, text + kept, true, options, b, Field<E>(rows),
                                            this->device);
    }
  }
}

/// After new values that the copy refuses, the next enqueued solve reads the matrix.
TYPED_TEST(ExactCopiesOnGpu, StepAsideForValuesThatTheyRefuse) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2335 + sizeof(E));
  auto good = gauge_matrix<E>(seed.generator);
  auto bad = good;
  for (Index row = 0; row < rows; ++row) {
    for (Offset i = bad.view().offsets[row]; i < bad.view().offsets[row + 1]; ++i) {
      if (bad.view().column[i] == row) {
        bad.values()[static_cast<std::size_t>(4 * i)] += S(0.01) * S(row);
      }
    }
  }
  const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), this->device);
  Operator<E> A(good, parse_plan("C=32,loop=graph,iteration-precision=dictionary"), this->device);
  ConjugateGradient<S> solver(A, Jacobi<E>(A), {.tolerance = 1e-5});
  Field<E> x(rows, this->device);
  const PinnedReport report;
  for (const auto* matrix : {&good, &bad, &good}) {
    const Array<S> values(std::span<const S>(matrix->values()), this->device);
    A.place_values(std::as_bytes(values.span()), ComponentOrder::row_major, this->device.stream());
    A.values_changed();
    EXPECT_EQ(&A.iterated() == &A, matrix == &bad);
    fill<S>(S(0), x.view(), this->device.stream());
    solver.enqueue(b.view(), x.view(), report.get());
    const DeviceReport found = report.after(this->device);
    EXPECT_EQ(name(found.status), name(Status::converged));
    EXPECT_EQ(found.restarts, 0);
    fill<S>(S(0), x.view(), this->device.stream());
    const Report of_solve = solver.solve(b.view(), x.view());
    EXPECT_TRUE(of_solve.converged()) << of_solve;
    EXPECT_EQ(of_solve.detail.empty(), matrix == &good);
  }
}

}  // namespace
}  // namespace exact_copies_gpu
