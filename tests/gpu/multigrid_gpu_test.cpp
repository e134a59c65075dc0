// Multigrid on a GPU: the same cycle as on the CPU, in graphs and in enqueued solves, with new
// values.
#include "heddle/multigrid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/problems.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace multigrid_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class MultigridOnGpu : public OnGpu {};

template <class E>
std::vector<FieldView<const double>> views_of(const std::vector<Field<E>>& fields) {
  std::vector<FieldView<const double>> views;
  for (const Field<E>& field : fields) views.push_back(field.view());
  return views;
}

/// Random numbers, but 0 where A x is.
template <class E>
Field<E> right_hand_side(const CsrMatrix<E>& matrix, std::uint64_t number) {
  Seed seed(number);
  Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto values = matrix.values().begin();
    const auto first = matrix.offsets()[static_cast<std::size_t>(row)] * E::components;
    const auto end = matrix.offsets()[static_cast<std::size_t>(row) + 1] * E::components;
    if (std::all_of(values + first, values + end, [](double value) { return value == 0; })) {
      b.set(row, {});
    }
  }
  return b;
}

template <class E>
void expect_same(const Device& device, const CsrMatrix<E>& matrix, std::uint64_t number,
                 const std::vector<Field<E>>& candidates = {}) {
  const Field<E> b = right_hand_side(matrix, number);
  for (const std::string name :
       {"pJDS,loop=graph", "Sl-32,vector=soa,inner=soa,loop=graph", "K1rs,loop=stepped",
        "pJDS,loop=graph,iteration-precision=single", "levels=single"}) {
    SCOPED_TRACE(name);
    const bool is_in_floats = name == "levels=single";
    const std::string plan = is_in_floats ? "Sl-32,vector=soa,inner=aosoa16,loop=graph" : name;
    const bool is_single = name.find("single") != name.npos;
    MultigridOptions options{.coarsest = 100};
    if (is_in_floats) options.level_precision = StoredScalar::single;
    const Operator<E> on_cpu(matrix, parse_plan(plan));
    Operator<E> A(matrix, parse_plan(plan), device);
    Multigrid<double> here(on_cpu, options, views_of(candidates));
    auto there = std::make_shared<Multigrid<double>>(A, options, views_of(candidates));
    EXPECT_TRUE(there->is_capturable());
    EXPECT_TRUE(is_single || there->can_queue_refresh());
    // The set-up finds the same aggregates.
    const std::vector<MultigridLevel> levels = there->report().levels;
    const std::vector<MultigridLevel> expected_levels = here.report().levels;
    EXPECT_GE(levels.size(), 2U);
    ASSERT_EQ(levels.size(), expected_levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
      EXPECT_EQ(levels[l].rows, expected_levels[l].rows);
      EXPECT_EQ(levels[l].entries, expected_levels[l].entries);
      EXPECT_NEAR(levels[l].largest, expected_levels[l].largest,
                  (is_single ? 1e-4 : 1e-9) * expected_levels[l].largest);
    }

    // One cycle.
    Field<E> r = on_cpu.field(), z = on_cpu.field();
    permute<double>(b.view(), r.view(), 1, on_cpu.device().stream());
    here.apply(r.view(), z.view(), on_cpu.device().stream());
    Field<E> r_there = A.field(), z_there = A.field();
    permute<double>(b.view(), r_there.view(), 1, device.stream());
    there->apply(r_there.view(), z_there.view(), device.stream());
    const Field<E> found = z_there.to_host();
    const std::vector<double> expected(z.scalars().begin(), z.scalars().end());
    const std::vector<double> cycled(found.scalars().begin(), found.scalars().end());
    EXPECT_FALSE(!(distance(cycled, expected) <= (is_single ? 1e-4 : 1e-9)))
        << distance(cycled, expected);

    // Solves.
    ConjugateGradient<double> solver(A, std::shared_ptr<Preconditioner<double>>(there));
    ConjugateGradient<double> host_solver(on_cpu, std::move(here));
    Field<E> x(matrix.rows()), again(matrix.rows()), on_host(matrix.rows());
    const Report report = solver.solve(b.view(), x.view());
    const Report host = host_solver.solve(b.view(), on_host.view());
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.loop, plan.find("stepped") != plan.npos ? "stepped" : "graph");
    EXPECT_LE(std::abs(report.iterations - host.iterations), 2 + (is_single ? 10 : 0));
    solver.solve(b.view(), again.view());
    EXPECT_TRUE(std::equal(x.scalars().begin(), x.scalars().end(), again.scalars().begin()));

    // New values, in memory that a graph has recorded.
    auto doubled = matrix;
    for (double& value : doubled.values()) value *= 2;
    A.update_values(doubled);
    Field<E> halved(matrix.rows());
    const Report renewed = solver.solve(b.view(), halved.view());
    EXPECT_TRUE(renewed.converged()) << renewed;
    EXPECT_LE(std::abs(renewed.iterations - report.iterations), 1 + (is_single ? 10 : 0));
  }
}

