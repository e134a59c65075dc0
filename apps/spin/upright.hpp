// The rotation that brings a deformed surface as close as possible to its original.
#pragma once

#include <vector>

#include "quaternions.hpp"

namespace heddle::spin {

/// The unit quaternion q that minimizes the sum of weight_v |to_v - q from_v conj(q)|^2 (Horn
/// 1987). Both sets of points are taken relative to 0, not to their centres.
Quaternion rotation_onto(const std::vector<Point>& from, const std::vector<Point>& to,
                         const std::vector<double>& weight);

}  // namespace heddle::spin
