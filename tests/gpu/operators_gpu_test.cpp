// Polynomial preconditioners and operators made of operators on a GPU, compared with those on the
// CPU, as work in every form of a loop.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/polynomial.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace operators_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr Index rows = 1501;

const char* const plans[] = {"pJDS,loop=graph",
                             "Sl-32,vector=soa,inner=soa,loop=graph,reductions=1",
                             "K1rs,loop=replay",
                             "pJDS,loop=persistent",
                             "CSR,schedule=dynamic,loop=graph",
                             "pJDS,loop=stepped"};

/// The form of the loop if other work runs between its kernels.
std::string_view form_of(const std::string& plan) {
  if (plan.find("stepped") != std::string::npos) return "stepped";
  if (plan.find("dynamic") != std::string::npos) return "stepped";
  return plan.find("replay") != std::string::npos ? "replay" : "graph";
}
/// The same if the matrix itself is not in sliced storage, and so has no plan.
std::string_view form_without_plan(const std::string& plan) {
  return plan.find("dynamic") != std::string::npos ? "stepped" : "graph";
}

template <class E>
std::vector<double> scalars_of_field(const Field<E>& field) {
  const Field<E> host = field.to_host();
  return {host.scalars().begin(), host.scalars().end()};
}

/// z for r, both in the user's order.
template <class E>
std::vector<double> applied(const Preconditioner<double>& M, const Operator<E>& A,
                            const Field<E>& r) {
  Field<E> in = A.field(), out = A.field();
  const Stream stream = A.device().stream();
  permute<double>(r.view(), in.view(), 1, stream);
  M.apply(in.view(), out.view(), stream);
  Field<E> z(r.size());
  permute<double>(out.view(), z.view(), 1, stream);
  A.device().synchronize();
  return scalars_of_field(z);
}

template <class E>
CsrMatrix<E> scaled(CsrMatrix<E> matrix, double factor) {
  for (double& value : matrix.values()) value *= factor;
  return matrix;
}

template <class E>
class OperatorsOnGpu : public OnGpu {};
using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(OperatorsOnGpu, Entries);

TYPED_TEST(OperatorsOnGpu, PolynomialsAreThoseOfTheCpu) {
  using E = TypeParam;
  Seed seed(4101);
  const auto matrix = random_positive_definite_matrix<E>(rows, 6, seed.generator);
  const Field<E> r = random_field<E>(rows, seed.generator);
  const Operator<E> host(matrix, parse_plan("CSR"));
  const ChebyshevOptions options{.degree = 5, .interval = SpectralInterval{0.1, 2.5}};
  const auto chebyshev = applied(Chebyshev(host, Jacobi(host), options), host, r);
  const auto plain = applied(Chebyshev(host, {.degree = 3}), host, r);
  const auto neumann = applied(Neumann(host, Jacobi(host), 3), host, r);
  const double upper = Chebyshev(host, Jacobi(host)).interval().upper;
  for (const std::string plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), this->device);
    EXPECT_LE(distance(applied(Chebyshev(A, Jacobi(A), options), A, r), chebyshev), 1e-13);
    EXPECT_LE(distance(applied(Neumann(A, Jacobi(A), 3), A, r), neumann), 1e-13);
    // The random start has another order: the estimates are not equal, but close.
    EXPECT_NEAR(Chebyshev(A, Jacobi(A)).interval().upper / upper, 1, 0.1);
    EXPECT_LE(distance(applied(Chebyshev(A, {.degree = 3}), A, r), plain), 0.3);
  }
}

