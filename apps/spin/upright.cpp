#include "upright.hpp"

#include <Eigen/Eigenvalues>

#include "parallel_sums.hpp"

namespace heddle::spin {

Quaternion rotation_onto(const std::vector<Point>& from, const std::vector<Point>& to,
                         const std::vector<double>& weight) {
  const auto sums = parallel_sums<9>(from.size(), [&](std::size_t v, std::array<double, 9>& sum) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) sum[3 * i + j] += weight[v] * from[v][i] * to[v][j];
    }
  });
  const Eigen::Matrix<double, 3, 3, Eigen::RowMajor> s(sums.data());
  // The rotation is the eigenvector for the largest eigenvalue.
  Eigen::Matrix4d n;
  n << s(0, 0) + s(1, 1) + s(2, 2), s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0),
      s(1, 2) - s(2, 1), s(0, 0) - s(1, 1) - s(2, 2), s(0, 1) + s(1, 0), s(2, 0) + s(0, 2),
      s(2, 0) - s(0, 2), s(0, 1) + s(1, 0), s(1, 1) - s(0, 0) - s(2, 2), s(1, 2) + s(2, 1),
      s(0, 1) - s(1, 0), s(2, 0) + s(0, 2), s(1, 2) + s(2, 1), s(2, 2) - s(0, 0) - s(1, 1);
  const Eigen::Vector4d q = Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(n).eigenvectors().col(3);
  return {{q[0], q[1], q[2], q[3]}};
}

}  // namespace heddle::spin
