// Several right-hand sides, solved one by one and densely in long double.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "dense_factors.hpp"
#include "eigen_systems.hpp"
#include "systems.hpp"

namespace heddle::test {

template <class E>
std::vector<Field<E>> random_fields(int count, Index rows, Generator& generator) {
  std::vector<Field<E>> fields;
  for (int k = 0; k < count; ++k) fields.push_back(random_vector<E>(rows, generator));
  return fields;
}
template <class E>
auto const_views_of(const std::vector<Field<E>>& fields) {
  std::vector<FieldView<const vector_scalar_t<E>>> views;
  for (const Field<E>& field : fields) views.push_back(field.view());
  return views;
}

/// The reports state the true residuals, and each x matches a dense solve up to its residual.
template <class E>
void expect_solutions(const System<E>& system, const std::vector<Field<E>>& b,
                      const std::vector<Field<E>>& x, const std::vector<Report>& reports) {
  using S = vector_scalar_t<E>;
  using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Dense dense = expansion<long double>(system.matrix);
  const CholeskyFactors<long double> factor(dense);
  ASSERT_EQ(reports.size(), b.size());
  for (std::size_t k = 0; k < b.size(); ++k) {
    SCOPED_TRACE("column " + std::to_string(k));
    ASSERT_TRUE(reports[k].converged()) << reports[k];
    const Vector<long double> rhs = components_of<long double>(b[k]);
    const Vector<long double> found = components_of<long double>(x[k]);
    const long double size = rhs.norm(), residual = (rhs - dense * found).norm();
    EXPECT_LE(residual, default_tolerance<S> * size * 1.001L);
    // The solver forms products in double, whatever S is.
    const auto rounding = static_cast<double>(dense.norm() * found.norm()) * 1e-14;
    EXPECT_NEAR(static_cast<double>(residual), reports[k].residual_norm, rounding);
    const Vector<long double> exact = factor.solve(rhs);
    EXPECT_LE((found - exact).norm(), system.inverse_norm * residual * 1.01L + 1e-17L * size);
  }
}

}  // namespace heddle::test
