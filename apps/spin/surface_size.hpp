// Area and centre of a surface.
#pragma once

#include "heddle/problems.hpp"

namespace heddle::spin {

struct SurfaceSize {
  double area = 0;
  Point centre{};  // mean of the surface's points by area

  /// Of the sphere of that area.
  double radius() const;
};

SurfaceSize surface_size(const TriangleMesh& mesh);

}  // namespace heddle::spin
