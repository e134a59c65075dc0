// Preconditioners composed by a text, in the loops of a GPU, compared with the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "heddle/runtime/any_solver.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace composed_choice_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class ComposedChoiceOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(ComposedChoiceOnGpu, Entries);

void fill_waves(AnyField& field, double phase) {
  const Offset scalars = Offset(field.rows()) * field.components();
  for (Offset i = 0; i < scalars; ++i) field.set(i, std::cos(phase + static_cast<double>(i)));
}

/// |x - y| / |y|.
double distance(const AnyField& x, const AnyField& y) {
  double difference = 0, size = 0;
  const Offset scalars = Offset(x.rows()) * x.components();
  for (Offset i = 0; i < scalars; ++i) {
    difference += (x.get(i) - y.get(i)) * (x.get(i) - y.get(i));
    size += y.get(i) * y.get(i);
  }
  return std::sqrt(difference / size);
}

TYPED_TEST(ComposedChoiceOnGpu, SolvesAsOnACpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr bool single = sizeof(S) == 4;
  Seed seed(6011 + sizeof(E));
  constexpr Index rows = 1501;
  const AnyMatrix matrix(random_positive_definite_matrix<E>(rows, 7, seed.generator));
  const AnyOperator on_cpu(matrix, Plan{}, Device::cpu());
  AnyField b = on_cpu.row_field();
  fill_waves(b, 0.5);
  for (const std::string plan : {"C=32,sigma=n,inner=aosoa16,loop=graph", "CSR,loop=stepped"}) {
    const AnyOperator A(matrix, parse_plan(plan), this->device);
    for (const auto& [method, text] : std::vector<std::pair<std::string, std::string>>{
             {"bicgstab", "jacobi*fsai"},
             {"bicgstab", "block-jacobi:2,isai"},
             {"gmres", "neumann*jacobi,fsai"},
             {"fgmres", "jacobi,gmres:2"},
             {"cg", "jacobi*fsai*jacobi"},
             {"cg", "chebyshev:2,jacobi,chebyshev:2"}}) {
      SCOPED_TRACE(plan + " " + method + " " + text);
      const ComposedChoice choice = ComposedChoice::parse(text);
      AnySolver solver(A, find_method(method), choice, {}),
          reference(on_cpu, find_method(method), choice, {});
      AnyField x = A.column_field(), expected = on_cpu.column_field();
      const Report report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_TRUE(reference.solve(b, expected).converged());
      EXPECT_LE(distance(x, expected), single ? 1e-3 : 1e-7);
      const bool in_graph = text.find("gmres") == text.npos && plan.find("graph") != plan.npos;
      EXPECT_EQ(report.loop, in_graph ? "graph" : "stepped");
    }
  }
}

TYPED_TEST(ComposedChoiceOnGpu, BlocksSolveAsOnACpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr bool single = sizeof(S) == 4;
  Seed seed(6012 + sizeof(E));
  const AnyMatrix matrix(random_positive_definite_matrix<E>(901, 7, seed.generator));
  const AnyOperator on_cpu(matrix, Plan{}, Device::cpu()),
      A(matrix, parse_plan("C=32,sigma=n,inner=aosoa16"), this->device);
  for (const char* text : {"none", "jacobi", "jacobi*fsai*jacobi"}) {
    for (const double shift : {0.0, 0.25}) {
      if (shift != 0 && std::string(text) != "none") continue;
      SCOPED_TRACE(text);
      const ComposedChoice choice = ComposedChoice::parse(text);
      AnySolver solver(A, block_conjugate_gradient_info, choice, {.record_history = true}, shift),
          reference(on_cpu, block_conjugate_gradient_info, choice, {}, shift);
      std::vector<AnyField> b(5, on_cpu.row_field()), x(5, on_cpu.column_field()), expected = x;
      for (std::size_t k = 0; k < b.size(); ++k) fill_waves(b[k], static_cast<double>(k * k));
      const auto reports = solver.solve(b, x), others = reference.solve(b, expected);
      for (std::size_t k = 0; k < b.size(); ++k) {
        EXPECT_TRUE(reports[k].converged()) << reports[k];
        EXPECT_TRUE(others[k].converged()) << others[k];
        EXPECT_GT(reports[k].bytes_per_iteration, 0);
        EXPECT_EQ(solver.history(k).size(), static_cast<std::size_t>(reports[k].iterations) + 1);
        EXPECT_LE(distance(x[k], expected[k]), single ? 1e-3 : 1e-7);
      }
    }
  }
}

}  // namespace
}  // namespace composed_choice_gpu