TYPED_TEST(OperatorsOnGpu, SolvesWithChebyshevFollowNewValues) {
  using E = TypeParam;
  Seed seed(4102);
  const auto first = random_positive_definite_matrix<E>(rows, 6, seed.generator);
  const auto second = scaled(first, 700);  // an interval of the first would make M indefinite
  const Field<E> b = random_field<E>(rows, seed.generator);
  const auto solved = [&](KrylovSolver<double>& solver, Report& report) {
    Field<E> x(rows);
    report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    return scalars_of_field(x);
  };
  Operator<E> host(first, parse_plan("CSR"));
  ConjugateGradient<double> on_cpu(host, Chebyshev(host, Jacobi(host)));
  ConjugateGradient<double> plain_on_cpu(host, Chebyshev(host));
  for (const std::string plan : plans) {
    for (const bool with_jacobi : {true, false}) {
      SCOPED_TRACE(plan + (with_jacobi ? "" : ", without Jacobi"));
      Operator<E> A(first, parse_plan(plan), this->device);
      auto M = with_jacobi ? Chebyshev<double>(A, Jacobi(A)) : Chebyshev<double>(A);
      ConjugateGradient<double> solver(A, std::move(M));
      auto& expected_by = with_jacobi ? on_cpu : plain_on_cpu;
      for (const auto* values : {&first, &second, &first}) {
        A.update_values(*values);
        host.update_values(*values);
        Report report, expected;
        const auto x = solved(solver, report);
        const auto y = solved(expected_by, expected);
        EXPECT_EQ(report.loop, form_of(plan));
        EXPECT_LE(distance(x, y), 1e-7);
        EXPECT_LE(std::abs(report.iterations - expected.iterations), 2 + expected.iterations / 4);
        if (report.loop == "stepped") continue;
        // In stream order, twice, so that the second launch uses the same graph.
        const Field<E> right = [&] {
          Field<E> copied(rows, this->device);
          copy<double>(b.view(), copied.view(), this->device.stream());
          return copied;
        }();
        for (int repetition = 0; repetition < 2; ++repetition) {
          Field<E> z(rows, this->device);
          Array<DeviceReport> queued(1, this->device);
          solver.enqueue(right.view(), z.view(), queued.data());
          this->device.synchronize();
          EXPECT_EQ(queued.to_host()[0].status, Status::converged);
          EXPECT_EQ(queued.to_host()[0].iterations, report.iterations);
          EXPECT_LE(distance(scalars_of_field(z), x), 1e-9);
        }
      }
    }
  }
}

TYPED_TEST(OperatorsOnGpu, OfOperatorsSolveInAGraph) {
  using E = TypeParam;
  Seed seed(4103);
  const auto matrix = random_positive_definite_matrix<E>(rows, 6, seed.generator);
  const auto mass = random_positive_definite_matrix<E>(rows, 3, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const auto solved = [&](KrylovSolver<double>&& solver, Report& report) {
    Field<E> x(rows);
    report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    return scalars_of_field(x);
  };
  const auto solve_all = [&](const Operator<E>& A, const Operator<E>& M,
                             std::vector<Report>& reports) {
    reports.resize(4);
    return std::vector<std::vector<double>>{
        solved(ConjugateGradient<double>(shifted(A, 0.5)), reports[0]),
        solved(ConjugateGradient<double>(shifted(A, 0.5), Chebyshev(shifted(A, 0.5))), reports[1]),
        solved(Minres<double>(sum(2, A, 0.5, M)), reports[2]),
        solved(Gmres<double>(product(A, M), {.max_iterations = 100000, .restart = 60}),
               reports[3])};
  };
  const Operator<E> host(matrix, parse_plan("CSR")), mass_of_host(mass, parse_plan("CSR"));
  std::vector<Report> expected_reports;
  const auto expected = solve_all(host, mass_of_host, expected_reports);
  for (const std::string plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), this->device);
    CsrView<E> view = mass.view();
    view.device = this->device;
    const Operator<E> M(view, parse_plan(plan), A.row_basis());
    std::vector<Report> reports;
    const auto found = solve_all(A, M, reports);
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_LE(distance(found[i], expected[i]), 1e-6);
      EXPECT_EQ(reports[i].loop, form_without_plan(plan));
    }
  }
}

}  // namespace
}  // namespace operators_gpu
