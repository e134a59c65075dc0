// A user-defined method, on the CPU and, if there is one, in a graph on a GPU: its listing is
// steepest_descent.hpp, whose text CMake's heddle_embed_entry gives to the run-time compiler.
#include <iostream>
#include <memory>
#include <utility>

#include "heddle/detail/method_over.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "steepest_descent.hpp"

using E = heddle::real<double>;

/// The solver around it: stopping, restarts, bases and the report come from the library.
class SteepestDescentSolver final : public heddle::KrylovSolver<double> {
 public:
  SteepestDescentSolver(heddle::OperatorReference<double> matrix,
                        std::shared_ptr<heddle::Preconditioner<double>> preconditioner,
                        heddle::SolverOptions options)
      : KrylovSolver(std::move(matrix), preconditioner, std::move(options),
                     heddle::detail::method_over<SteepestDescent, false, double>(
                         row, heddle::Ring::real, preconditioner != nullptr)) {}

 private:
  static constexpr heddle::MethodInfo row{
      .name = "steepest-descent",
      .title = "steepest descent with momentum",
      .type = "SteepestDescent",
      .header = "steepest_descent.hpp",
      .needs_hermitian = true,
      .not_hermitian = "steepest descent needs a Hermitian matrix",
      .lost = "d* A d is not positive"};
};

int main() {
  const auto matrix = heddle::poisson(2000);
  const bool has_gpu = heddle::Device::why_no_gpu().empty();
  for (const char* place : {"CPU", "GPU"}) {
    if (place[0] == 'G' && !has_gpu) continue;
    const heddle::Device device = place[0] == 'G' ? heddle::Device::cuda() : heddle::Device::cpu();
    const heddle::Operator<E> A(
        matrix, heddle::parse_plan(place[0] == 'G' ? "pJDS,loop=graph" : "CSR"), device);
    heddle::Field<E> b(A.rows()), x(A.rows());
    for (double& value : b.scalars()) value = 1;
    SteepestDescentSolver solver(A, std::make_shared<heddle::Jacobi<E>>(A), {.tolerance = 1e-8});
    const heddle::Report report = solver.solve(b.view(), x.view());
    std::cout << place << ", loop " << report.loop << ": " << report << '\n';
    if (!report.converged()) return 1;
  }
}
