// The rotation that brings a deformed surface as near as possible to the one that it was.
#pragma once

#include <vector>

#include "quaternions.hpp"

namespace heddle::spin {

/// The unit quaternion q for which sum of weight_v |to_v - q from_v conj(q)|^2 is least (Horn
/// 1987). Both sets of points are taken as they lie about 0.
Quaternion rotation_onto(const std::vector<Point>& from, const std::vector<Point>& to,
                         const std::vector<double>& weight);

}  // namespace heddle::spin
