// Arithmetic of points in space, for programs on meshes: `using namespace heddle::points`.
#pragma once

#include <cmath>

#include "heddle/problems.hpp"

namespace heddle::points {

constexpr Point operator+(const Point& a, const Point& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
constexpr Point operator-(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
constexpr Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }

constexpr double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
constexpr Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const Point& a) { return std::sqrt(dot(a, a)); }

/// Six times the volume of the tetrahedron a, b, c, d; positive if b, c, d are counterclockwise
/// seen from outside.
constexpr double volume6(const Point& a, const Point& b, const Point& c, const Point& d) {
  return dot(b - a, cross(c - a, d - a));
}

}  // namespace heddle::points
