// Hermitian matrices for eigensolvers, their real expansions, and what eigenpairs must satisfy.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dense_factors.hpp"
#include "heddle/csr.hpp"
#include "heddle/field.hpp"
#include "heddle/lobpcg.hpp"
#include "support/random_matrix.hpp"
#include "systems.hpp"

namespace heddle::test {

/// The real expansion: each eigenvalue appears in it once for every scalar of a number of the ring.
template <class E>
Eigen::MatrixXd expansion_of(const CsrMatrix<E>& matrix) {
  constexpr int size = vector_entry_t<E>::components;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(Eigen::Index(matrix.rows()) * size,
                                                Eigen::Index(matrix.columns()) * size);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const Index column = matrix.column()[static_cast<std::size_t>(i)];
      dense.block(Eigen::Index(row) * size, Eigen::Index(column) * size, size, size) +=
          tile_of(matrix.entry(i));
    }
  }
  return dense;
}

/// A Hermitian matrix with a real diagonal, uniform in [from, to].
template <class E>
CsrMatrix<E> random_hermitian_matrix(Index rows, Index per_row, Generator& generator,
                                     double from = -2, double to = 2) {
  CsrMatrix<E> matrix = random_positive_definite_matrix<E>(rows, per_row, generator, 0);
  const E one = one_entry<E>();
  for (Index row = 0; row < rows; ++row) {
    const double value = uniform(generator, from, to);
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      if (matrix.column()[static_cast<std::size_t>(i)] != row) continue;
      for (int k = 0; k < E::components; ++k) {
        matrix.values()[static_cast<std::size_t>(i) * E::components + static_cast<std::size_t>(k)] =
            static_cast<stored_scalar_t<E>>(value * one.component[k]);
      }
    }
  }
  return matrix;
}

template <class E>
std::vector<Field<E>> zero_fields(int count, Index rows, const Device& device = Device::cpu()) {
  std::vector<Field<E>> fields;
  for (int k = 0; k < count; ++k) fields.emplace_back(rows, device);
  return fields;
}
template <class E>
auto views_of(std::vector<Field<E>>& fields) {
  std::vector<FieldView<vector_scalar_t<E>>> views;
  for (Field<E>& field : fields) views.push_back(field.view());
  return views;
}

/// The scalars of a field as a column of the expansion.
template <class E>
Eigen::VectorXd column_of(const Field<E>& field) {
  const Field<E> host = field.to_host();
  Eigen::VectorXd column(Eigen::Index(host.size()) * Field<E>::entry::components);
  for (Index i = 0; i < host.size(); ++i) {
    for (int k = 0; k < Field<E>::entry::components; ++k) {
      column[Eigen::Index(i) * Field<E>::entry::components + k] =
          static_cast<double>(host.view().at(i, k));
    }
  }
  return column;
}

/// The report's residuals are true, and the vectors M-orthonormal over the ring: the products of
/// x_i with the ring's units are orthogonal to x_j as well. A mass without rows stands for 1.
template <class E>
void expect_eigenpairs(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& mass,
                       const std::vector<Field<E>>& x, const EigenReport& report, double rounding) {
  constexpr int ring = ring_size(arithmetic_t<E>::ring);
  ASSERT_EQ(report.eigenvalues.size(), x.size());
  ASSERT_TRUE(std::is_sorted(report.eigenvalues.begin(), report.eigenvalues.end()));
  std::vector<Eigen::VectorXd> columns, images;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Eigen::VectorXd v = column_of(x[k]);
    const Eigen::VectorXd m = mass.rows() > 0 ? Eigen::VectorXd(mass * v) : v;
    const double lambda = report.eigenvalues[k], residual = (matrix * v - lambda * m).norm();
    const double size = (report.matrix_norm + std::abs(lambda) * report.mass_norm) * v.norm();
    EXPECT_NEAR(residual, report.residual_norms[k], rounding * size) << k;
    EXPECT_NEAR(report.residual_norms[k] / size, report.residuals[k],
                1e-6 * report.residuals[k] + rounding);
    columns.push_back(v);
    images.push_back(m);
  }
  using Number = Coefficient<arithmetic_t<E>::ring, double>;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      Number product{};
      for (Eigen::Index at = 0; at < columns[i].size(); at += ring) {
        Number left, right;
        for (int c = 0; c < ring; ++c) {
          left.component[c] = columns[i][at + c];
          right.component[c] = images[j][at + c];
        }
        add_inner_product(left, right, product.component);
      }
      product.component[0] -= i == j ? 1 : 0;
      EXPECT_LE(std::sqrt(squared_norm(product)), rounding) << i << " " << j;
    }
  }
}

}  // namespace heddle::test
