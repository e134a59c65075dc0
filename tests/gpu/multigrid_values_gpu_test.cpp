// Values of multigrid levels computed by a GPU: equal to the CPU's, which computes doubtful ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace multigrid_values_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class MultigridValuesOnGpu : public OnGpu {};

template <class E>
std::vector<FieldView<const vector_scalar_t<E>>> views_of(const std::vector<Field<E>>& fields) {
  std::vector<FieldView<const vector_scalar_t<E>>> views;
  for (const Field<E>& field : fields) views.push_back(field.view());
  return views;
}

/// D A D for a random diagonal D of about 1.
template <class E>
CsrMatrix<E> scaled_on_both_sides(const CsrMatrix<E>& matrix, std::uint64_t number) {
  Seed seed(number);
  std::vector<double> scale(static_cast<std::size_t>(matrix.rows()));
  for (double& value : scale) value = 0.99 + 0.02 * uniform(seed.generator);
  CsrMatrix<E> scaled = matrix;
  constexpr std::size_t K = E::components;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset e = matrix.offsets()[static_cast<std::size_t>(row)];
         e < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const auto column = static_cast<std::size_t>(matrix.column()[at]);
      for (std::size_t k = at * K; k < (at + 1) * K; ++k) {
        scaled.values()[k] *=
            static_cast<stored_scalar_t<E>>(scale[static_cast<std::size_t>(row)] * scale[column]);
      }
    }
  }
  return scaled;
}

template <class E>
std::vector<double> cycled(const Operator<E>& A, const Multigrid<vector_scalar_t<E>>& M,
                           const Field<E>& b) {
  using S = vector_scalar_t<E>;
  Field<E> r = A.field(), z = A.field();
  permute<S>(b.view(), r.view(), 1, A.device().stream());
  M.apply(r.view(), z.view(), A.device().stream());
  const std::vector<S> scalars = z.to_host().scalars().to_host();
  return {scalars.begin(), scalars.end()};
}

/// Expects levels with the same aggregates and patterns, and the same eigenvalues up to rounding.
void expect_same_levels(const MultigridReport& found, const MultigridReport& expected,
                        double rounding) {
  ASSERT_EQ(found.levels.size(), expected.levels.size());
  for (std::size_t l = 0; l < found.levels.size(); ++l) {
    EXPECT_EQ(found.levels[l].rows, expected.levels[l].rows);
    EXPECT_EQ(found.levels[l].entries, expected.levels[l].entries);
    EXPECT_EQ(found.levels[l].strength, expected.levels[l].strength);
    EXPECT_EQ(found.levels[l].is_solved, expected.levels[l].is_solved);
    EXPECT_LE(std::abs(found.levels[l].largest - expected.levels[l].largest),
              rounding * expected.levels[l].largest);
  }
}