/// Cycles of every kind and smoother, and solves with them in a graph.
template <class E>
void expect_same_smoothers(const Device& device, const CsrMatrix<E>& matrix, std::uint64_t number) {
  Seed seed(number);
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  for (const std::string plan : {"pJDS,loop=graph", "Sl-32,vector=soa,inner=soa,loop=graph"}) {
    for (const Smoother smoother :
         {Smoother::jacobi, Smoother::l1_jacobi, Smoother::gauss_seidel}) {
      for (const Cycle cycle : {Cycle::v, Cycle::k}) {
        SCOPED_TRACE(plan + ", smoother " + std::to_string(static_cast<int>(smoother)) +
                     ", cycle " + std::to_string(static_cast<int>(cycle)));
        const MultigridOptions options{
            .cycle = cycle, .smoother = smoother, .degree = 2, .coarsest = 30};
        const Operator<E> on_cpu(matrix, parse_plan(plan));
        const Operator<E> A(matrix, parse_plan(plan), device);
        const Multigrid<double> here(on_cpu, options);
        auto there = std::make_shared<Multigrid<double>>(A, options);
        EXPECT_GE(there->report().levels.size(), 3U);
        EXPECT_TRUE(there->is_capturable());
        Field<E> r = on_cpu.field(), z = on_cpu.field(), r_there = A.field(), z_there = A.field();
        permute<double>(b.view(), r.view(), 1, on_cpu.device().stream());
        here.apply(r.view(), z.view(), on_cpu.device().stream());
        permute<double>(b.view(), r_there.view(), 1, device.stream());
        there->apply(r_there.view(), z_there.view(), device.stream());
        const Field<E> found = z_there.to_host();
        const std::vector<double> expected(z.scalars().begin(), z.scalars().end());
        const std::vector<double> cycled(found.scalars().begin(), found.scalars().end());
        EXPECT_FALSE(!(distance(cycled, expected) <= 1e-9)) << distance(cycled, expected);
        Fgmres<double> solver(A, std::shared_ptr<Preconditioner<double>>(there));
        Field<E> x(matrix.rows()), again(matrix.rows());
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_EQ(report.loop, "graph");
        solver.solve(b.view(), again.view());
        EXPECT_TRUE(std::equal(x.scalars().begin(), x.scalars().end(), again.scalars().begin()));
      }
    }
  }
}

/// A V-cycle fuses the operations that a W-cycle does one by one with operators and vector
/// operations; on two levels both are the same.
template <class E>
void expect_same_bits(const Device& device, const CsrMatrix<E>& matrix, const char* plan,
                      const MultigridOptions& options) {
  SCOPED_TRACE(std::string(plan) + ", degree " + std::to_string(options.degree));
  Seed seed(6704);
  const Operator<E> A(matrix, parse_plan(plan), device);
  Field<E> r = A.field(), joined = A.field(), one_by_one = A.field();
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  permute<double>(b.view(), r.view(), 1, device.stream());
  MultigridOptions composed = options;
  composed.cycle = Cycle::w;
  const Multigrid<double> steps(A, options), parts(A, composed);
  ASSERT_EQ(steps.report().levels.size(), 2U);
  EXPECT_LT(steps.bytes_of_application(), parts.bytes_of_application());
  parts.apply(r.view(), one_by_one.view(), device.stream());
  for (int again = 0; again < 3; ++again) {
    fill<double>(0, joined.view(), device.stream());
    steps.apply(r.view(), joined.view(), device.stream());
    EXPECT_EQ(joined.to_host().scalars().to_host(), one_by_one.to_host().scalars().to_host());
  }
}

TEST_F(MultigridOnGpu, StepsHaveTheBitsOfTheOperators) {
  Seed seed(6705);
  // With more rows than levels that are cycled in one kernel may have, and with fewer.
  for (const bool is_large : {true, false}) {
    const Index rows = is_large ? 900 : 300;
    const auto grid = poisson(is_large ? 3000 : 350);
    const auto blocks = random_system<block<double, 3, 3>>(rows, 2, 0.05, 0, seed.generator).matrix;
    const auto turns = random_system<quaternion<double>>(rows, 2, 0.05, 0, seed.generator).matrix;
    const int coarsest = is_large ? 700 : 300;
    for (const int degree : {0, 1, 3}) {
      const MultigridOptions options{.degree = degree, .coarsest = coarsest};
      expect_same_bits(device, grid, "C=32,sigma=n,T=2", options);
      expect_same_bits(device, blocks, "C=16,threshold=4,vector=soa,inner=soa", options);
      expect_same_bits(device, turns, "CSR", options);
      expect_same_bits(device, turns, "K1rs,iteration-precision=single", options);
    }
    const MultigridOptions sweeps{.smoother = Smoother::jacobi, .degree = 3, .coarsest = coarsest};
    expect_same_bits(device, grid, "pJDS", sweeps);
    expect_same_bits(device, blocks, "C=1", sweeps);
  }
}

