// How well a transformed surface keeps angles, and has the curvature that was asked for.
#pragma once

#include <vector>

#include "quaternions.hpp"
#include "vertex_corners.hpp"

namespace heddle::spin {

/// Quantiles by the area of the surface before.
struct Distribution {
  double least = 0, median = 0, mean = 0, most_of_95_percent = 0, largest = 0;
};

/// Of each triangle, the longer half axis over the shorter one of the ellipse that a circle in it
/// becomes: 1 where angles stay, infinite where nothing is left of the triangle.
std::vector<double> quasi_conformal_distortion(const TriangleMesh& before,
                                               const TriangleMesh& after);

/// Of values of triangles, weighted by their areas.
Distribution distribution(const std::vector<double>& values, const TriangleMesh& mesh);

/// A third of the triangles around each vertex.
std::vector<double> vertex_areas(const TriangleMesh& mesh, const mesh::VertexCorners& corners);

/// Mean curvature at each vertex, positive where a sphere seen from outside is: the cotangent
/// formula's normal over twice the vertex area, along the vertex normal; 0 where there is none.
std::vector<double> mean_curvature(const TriangleMesh& mesh, const mesh::VertexCorners& corners);

/// |H~ s - (H + rho + offset)| / |H + rho + offset| over the surface before, H and H~ the mean
/// curvatures before and after, s = scale |lambda|^2 the ratio of lengths: by how much the change
/// of mean curvature half-density misses the one asked for. `offset` is what the least eigenvalue
/// of D - rho adds to rho.
double curvature_error(const TriangleMesh& before, const TriangleMesh& after,
                       const mesh::VertexCorners& corners, const std::vector<Quaternion>& lambda,
                       double scale, const std::vector<double>& rho, double offset);

/// <lambda, (D - rho) lambda> / <lambda, lambda> over the triangles, the eigenvalue whose square
/// inverse iteration finds.
double dirac_eigenvalue(const TriangleMesh& mesh, const std::vector<double>& rho,
                        const std::vector<Quaternion>& lambda);

}  // namespace heddle::spin
