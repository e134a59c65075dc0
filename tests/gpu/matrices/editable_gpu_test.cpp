// A matrix on a GPU that changes while solvers use it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/editable_matrix.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/matrix_pencil.hpp"
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
    // Many edits of one entry each make the tree merge pools.
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

/// The preconditioner reads the diagonal in the memory of the tree.
TEST_F(EditableOnGpu, JacobiLeavesTheHostAlone) {
  const auto csr = poisson(3000);
  const Index rows = csr.rows();
  const Array<Offset> offsets(csr.offsets().span(), device);
  const Array<Index> column(csr.column().span(), device);
  const Array<double> values(csr.values().span(), device);
  EditableMatrix<Real> A(HierarchicalMatrix<Real>(
      CsrView<Real>{rows, rows, offsets.data(), column.data(), values.data(), row_major, device},
      32, device));
  EditableMatrix<Real> on_cpu{HierarchicalMatrix<Real>(csr, 32)};
  HierarchicalJacobi<Real> jacobi(A), expected(on_cpu);
  Field<Real> r(rows), z(rows), z_there(rows, device);
  for (Index i = 0; i < rows; ++i) r.set(i, {{1.0 + i % 5}});
  const Field<Real> r_there = on_gpu(r, device);
  for (int step = 0; step < 3; ++step) {
    SCOPED_TRACE(step);
    EditBatch<Real> edits;
    for (Index row = step; row < rows; row += 7) edits.add(row, row, {{1.0 + step}});
    if (step > 0) {
      A.edit(edits);
      on_cpu.edit(edits);
      jacobi.refresh();
      expected.refresh();
    }
    EXPECT_EQ(A.matrix().memory().host, 0);
    jacobi.apply(std::as_const(r_there).view(), z_there.view(), device.stream());
    expected.apply(std::as_const(r).view(), z.view(), on_cpu.device().stream());
    const Field<Real> z_back = z_there.to_host();
    for (std::size_t i = 0; i < z.scalars().size(); ++i) {
      ASSERT_DOUBLE_EQ(z_back.scalars()[i], z.scalars()[i]);
    }
  }
  EditBatch<Real> edits;
  edits.remove(1234, 1234);
  A.edit(edits);
  jacobi.refresh();
  jacobi.apply(std::as_const(r_there).view(), z_there.view(), device.stream());
  EXPECT_EQ(z_there.to_host().scalars()[1234], r.scalars()[1234]);
  EditBatch<Real> nan;
  nan.set(77, 77, {{std::nan("")}});
  A.edit(nan);
  expect_error(ErrorKind::singular,
               "Jacobi: the diagonal entry of row 77 (counted from 0) is not finite",
               [&] { jacobi.refresh(); });
}

/// A + sigma M has the bits of a newly made sum, in memory and with schedules that are kept.
template <class E>
void add_pencils(const Device& device, int node) {
  using S = vector_scalar_t<E>;
  Seed seed(78);
  const auto random = [&](int per_row) {
    return random_matrix<E>({.rows = 700, .columns = 500, .per_row = per_row}, seed.generator);
  };
  const HierarchicalMatrix<E> A(random(5), node, device), M(random(2), node, device);
  MatrixPencil<E> pencil(A, M);
  const auto x = random_field<E>(500, seed.generator);
  const auto there = on_gpu(x, device);
  const auto expect_same = [&](const HierarchicalMatrix<E>& sum,
                               const HierarchicalMatrix<E>& expected) {
    expect_same_bits(sum.to_csr(), expected.to_csr());
    Field<E> y(700, device), z(700, device);
    sum.apply(S(1), std::as_const(there).view(), S(0), y.view(), device.stream());
    expected.apply(S(1), std::as_const(there).view(), S(0), z.view(), device.stream());
    const Field<E> of_sum = y.to_host(), of_expected = z.to_host();
    EXPECT_TRUE(std::ranges::equal(of_sum.scalars(), of_expected.scalars()));
  };
  std::vector<std::pair<S, HierarchicalMatrix<E>>> kept;
  for (const S sigma : {S(0.5), S(-2), S(0), S(3), S(7), S(-1)}) {
    const auto sum = pencil.at(sigma);
    expect_same(sum, add(S(1), A, sigma, M));
    if (sigma == S(0)) kept.emplace_back(sigma, sum);
  }
  EXPECT_EQ(pencil.memory(), 2 * pencil.at(S(4)).memory().tree());
  for (const auto& [sigma, sum] : kept) expect_same(sum, add(S(1), A, sigma, M));
  // New values in the same places, then other places with the same number of entries per leaf, then
  // one more entry.
  EditBatch<E> values, moved, pattern;
  const auto map = map_of(A.to_csr());
  for (const auto& [place, entry] : map) {
    if (place.first % 3 == 0) {
      values.set(place.first, place.second, random_components<E>(seed.generator));
    }
  }
  const auto changed = A.edited(values);
  pencil.set(changed, M);
  expect_same(pencil.at(S(2)), add(S(1), changed, S(2), M));
  const auto place = map.begin()->first;
  const Index other = place.second ^ 1;
  if (map.find({place.first, other}) == map.end() && other < 500) {
    moved.remove(place.first, place.second);
    moved.set(place.first, other, random_components<E>(seed.generator));
  }
  const auto edited = changed.edited(moved);
  pencil.set(edited, M);
  expect_same(pencil.at(S(2)), add(S(1), edited, S(2), M));
  pattern.set(699, 499, random_components<E>(seed.generator));
  const auto more = edited.edited(pattern);
  pencil.set(more, M);
  for (const S sigma : {S(2), S(5), S(6)}) {
    expect_same(pencil.at(sigma), add(S(1), more, sigma, M));
  }
}

TEST_F(EditableOnGpu, PencilsKeepWhatMeets) {
  for (const int node : {4, 64}) {
    SCOPED_TRACE(node);
    add_pencils<Real>(device, node);
    add_pencils<complex<float>>(device, node);
    add_pencils<quaternion<double>>(device, node);
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
  expect_error(
      ErrorKind::usage,
      "a matrix cannot be replaced by one of another device or stream; `on` takes it there",
      [&] { A.assign(matrix); });
}

}  // namespace
}  // namespace editable_gpu