/// Blocks have a warp for each row.
TEST_F(MultigridOnGpu, StepsOverLongRowsOfBlocksHaveTheBitsOfTheOperators) {
  Seed seed(6711);
  const auto matrix = random_system<block<double, 3, 3>>(603, 20, 0.05, 0, seed.generator).matrix;
  const auto complexes =
      random_system<block<complex<double>, 2, 2>>(401, 20, 0.05, 0, seed.generator).matrix;
  const MultigridOptions options{.degree = 2, .coarsest = 600};
  for (const char* plan : {"C=32,T=32", "C=32,T=32,vector=soa,inner=soa",
                           "C=32,T=32,inner=aosoa,column-bits=16", "C=32,T=32,inner=aosoa16"}) {
    expect_same_bits(device, matrix, plan, options);
    expect_same_bits(device, complexes, plan, options);
  }
}

/// Steps of two levels have kernels of their own; the steps of all other levels share one kernel.
TEST_F(MultigridOnGpu, CyclesLargeLevelsStepByStep) { expect_same(device, poisson(30000), 7); }

TEST_F(MultigridOnGpu, SmoothsAndCyclesAsOnTheCpu) {
  Seed seed(6703);
  expect_same_smoothers(device, poisson(9000), 5);
  expect_same_smoothers(
      device, random_system<block<double, 3, 3>>(2000, 2, 0.05, 0, seed.generator).matrix, 6);
}

TEST_F(MultigridOnGpu, SolvesAsOnTheCpu) {
  Seed seed(6701);
  expect_same(device, poisson(9000), 1);
  expect_same(device, random_system<complex<double>>(2000, 2, 0.05, 0, seed.generator).matrix, 2);
  expect_same(device, random_system<quaternion<double>>(2000, 2, 0.05, 0, seed.generator).matrix,
              3);
}

TEST_F(MultigridOnGpu, TakesTheMotionsOfARigidBody) {
  using E = block<double, 3, 3>;
  const TetrahedronMesh mesh = random_solid(3000);
  const auto modes = rigid_body_modes<double>(
      std::span(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices)));
  std::vector<Field<E>> candidates;
  for (const auto& mode : modes) {
    Field<E>& field = candidates.emplace_back(mesh.free_vertices);
    std::copy(mode.begin(), mode.end(), field.scalars().begin());
  }
  expect_same(device, elasticity(mesh), 4, candidates);
}

/// Vertices that no element uses: zeros are stored for them, or nothing.
TEST_F(MultigridOnGpu, LeavesOutRowsOfZeros) {
  using E = block<double, 3, 3>;
  const CsrMatrix<E> whole = elasticity(random_solid(3000));
  for (const bool are_stored : {true, false}) {
    SCOPED_TRACE(are_stored);
    Pattern pattern{whole.rows(), whole.rows(), {0}, {}};
    std::vector<E> entries;
    for (Index row = 0; row < whole.rows(); ++row) {
      for (Offset i = whole.offsets()[std::size_t(row)]; i < whole.offsets()[std::size_t(row) + 1];
           ++i) {
        const Index column = whole.column()[std::size_t(i)];
        const bool is_used = row % 41 != 7 && column % 41 != 7;
        if (!is_used && !are_stored) continue;
        pattern.column.push_back(column);
        entries.push_back(is_used ? whole.entry(i) : E::zero());
      }
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    expect_same(device, matrix_of(pattern, entries), 8);
  }
}

TEST_F(MultigridOnGpu, IsPartOfAnEnqueuedSolve) {
  using E = real<double>;
  const auto matrix = poisson(9000);
  Seed seed(6702);
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  const Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), device);
  ConjugateGradient<double> solver(A, Multigrid<double>(A));
  Field<E> x(matrix.rows());
  ASSERT_TRUE(solver.solve(b.view(), x.view()).converged());
  const Field<E> right = on_gpu(b, device);
  Field<E> there(matrix.rows(), device);
  Array<DeviceReport> report(1, device);
  solver.enqueue(right.view(), there.view(), report.data());
  device.synchronize();
  EXPECT_EQ(report.to_host()[0].status, Status::converged);
  const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
  EXPECT_EQ(there.scalars().to_host(), scalars);
}

}  // namespace
}  // namespace multigrid_gpu
