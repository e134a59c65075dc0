// Runs in the release.
// A repeated solve allocates nothing, neither from the device's memory nor from the heap.
#include <gtest/gtest.h>

#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/deflation.hpp"
#include "heddle/earlier_solutions.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/matrix_product.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/polynomial.hpp"
#include "support/counted_heap.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::repeated_solve {
namespace {

class CountingMemory final : public std::pmr::memory_resource {
 public:
  long long allocations = 0;
  long long live = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    ++allocations;
    ++live;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    --live;
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

using E = quaternion<double>;
constexpr Index n = 5000;

template <class Solve>
void expect_no_allocation(CountingMemory& memory, const Solve& solve) {
  const long long from_memory = memory.allocations, from_heap = heap_allocations;
  solve();
  EXPECT_EQ(memory.allocations, from_memory);
  EXPECT_EQ(heap_allocations.load(), from_heap);
}

template <template <class> class Solver>
void expect_repeatable() {
  CountingMemory memory;
  {
    const Device device = Device::cpu(2, &memory);
    Generator generator(1);
    const auto system = random_system<E>(n, 2, 0.5, 0, generator);
    for (const char* plan : {"CSR", "K1rs,sigma=256", "CSR,vector=soa,recurrence=real"}) {
      for (const bool in_basis : {false, true}) {
        SCOPED_TRACE(std::string(plan) + (in_basis ? " in its basis" : " in the user's order"));
        Operator<E> A(system.matrix, parse_plan(plan), device);
        Solver<double> solver(A, Jacobi(A), {.record_history = true});
        Field<E> b = in_basis ? A.field() : Field<E>(n, device);
        Field<E> x = in_basis ? A.field() : Field<E>(n, device), first = x;
        fill_randomly(b, generator);
        ASSERT_TRUE(solver.solve(b, first).converged());
        ASSERT_GT(memory.allocations, 0);
        Report report;
        expect_no_allocation(memory, [&] { report = solver.solve(b, x); });
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_EQ(bits_of(x), bits_of(first));

        // New values for the pattern: products and Jacobi use the new matrix.
        CsrMatrix<E> changed = system.matrix;
        for (Index row = 0; row < n; ++row) {
          for (Offset i = changed.offsets()[row]; i < changed.offsets()[row + 1]; ++i) {
            const double factor = (1 + row % 7) * (1 + changed.column()[i] % 7) * 0.25;
            for (int k = 0; k < 4; ++k) changed.values()[4 * i + k] *= factor;
          }
        }
        // A solution of the old system is a bad guess for the new one.
        expect_no_allocation(memory, [&] {
          A.update_values(changed);
          fill<double>(0, x, device.stream());
          report = solver.solve(b, x);
        });
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_TRUE(true_residual(changed, b, x) <=
                    1e-10 * components_of<double>(b).norm() * 1.001);
        // The solve takes as many iterations as with a solver made for the new matrix.
        const Operator<E> fresh(changed, parse_plan(plan), device);
        Solver<double> of_fresh(fresh, Jacobi(fresh));
        Field<E> y = in_basis ? fresh.field() : Field<E>(n, device);
        const Report expected = of_fresh.solve(b, y);
        EXPECT_EQ(report.iterations, expected.iterations);
        EXPECT_EQ(bits_of(x), bits_of(y));
        A.update_values(system.matrix);
      }
    }
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(RepeatedSolve, ConjugateGradientAllocatesNothing) { expect_repeatable<ConjugateGradient>(); }
TEST(RepeatedSolve, BiCGStabAllocatesNothing) { expect_repeatable<BiCGStab>(); }

TEST(RepeatedSolve, PolynomialsAllocateNothing) {
  CountingMemory memory;
  const Device device = Device::cpu(2, &memory);
  Generator generator(2);
  const CsrMatrix<E> first = random_system<E>(n, 2, 0.5, 0, generator).matrix;
  CsrMatrix<E> second = first;
  for (double& value : second.values()) value *= 3;
  Operator<E> A(first, parse_plan("K1rs,sigma=256"), device);
  Field<E> b(n, device), x(n, device);
  fill_randomly(b, generator);
  const auto expect_nothing = [&](auto preconditioner) {
    BiCGStab<double> solver(A, std::move(preconditioner));
    const auto solve = [&](const CsrMatrix<E>& values) {
      A.update_values(values);
      fill<double>(0, x, device.stream());
      EXPECT_TRUE(solver.solve(b, x).converged());
    };
    solve(second);  // either one may take more iterations
    solve(first);
    expect_no_allocation(memory, [&] { solve(second); });
    expect_no_allocation(memory, [&] { solve(first); });
  };
  expect_nothing(Chebyshev(A, Jacobi(A)));
  expect_nothing(Neumann(A, Jacobi(A), 2));
}

/// Uses `candidates` random candidates.
template <class B>
void expect_refresh_to_allocate_nothing(int candidates) {
  SCOPED_TRACE(candidates);
  Generator generator(5);
  const CsrMatrix<B> first = random_system<B>(n, 2, 0.5, 0, generator).matrix;
  CsrMatrix<B> second = first;
  for (double& value : second.values()) value *= 3;
  CountingMemory memory;
  const Device device = Device::cpu(2, &memory);
  Operator<B> A(first, parse_plan("K1rs,sigma=256"), device);
  std::vector<Field<B>> fields;
  std::vector<FieldView<const double>> views;
  for (int k = 0; k < candidates; ++k) fields.push_back(random_vector<B>(n, generator));
  for (const Field<B>& field : fields) views.push_back(field.view());
  Multigrid<double> multigrid(A, {.strength = 0}, views);
  EXPECT_GE(multigrid.report().levels.size(), 2U);
  const auto refresh_with = [&](const CsrMatrix<B>& values) {
    A.update_values(values);
    multigrid.refresh();
  };
  refresh_with(second);  // the first new values determine where the products' terms are added
  expect_no_allocation(memory, [&] { refresh_with(first); });
  expect_no_allocation(memory, [&] { refresh_with(second); });
}

TEST(RepeatedSolve, MultigridOfNewValuesAllocatesNothing) {
  expect_refresh_to_allocate_nothing<real<double>>(0);
  expect_refresh_to_allocate_nothing<quaternion<double>>(1);
  expect_refresh_to_allocate_nothing<block<double, 3, 3>>(6);
}

TEST(RepeatedSolve, ProductsOfNewValuesAllocateNothing) {
  Generator generator(6);
  const CsrMatrix<E> matrix = random_system<E>(n, 2, 0.5, 0, generator).matrix;
  MatrixAdjoint adjoint(matrix);
  MatrixProduct product(adjoint.matrix(), matrix);
  CountingMemory memory;
  expect_no_allocation(memory, [&] {
    adjoint.update_values(matrix);
    product.update_values(adjoint.matrix(), matrix);
  });
}

TEST(RepeatedSolve, SequencesAllocateNothing) {
  CountingMemory memory;
  {
    const Device device = Device::cpu(2, &memory);
    Generator generator(4);
    CsrMatrix<E> matrix = random_system<E>(n, 2, 0.5, 0, generator).matrix;
    Operator<E> A(matrix, parse_plan("pJDS"), device);
    std::vector<Field<E>> w;
    std::vector<FieldView<const double>> vectors;
    w.reserve(3);
    for (int k = 0; k < 3; ++k) w.push_back(random_vector<E>(n, generator));
    vectors.assign(w.begin(), w.end());
    EarlierSolutions earlier(A, 3);
    ConjugateGradient<double> solver(A, deflated(A, Jacobi(A), vectors));
    Field<E> b = A.field(), x = A.field();
    fill_randomly(b, generator);
    ASSERT_TRUE(solver.solve(b, x).converged());
    expect_no_allocation(memory, [&] {
      for (int step = 0; step < 5; ++step) {
        scale<double>(1.5, b.view(), device.stream());
        earlier.guess(b, x);
        EXPECT_TRUE(solver.solve(b, x).converged());
        EXPECT_TRUE(earlier.keep(x));
      }
    });
    for (double& value : matrix.values()) value *= 2;
    A.update_values(matrix);
    expect_no_allocation(memory, [&] { EXPECT_GT(earlier.guess(b, x).used, 0U); });
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(RepeatedSolve, ValuesWrittenInPlaceAreSeen) {
  Generator generator(3);
  const auto system = random_system<E>(300, 3, 0.5, 0, generator);
  Operator<E> A(system.matrix, parse_plan("C=8,sigma=64,inner=aosoa16"));
  ConjugateGradient solver(A, Jacobi(A));
  const Field<E> b = random_vector<E>(300, generator);
  Field<E> x(300);
  ASSERT_TRUE(solver.solve(b, x).converged());
  CsrMatrix<E> changed = system.matrix;
  for (double& value : changed.values()) value *= 3;
  for (double& value : A.values_in_basis()) value *= 3;
  A.values_changed();
  fill<double>(0, x, A.device().stream());
  ASSERT_TRUE(solver.solve(b, x).converged());
  EXPECT_TRUE(true_residual(changed, b, x) <= 1e-10 * components_of<double>(b).norm() * 1.001);
}

}  // namespace
}  // namespace heddle::test::repeated_solve
