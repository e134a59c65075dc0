// Insufficient memory: one exception wherever it runs out, nothing lost, and later calls work.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;

template <template <class> class Solver>
std::vector<double> solve(const CsrMatrix<E>& matrix, const Field<E>& b, const Plan& plan,
                          const Device& device) {
  const Operator<E> A(matrix, plan, device);
  Solver<double> solver(A, Jacobi<E>(A));
  Field<E> x(matrix.rows());
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return x.scalars().to_host();
}

template <template <class> class Solver>
void expect_one_error_wherever_it_runs_out(std::uint64_t seed_value) {
  Seed seed(seed_value);
  const auto matrix = random_positive_definite_matrix<E>(300, 5, seed.generator);
  const Field<E> b = random_field<E>(300, seed.generator);
  for (const char* text : {"CSR", "pJDS,T=2", "K2rs", "K1", "order=rcm,vector=soa"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    const auto expected = solve<Solver>(matrix, b, plan, Device::cpu(2));
    for (long long allowed = 0;; ++allowed) {
      SCOPED_TRACE(std::to_string(allowed) + " allocations");
      ASSERT_LT(allowed, 1000);
      RefusingMemory memory(std::pmr::new_delete_resource());
      memory.allow(allowed);
      try {
        const auto x = solve<Solver>(matrix, b, plan, Device::cpu(2, &memory));
        EXPECT_EQ(x, expected);
        EXPECT_EQ(memory.live, 0);
        EXPECT_GT(allowed, 10);  // the matrix and the solver allocate all of theirs here
        break;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
        EXPECT_TRUE(
            std::string(error.what()).starts_with("the memory of the host does not suffice"))
            << error.what();
      }
      EXPECT_EQ(memory.live, 0);
    }
    EXPECT_EQ(solve<Solver>(matrix, b, plan, Device::cpu(2)), expected);
  }
}

TEST(OutOfMemory, EndsConjugateGradientWithOneError) {
  expect_one_error_wherever_it_runs_out<ConjugateGradient>(3101);
}
TEST(OutOfMemory, EndsBiCGStabWithOneError) {
  expect_one_error_wherever_it_runs_out<BiCGStab>(3102);
}

TEST(OutOfMemory, SaysHowMuchWasAskedFor) {
  RefusingMemory memory(std::pmr::new_delete_resource());
  memory.allow(0);
  try {
    const Array<double> array(3 << 17, Device::cpu(1, &memory));
    ADD_FAILURE() << "allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("3.0 MiB more requested, available are "),
              std::string::npos)
        << error.what();
  }
}

TEST(OutOfMemory, ASolverAllocatesWhatItSays) {
  Seed seed(3103);
  const auto matrix = random_positive_definite_matrix<E>(700, 5, seed.generator);
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(2, &memory);
  const Operator<E> A(matrix, parse_plan("pJDS"), device);
  const std::shared_ptr<Preconditioner<double>> jacobi = std::make_shared<Jacobi<E>>(A), none;
  const auto check = [&]<class Solver>(const std::shared_ptr<Preconditioner<double>>& with) {
    const long long before = memory.live;
    Solver solver(A, with);
    EXPECT_EQ(memory.live - before, solver.memory());
    Field<E> b = A.field(), x = A.field();
    for (double& value : b.scalars()) value = 1;
    const long long made = memory.live;
    EXPECT_TRUE(solver.solve(b.view(), x.view()).converged());
    EXPECT_EQ(memory.live, made);
  };
  for (const auto& preconditioner : {none, jacobi}) {
    check.operator()<ConjugateGradient<double>>(preconditioner);
    check.operator()<BiCGStab<double>>(preconditioner);
  }
}

/// Rows of so many components that no machine can hold a field of them.
class Vast final : public LinearOperator<double> {
 public:
  Index rows() const override { return 1 << 20; }
  int row_components() const override { return 1 << 30; }
  void apply(double, const FieldView<const double>&, double, const FieldView<double>&,
             const Stream&) const override {}
};

TEST(OutOfMemory, IsPredictedBeforeASolverMakesItsFields) {
  const Vast matrix;
  const auto refusal = [](const auto& make) -> std::string {
    try {
      make();
      return "made";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      return error.what();
    }
  };
  EXPECT_TRUE(refusal([&] { ConjugateGradient<double> solver(matrix); })
                  .starts_with("the solver needs 5 fields of 8192.0 TiB and 256.0 KiB for its "
                               "loop's sums and scalars besides the matrix, "
                               "available are "));
  EXPECT_TRUE(refusal([&] { BiCGStab<double> solver(matrix); })
                  .starts_with("the solver needs 7 fields of 8192.0 TiB and 256.0 KiB for its "
                               "loop's sums and scalars besides the matrix, "
                               "available are "));
}

}  // namespace
