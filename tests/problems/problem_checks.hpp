// Checks of the properties that every model problem promises.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "heddle/expansion.hpp"
#include "heddle/problems.hpp"
#include "heddle/tools/team.hpp"
#include "support/systems/dense_factors.hpp"

namespace heddle::test {

inline constexpr Index no_entry = -1;

/// The index of entry (row, column), or no_entry; columns are sorted.
template <class E>
Offset find_entry(const CsrMatrix<E>& matrix, Index row, Index column) {
  const Index* begin = matrix.column().data() + matrix.offsets()[row];
  const Index* end = matrix.column().data() + matrix.offsets()[row + 1];
  const Index* found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? found - matrix.column().data() : no_entry;
}

/// Every (i, j) has a (j, i) that `same(entry, other)` accepts; columns increase; all numbers are
/// finite.
template <class E, class Same>
void expect_pairs(const CsrMatrix<E>& matrix, const Same& same) {
  for (Index row = 0; row < matrix.rows(); ++row) {
    EXPECT_NE(find_entry(matrix, row, row), no_entry) << "diagonal of row " << row;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      const Index column = matrix.column()[i];
      if (i > matrix.offsets()[row]) {
        ASSERT_LT(matrix.column()[i - 1], column) << "row " << row;
      }
      const Offset other = find_entry(matrix, column, row);
      ASSERT_NE(other, no_entry) << row << ", " << column;
      ASSERT_TRUE(same(matrix.entry(i), matrix.entry(other))) << row << ", " << column;
    }
  }
  for (const auto value : matrix.values()) ASSERT_TRUE(std::isfinite(value));
}

template <class E>
bool equal(const E& a, const E& b) {
  for (int k = 0; k < E::components; ++k) {
    if (!(a.component[k] == b.component[k])) return false;
  }
  return true;
}

template <class E>
void expect_hermitian(const CsrMatrix<E>& matrix) {
  expect_pairs(matrix, [](const E& a, const E& b) { return equal(a, adjoint(b)); });
}

template <class E>
bool identical(const CsrMatrix<E>& a, const CsrMatrix<E>& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
  };
  return a.rows() == b.rows() && same(a.offsets(), b.offsets()) && same(a.column(), b.column()) &&
         same(a.values(), b.values());
}

/// Expects the same bits with 1, 2, 3 and 7 threads, and other bits with another seed.
template <class Make>
void expect_deterministic(const Make& make) {
  set_default_threads(1);
  const auto reference = make(1);
  for (const int team : {2, 3, 7}) {
    set_default_threads(team);
    EXPECT_TRUE(identical(reference, make(1))) << team << " threads";
  }
  set_default_threads(0);
  EXPECT_FALSE(identical(reference, make(2)));
}

/// The real expansion as a dense matrix.
template <class E>
Eigen::MatrixXd dense(const CsrMatrix<E>& matrix) {
  constexpr int R = tile_rows<E>, C = tile_columns<E>;
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(matrix.rows() * R, matrix.columns() * C);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      const auto tile = real_representation(matrix.entry(i));
      for (int a = 0; a < R; ++a) {
        for (int b = 0; b < C; ++b) result(row * R + a, matrix.column()[i] * C + b) = tile[a][b];
      }
    }
  }
  return result;
}

/// Smallest and largest eigenvalue of a symmetric matrix.
inline std::pair<double, double> spectrum(const Eigen::MatrixXd& matrix) {
  const Eigen::VectorXd values = eigenvalues_of(matrix);
  return {values.minCoeff(), values.maxCoeff()};
}

struct RowLengths {
  Offset least, most;
  double mean, deviation;
};

template <class E>
RowLengths row_lengths(const CsrMatrix<E>& matrix) {
  RowLengths lengths{matrix.entries(), 0, 0, 0};
  double squares = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Offset length = matrix.offsets()[row + 1] - matrix.offsets()[row];
    lengths.least = std::min(lengths.least, length);
    lengths.most = std::max(lengths.most, length);
    squares += static_cast<double>(length) * length;
  }
  lengths.mean = static_cast<double>(matrix.entries()) / matrix.rows();
  lengths.deviation = std::sqrt(squares / matrix.rows() - lengths.mean * lengths.mean);
  return lengths;
}

/// `make()` is refused as a usage error, with these words in its message.
template <class Make>
void expect_usage_error(const Make& make, const std::string& words) {
  try {
    make();
    ADD_FAILURE() << "no error that says: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace heddle::test
