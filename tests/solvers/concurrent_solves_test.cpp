// Runs in the release.
// Several threads with one operator, each with a solver of its own.
#include <gtest/gtest.h>

#include <thread>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

template <class E, template <class> class Solver>
void expect_same_as_alone(const char* plan) {
  SCOPED_TRACE(plan);
  using S = vector_scalar_t<E>;
  Generator generator(1);
  constexpr Index n = 4500;
  const auto system = random_system<E>(n, 2, 0.3, 0, generator);
  const Operator<E> A(system.matrix, parse_plan(plan), Device::cpu(2));
  constexpr int threads = 3;
  std::vector<Field<E>> b, alone, together;
  for (int i = 0; i < threads; ++i) {
    b.push_back(random_vector<E>(n, generator));
    alone.emplace_back(n);
    together.emplace_back(n);
  }
  const auto solve = [&](const Operator<E>& matrix, int i, Field<E>& x) {
    Solver<S> solver(matrix, Jacobi(matrix));
    for (int repetition = 0; repetition < 3; ++repetition) {
      std::fill(x.scalars().begin(), x.scalars().end(), S(0));
      EXPECT_TRUE(solver.solve(b[static_cast<std::size_t>(i)], x).converged());
    }
  };
  for (int i = 0; i < threads; ++i) solve(A, i, alone[static_cast<std::size_t>(i)]);
  // Threads share the operator itself, or use handles with teams of their own.
  for (const bool own : {false, true}) {
    std::vector<std::thread> team;
    for (int i = 0; i < threads; ++i) {
      team.emplace_back([&, i] {
        const Operator<E> mine = own ? A.on(Device::cpu(1 + i)) : A;
        EXPECT_EQ(mine.device().threads(), own ? 1 + i : 2);
        solve(mine, i, together[static_cast<std::size_t>(i)]);
      });
    }
    for (auto& thread : team) thread.join();
    for (std::size_t i = 0; i < threads; ++i) EXPECT_EQ(bits_of(alone[i]), bits_of(together[i]));
  }
}

TEST(ConcurrentSolves, YieldTheBitsOfSolvesAlone) {
  expect_same_as_alone<quaternion<double>, ConjugateGradient>("K1rs,sigma=256");
  expect_same_as_alone<quaternion<double>, BiCGStab>("CSR,schedule=dynamic,chunk=1");
  expect_same_as_alone<block<float, 3, 3>, ConjugateGradient>("CSR,vector=soa");
}

}  // namespace
}  // namespace heddle::test
