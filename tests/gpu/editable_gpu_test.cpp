// A matrix on a GPU that changes under its solvers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/editable_matrix.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/problems.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"

namespace editable_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;
using Real = real<double>;

class EditableOnGpu : public OnGpu {};

TEST_F(EditableOnGpu, SolversGoOnAfterEdits) {
  const auto csr = poisson(20000);
  const Index rows = csr.rows();
  EditableMatrix<Real> A(HierarchicalMatrix<Real>(csr, 32, device));
  EditableMatrix<Real> on_cpu{HierarchicalMatrix<Real>(csr, 32)};
  ConjugateGradient cg(A, HierarchicalJacobi(A)), cg_on_cpu(on_cpu, HierarchicalJacobi(on_cpu));
  Lsmr least_squares(A, {.tolerance = 1e-10});
  Field<Real> b(rows);
  for (Index i = 0; i < rows; ++i) b.set(i, {{1.0 + i % 5}});
  const Field<Real> b_there = on_gpu(b, device);
  for (int step = 0; step < 4; ++step) {
    SCOPED_TRACE(step);
    // Edits of one entry each merge pools.
    for (Index i = 0; i < 30 * step; ++i) {
      EditBatch<Real> edits;
      const Index row = (i * 7919 + step) % rows;
      edits.add(row, row, {{1.0 + step}});
      A.edit(edits);
      on_cpu.edit(edits);
    }
    Field<Real> x(rows, device), y(rows), z(rows, device);
    const Report report = cg.solve(b_there, x), expected = cg_on_cpu.solve(b, y);
    ASSERT_TRUE(report.converged());
    EXPECT_NEAR(static_cast<double>(report.iterations), static_cast<double>(expected.iterations),
                3);
    ASSERT_TRUE(least_squares.solve(b_there, z).converged());
    const Field<Real> x_back = x.to_host(), z_back = z.to_host();
    for (std::size_t i = 0; i < y.scalars().size(); ++i) {
      ASSERT_NEAR(x_back.scalars()[i], y.scalars()[i], 1e-6 * std::abs(y.scalars()[i]) + 1e-6);
      ASSERT_NEAR(z_back.scalars()[i], y.scalars()[i], 1e-3 * std::abs(y.scalars()[i]) + 1e-3);
    }
  }
}

TEST_F(EditableOnGpu, RefuseGraphsAndOtherDevices) {
  const HierarchicalMatrix<Real> matrix(poisson(200));
  EditableMatrix<Real> A(matrix.on(device));
  ConjugateGradient cg(A, HierarchicalJacobi(A));
  Field<Real> b(A.rows(), device), x(A.rows(), device);
  Array<DeviceReport> report(1, device);
  EXPECT_FALSE(A.is_capturable());
  EXPECT_THROW(cg.enqueue(b.view(), x.view(), report.data()), Error);
  expect_error(ErrorKind::usage,
               "a matrix is not replaced by one of another device or stream; `on` takes it there",
               [&] { A.assign(matrix); });
}

}  // namespace
}  // namespace editable_gpu
