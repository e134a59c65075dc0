// How well a transformed surface preserves angles, and attains the requested curvature.
#pragma once

#include <vector>

#include "quaternions.hpp"
#include "vertex_corners.hpp"

namespace heddle::spin {

/// Quantiles weighted by area on the surface before.
struct Distribution {
  double least = 0, median = 0, mean = 0, max_of_95_percent = 0, largest = 0;
};

/// For each triangle, the longer half axis over the shorter one of the ellipse that a circle in it
/// becomes: 1 if angles are preserved, infinite if the triangle collapses.
std::vector<double> quasi_conformal_distortion(const TriangleMesh& before,
                                               const TriangleMesh& after);

/// Distribution of triangle values, weighted by the triangles' areas.
Distribution distribution(const std::vector<double>& values, const TriangleMesh& mesh);

/// A third of the area of the triangles around each vertex.
std::vector<double> vertex_areas(const TriangleMesh& mesh, const mesh::VertexCorners& corners);

/// Mean curvature at each vertex, with the sign of a sphere seen from outside: the cotangent
/// formula's normal over twice the vertex area, along the vertex normal; 0 if there is none.
std::vector<double> mean_curvature(const TriangleMesh& mesh, const mesh::VertexCorners& corners);

/// |H~ s - (H + rho + offset)| / |H + rho + offset| over the surface before, with the mean
/// curvatures H and H~ before and after and the ratio of lengths s = scale |lambda|^2: the relative
/// error of the mean curvature half-density's change against the requested one. `offset` is the
/// amount that the least eigenvalue of D - rho adds to rho.
double curvature_error(const TriangleMesh& before, const TriangleMesh& after,
                       const mesh::VertexCorners& corners, const std::vector<Quaternion>& lambda,
                       double scale, const std::vector<double>& rho, double offset);

/// <lambda, (D - rho) lambda> / <lambda, lambda> over the triangles, the eigenvalue whose square
/// inverse iteration finds.
double dirac_eigenvalue(const TriangleMesh& mesh, const std::vector<double>& rho,
                        const std::vector<Quaternion>& lambda);

}  // namespace heddle::spin