/// The set-up and new values, on the GPU and on the CPU.
template <class E>
void expect_same_refresh(const Device& device, const CsrMatrix<E>& matrix, const char* plan,
                         int coarsest, const std::vector<Field<E>>& candidates = {},
                         Interpolation interpolation = Interpolation::smoothed,
                         StoredScalar precision = StoredScalar::own) {
  SCOPED_TRACE(plan);
  using S = vector_scalar_t<E>;
  Seed seed(6706);
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  const CsrMatrix<E> scaled = scaled_on_both_sides(matrix, 6707);
  const MultigridOptions options{
      .interpolation = interpolation, .coarsest = coarsest, .level_precision = precision};
  Operator<E> on_cpu(matrix, parse_plan(plan)), A(matrix, parse_plan(plan), device);
  Multigrid<S> here(on_cpu, options, views_of(candidates));
  Multigrid<S> there(A, options, views_of(candidates));
  EXPECT_TRUE(there.report().is_refreshed_on_gpu);
  EXPECT_GT(there.report().refresh_bytes, 0);
  EXPECT_EQ(here.report().refresh_bytes, 0);
  const bool is_single = std::is_same_v<S, float> || precision == StoredScalar::single ||
                         std::string(plan).find("single") != std::string::npos;
  const double rounding = is_single ? 1e-4 : 1e-9;
  expect_same_levels(there.report(), here.report(), rounding);
  const std::vector<double> before = cycled(A, there, b);
  const double setups_apart = distance(before, cycled(on_cpu, here, b));
  EXPECT_FALSE(!(setups_apart <= rounding)) << setups_apart;
  on_cpu.update_values(scaled);
  here.refresh();
  const std::vector<double> expected = cycled(on_cpu, here, b);
  std::vector<double> first;
  for (const CsrMatrix<E>* values : {&scaled, &matrix, &scaled}) {
    A.update_values(*values);
    there.refresh();
    EXPECT_TRUE(there.report().is_refreshed_on_gpu);
    const std::vector<double> found = cycled(A, there, b);
    const double apart = distance(found, values == &scaled ? expected : before);
    EXPECT_FALSE(!(apart <= rounding)) << apart;
    if (values == &matrix) continue;
    if (first.empty()) first = found;
    EXPECT_EQ(found, first);
  }
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpu) {
  expect_same_refresh(device, poisson(9000), "pJDS", 30);
  expect_same_refresh(device, poisson(9000), "pJDS", 400);
  expect_same_refresh(device, poisson(9000), "pJDS", 400, {}, Interpolation::plain);
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuOverComplexNumbers) {
  Seed seed(6708);
  const auto matrix = random_system<complex<double>>(2000, 2, 0.05, 0, seed.generator).matrix;
  expect_same_refresh(device, matrix, "Sl-32,vector=soa,inner=soa", 100);
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuOverQuaternions) {
  Seed seed(6709);
  const auto matrix = random_system<quaternion<double>>(2000, 2, 0.05, 0, seed.generator).matrix;
  expect_same_refresh(device, matrix, "K1rs,iteration-precision=single", 100);
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuOverBlocks) {
  Seed seed(6710);
  const auto matrix = random_system<block<double, 2, 2>>(2000, 2, 0.05, 0, seed.generator).matrix;
  expect_same_refresh(device, matrix, "pJDS", 100);
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuWithMotionsOfARigidBody) {
  using E = block<double, 3, 3>;
  const TetrahedronMesh mesh = random_solid(3000);
  const std::span points(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices));
  const auto modes = rigid_body_modes<double>(points);
  const auto there = rigid_body_modes<double>(points, 3, device);
  std::vector<Field<E>> candidates;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    Field<E>& field = candidates.emplace_back(mesh.free_vertices);
    std::copy(modes[k].begin(), modes[k].end(), field.scalars().begin());
    EXPECT_EQ(there[k].to_host(), modes[k]);
  }
  expect_same_refresh(device, elasticity(mesh), "pJDS", 100, candidates);
  expect_same_refresh(device, elasticity(mesh), "pJDS", 100, candidates, Interpolation::smoothed,
                      StoredScalar::single);
}

/// Rows of the coarse matrix in several windows, and rows that are longer than those.
TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuOverLongRowsOfTiles) {
  using E = block<double, 3, 3>;
  Seed seed(6711);
  const auto matrix = random_system<E>(3000, 4, 0.05, 0, seed.generator).matrix;
  std::vector<Field<E>> candidates;
  for (int k = 0; k < 6; ++k) candidates.push_back(random_field<E>(3000, seed.generator));
  expect_same_refresh(device, matrix, "pJDS", 100, candidates);
  expect_same_refresh(device, matrix, "pJDS", 100, candidates, Interpolation::plain);
}

TEST_F(MultigridValuesOnGpu, AreThoseOfTheCpuInFloats) {
  const auto matrix = poisson(9000);
  Array<float> values(matrix.values().size());
  std::copy(matrix.values().begin(), matrix.values().end(), values.begin());
  const CsrMatrix<real<float>> floats(matrix.rows(), matrix.columns(), matrix.offsets(),
                                      matrix.column(), std::move(values));
  expect_same_refresh(device, floats, "pJDS", 100);
}

