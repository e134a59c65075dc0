// The similarity that moves one set of points as close as possible to another.
#pragma once

#include <Eigen/Geometry>
#include <vector>

#include "heddle/problems.hpp"

namespace heddle::spin {

/// Umeyama 1991: least squares over rotation, scale and translation.
inline std::vector<Point> fit_by_similarity(const std::vector<Point>& from,
                                            const std::vector<Point>& to) {
  const auto columns = [](const std::vector<Point>& points) {
    Eigen::Matrix3Xd matrix(3, static_cast<Eigen::Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i) {
      matrix.col(static_cast<Eigen::Index>(i)) << points[i][0], points[i][1], points[i][2];
    }
    return matrix;
  };
  const Eigen::Matrix3Xd x = columns(from);
  const Eigen::Matrix4d map = Eigen::umeyama(x, columns(to), true);
  std::vector<Point> fitted;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const Eigen::Vector3d p = map.topLeftCorner<3, 3>() * x.col(i) + map.topRightCorner<3, 1>();
    fitted.push_back({p[0], p[1], p[2]});
  }
  return fitted;
}

}  // namespace heddle::spin
