#include "upright.hpp"

#include <Eigen/Eigenvalues>

namespace heddle::spin {

Quaternion rotation_onto(const std::vector<Point>& from, const std::vector<Point>& to,
                         const std::vector<double>& weight) {
  Eigen::Matrix3d s = Eigen::Matrix3d::Zero();
  for (std::size_t v = 0; v < from.size(); ++v) {
    s += weight[v] * Eigen::Vector3d(from[v].data()) * Eigen::Vector3d(to[v].data()).transpose();
  }
  // The rotation is the eigenvector of the largest eigenvalue.
  Eigen::Matrix4d n;
  n << s(0, 0) + s(1, 1) + s(2, 2), s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0),
      s(1, 2) - s(2, 1), s(0, 0) - s(1, 1) - s(2, 2), s(0, 1) + s(1, 0), s(2, 0) + s(0, 2),
      s(2, 0) - s(0, 2), s(0, 1) + s(1, 0), s(1, 1) - s(0, 0) - s(2, 2), s(1, 2) + s(2, 1),
      s(0, 1) - s(1, 0), s(2, 0) + s(0, 2), s(1, 2) + s(2, 1), s(2, 2) - s(0, 0) - s(1, 1);
  const Eigen::Vector4d q = Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(n).eigenvectors().col(3);
  return {{q[0], q[1], q[2], q[3]}};
}

}  // namespace heddle::spin