/// The CPU computes or refuses values that the GPU cannot decide.
TEST_F(MultigridValuesOnGpu, LeavesDoubtfulValuesToTheCpu) {
  using E = real<double>;
  const auto matrix = poisson(9000);
  Seed seed(6707);
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  Operator<E> on_cpu(matrix, parse_plan("pJDS")), A(matrix, parse_plan("pJDS"), device);
  Multigrid<double> here(on_cpu), there(A);
  const auto update = [&](const CsrMatrix<E>& values) {
    std::string words[2];
    on_cpu.update_values(values);
    A.update_values(values);
    for (Multigrid<double>* const M : {&here, &there}) {
      try {
        M->refresh();
      } catch (const Error& error) {
        words[M == &there] = error.what();
      }
    }
    EXPECT_EQ(words[0], words[1]);
    // A set-up refuses the same values as an update.
    for (const Operator<E>* const matrix_of : {&on_cpu, &A}) {
      std::string of_setup;
      try {
        const Multigrid<double> M(*matrix_of);
      } catch (const Error& error) {
        of_setup = error.what();
      }
      EXPECT_EQ(of_setup, words[0]);
    }
    return words[0];
  };
  const auto with = [&](const auto& change) {
    CsrMatrix<E> values = matrix;
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset e = matrix.offsets()[static_cast<std::size_t>(row)];
           e < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++e) {
        const auto at = static_cast<std::size_t>(e);
        change(row, matrix.column()[at], values.values()[at]);
      }
    }
    return values;
  };
  EXPECT_NE(update(with([](Index row, Index column, double& value) {
              if (row == column && row == 17) value = -1;
            })).find("not positive semidefinite"),
            std::string::npos);
  EXPECT_NE(update(with([](Index row, Index column, double& value) {
              if (row == 5 && column != 5) value *= 2;
            })).find("not Hermitian"),
            std::string::npos);
  EXPECT_NE(update(with([](Index row, Index column, double& value) {
              if (row == column && row == 17) value = 0;
            })).find("not positive semidefinite"),
            std::string::npos);
  // The estimate of the largest eigenvalue no longer holds.
  EXPECT_EQ(update(with([](Index row, Index column, double& value) {
              value *= (1 + row % 2) * (1 + column % 2);
            })),
            "");
  EXPECT_FALSE(there.report().is_refreshed_on_gpu);
  EXPECT_LE(distance(cycled(A, there, b), cycled(on_cpu, here, b)), 1e-9);
  // Sums no larger than before are known to be valid once more.
  for (int k = 0; k < 2; ++k) EXPECT_EQ(update(matrix), "");
  EXPECT_TRUE(there.report().is_refreshed_on_gpu);
  EXPECT_LE(distance(cycled(A, there, b), cycled(on_cpu, here, b)), 1e-9);
}

/// A graph's Laplacian, whose coarsest level is singular.
TEST_F(MultigridValuesOnGpu, LeavesASingularCoarsestLevelToTheHost) {
  using E = real<double>;
  auto matrix = poisson(9000);
  for (Index row = 0; row < matrix.rows(); ++row) {
    double sum = 0, *diagonal = nullptr;
    for (Offset e = matrix.offsets()[static_cast<std::size_t>(row)];
         e < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++e) {
      double& value = matrix.values()[static_cast<std::size_t>(e)];
      if (matrix.column()[static_cast<std::size_t>(e)] == row) {
        diagonal = &value;
      } else {
        sum += value;
      }
    }
    *diagonal = -sum;
  }
  Seed seed(6708);
  const Field<E> b = random_field<E>(matrix.rows(), seed.generator);
  Operator<E> on_cpu(matrix, parse_plan("pJDS")), A(matrix, parse_plan("pJDS"), device);
  Multigrid<double> here(on_cpu), there(A);
  auto doubled = matrix;
  for (double& value : doubled.values()) value *= 2;
  on_cpu.update_values(doubled);
  A.update_values(doubled);
  here.refresh();
  there.refresh();
  EXPECT_TRUE(there.report().is_refreshed_on_gpu);
  EXPECT_LE(distance(cycled(A, there, b), cycled(on_cpu, here, b)), 1e-6);
}

}  // namespace
}  // namespace multigrid_values_gpu
