#include "surface_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heddle/tools/points.hpp"
#include "surface_size.hpp"

namespace heddle::spin {

using namespace points;

namespace {

using Triangle = std::array<Index, 3>;

/// Twice the area, along the normal.
Point normal_of(const TriangleMesh& mesh, const Triangle& corner) {
  const Point& a = mesh.position[corner[0]];
  return cross(mesh.position[corner[1]] - a, mesh.position[corner[2]] - a);
}

/// Singular values' ratio of the linear map between two triangles of given edges from one corner.
double stretch_ratio(const Point& u, const Point& v, const Point& image_u, const Point& image_v) {
  // In an orthonormal frame of the first: u = (a, 0), v = (b, c).
  const double a = length(u), b = dot(u, v) / a, c = length(cross(u, v)) / a;
  const Point first = (1 / a) * image_u;
  const Point second = (1 / c) * (image_v - b * first);
  const double e = dot(first, first), f = dot(first, second), g = dot(second, second);
  const double mean = 0.5 * (e + g);
  const double half_gap = std::hypot(0.5 * (e - g), f);
  const double largest = mean + half_gap;
  // The product of the eigenvalues is e g - f^2, which loses no digits to cancellation here.
  const double smallest = length(cross(first, second)) * length(cross(first, second)) / largest;
  return smallest > 0 ? std::sqrt(largest / smallest) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<double> quasi_conformal_distortion(const TriangleMesh& before,
                                               const TriangleMesh& after) {
  std::vector<double> distortion;
  distortion.reserve(before.triangle.size());
  for (const Triangle& corner : before.triangle) {
    const auto edge = [&](const TriangleMesh& mesh, int k) {
      return mesh.position[corner[k]] - mesh.position[corner[0]];
    };
    distortion.push_back(
        stretch_ratio(edge(before, 1), edge(before, 2), edge(after, 1), edge(after, 2)));
  }
  return distortion;
}

Distribution distribution(std::vector<double> values, const TriangleMesh& mesh) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> area(values.size());
  double total = 0, sum = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    area[t] = area_of(mesh, mesh.triangle[t]);
    total += area[t];
    sum += area[t] * values[t];
  }
  const auto quantile = [&](double share) {
    double below = 0;
    for (const std::size_t t : order) {
      below += area[t];
      if (below >= share * total) return values[t];
    }
    return values[order.back()];
  };
  return {values[order.front()], quantile(0.5), sum / total, quantile(0.95), values[order.back()]};
}

std::vector<double> vertex_areas(const TriangleMesh& mesh) {
  std::vector<double> area(mesh.position.size());
  for (const Triangle& corner : mesh.triangle) {
    const double third = area_of(mesh, corner) / 3;
    for (const Index v : corner) area[static_cast<std::size_t>(v)] += third;
  }
  return area;
}

std::vector<double> mean_curvature(const TriangleMesh& mesh) {
  const std::size_t vertices = mesh.position.size();
  std::vector<Point> normal(vertices), bend(vertices);
  for (const Triangle& corner : mesh.triangle) {
    const Point twice_area = normal_of(mesh, corner);
    const double double_area = length(twice_area);
    for (int k = 0; k < 3; ++k) {
      const auto at = static_cast<std::size_t>(corner[k]);
      const auto i = static_cast<std::size_t>(corner[(k + 1) % 3]);
      const auto j = static_cast<std::size_t>(corner[(k + 2) % 3]);
      normal[at] = normal[at] + twice_area;
      const Point u = mesh.position[i] - mesh.position[at],
                  v = mesh.position[j] - mesh.position[at];
      const Point edge = (0.5 * dot(u, v) / double_area) * (mesh.position[j] - mesh.position[i]);
      bend[i] = bend[i] - edge;
      bend[j] = bend[j] + edge;
    }
  }
  const std::vector<double> area = vertex_areas(mesh);
  std::vector<double> curvature(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    const double size = length(normal[v]);
    if (size > 0) curvature[v] = dot(bend[v], normal[v]) / (2 * area[v] * size);
  }
  return curvature;
}

double curvature_error(const TriangleMesh& before, const TriangleMesh& after,
                       const std::vector<Quaternion>& lambda, double scale,
                       const std::vector<double>& rho, double offset) {
  const std::vector<double> area = vertex_areas(before);
  std::vector<double> wanted = mean_curvature(before);
  std::vector<double> change(wanted.size());
  for (std::size_t t = 0; t < rho.size(); ++t) {
    const Triangle& corner = before.triangle[t];
    const double third = area_of(before, corner) / 3;
    for (const Index v : corner) change[static_cast<std::size_t>(v)] += third * rho[t];
  }
  const std::vector<double> reached = mean_curvature(after);
  double missed = 0, size = 0;
  for (std::size_t v = 0; v < wanted.size(); ++v) {
    wanted[v] += change[v] / area[v] + offset;
    const double difference = reached[v] * scale * squared_norm(lambda[v]) - wanted[v];
    missed += area[v] * difference * difference;
    size += area[v] * wanted[v] * wanted[v];
  }
  return std::sqrt(missed / size);
}

double dirac_eigenvalue(const TriangleMesh& mesh, const std::vector<double>& rho,
                        const std::vector<Quaternion>& lambda) {
  double numerator = 0, denominator = 0;
  for (std::size_t t = 0; t < rho.size(); ++t) {
    const Triangle& corner = mesh.triangle[t];
    const double area = area_of(mesh, corner);
    Quaternion mean = Quaternion::zero(), image = Quaternion::zero();
    for (int k = 0; k < 3; ++k) {
      const Quaternion& value = lambda[static_cast<std::size_t>(corner[k])];
      const Point edge = mesh.position[corner[(k + 2) % 3]] - mesh.position[corner[(k + 1) % 3]];
      mean = add(mean, times(1.0 / 3, value));
      multiply_add(image, times(-0.5 / area, imaginary(edge)), value);
    }
    image = add(image, times(-rho[t], mean));
    numerator += area * product(adjoint(mean), image).w();
    denominator += area * squared_norm(mean);
  }
  return numerator / denominator;
}

}  // namespace heddle::spin
