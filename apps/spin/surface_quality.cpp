#include "surface_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "heddle/tools/points.hpp"
#include "parallel_sums.hpp"
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

/// Ratio of singular values of the linear map between two triangles, each given by two edges.
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

struct Weighted {
  double value = 0, weight = 0;
};

/// The least value that, with all below it, weighs `share` or more, by repeated halving.
double quantile(std::span<Weighted> all, double share) {
  while (all.size() > 1) {
    const std::size_t half = all.size() / 2;
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(half), {},
                             &Weighted::value);
    double below = 0;
    for (const Weighted& one : all.first(half)) below += one.weight;
    if (below >= share) {
      all = all.first(half);
    } else {
      all = all.subspan(half);
      share -= below;
    }
  }
  return all.front().value;
}

std::vector<double> triangle_areas(const TriangleMesh& mesh) {
  std::vector<double> area(mesh.triangle.size());
  parallel_for(default_threads(), area.size(),
               [&](std::size_t t) { area[t] = area_of(mesh, mesh.triangle[t]); });
  return area;
}

}  // namespace

std::vector<double> quasi_conformal_distortion(const TriangleMesh& before,
                                               const TriangleMesh& after) {
  std::vector<double> distortion(before.triangle.size());
  parallel_for(default_threads(), distortion.size(), [&](std::size_t t) {
    const Triangle& corner = before.triangle[t];
    const auto edge = [&](const TriangleMesh& mesh, int k) {
      return mesh.position[corner[k]] - mesh.position[corner[0]];
    };
    distortion[t] = stretch_ratio(edge(before, 1), edge(before, 2), edge(after, 1), edge(after, 2));
  });
  return distortion;
}

Distribution distribution(const std::vector<double>& values, const TriangleMesh& mesh) {
  std::vector<Weighted> all(values.size());
  parallel_for(default_threads(), all.size(),
               [&](std::size_t t) { all[t] = {values[t], area_of(mesh, mesh.triangle[t])}; });
  const auto [total, sum] =
      parallel_sums<2>(all.size(), [&](std::size_t t, std::array<double, 2>& sums) {
        sums[0] += all[t].weight;
        sums[1] += all[t].weight * all[t].value;
      });
  const auto [least, largest] = std::ranges::minmax(values);
  const double median = quantile(all, 0.5 * total);
  return {least, median, sum / total, quantile(all, 0.95 * total), largest};
}

std::vector<double> vertex_areas(const TriangleMesh& mesh, const mesh::VertexCorners& corners) {
  const std::vector<double> of_triangle = triangle_areas(mesh);
  std::vector<double> area(mesh.position.size());
  parallel_for(default_threads(), static_cast<Index>(area.size()), [&](Index v) {
    double sum = 0;
    for (const auto [t, k] : corners.at(v)) sum += of_triangle[static_cast<std::size_t>(t)] / 3;
    area[static_cast<std::size_t>(v)] = sum;
  });
  return area;
}

std::vector<double> mean_curvature(const TriangleMesh& mesh, const mesh::VertexCorners& corners) {
  std::vector<double> curvature(mesh.position.size());
  parallel_for(default_threads(), static_cast<Index>(curvature.size()), [&](Index v) {
    Point normal{}, bend{};
    double area = 0;
    for (const auto [t, k] : corners.at(v)) {
      const Triangle& corner = mesh.triangle[t];
      const Point twice_area = normal_of(mesh, corner);
      const double double_area = length(twice_area);
      normal = normal + twice_area;
      area += double_area / 6;
      const Point &here = mesh.position[v], &next = mesh.position[corner[(k + 1) % 3]],
                  &last = mesh.position[corner[(k + 2) % 3]];
      // Weights each edge by half the cotangent of the opposite angle.
      const double of_next = 0.5 * dot(here - last, next - last) / double_area;
      const double of_last = 0.5 * dot(here - next, last - next) / double_area;
      bend = bend + of_next * (here - next) + of_last * (here - last);
    }
    const double size = length(normal);
    if (size > 0) curvature[static_cast<std::size_t>(v)] = dot(bend, normal) / (2 * area * size);
  });
  return curvature;
}

double curvature_error(const TriangleMesh& before, const TriangleMesh& after,
                       const mesh::VertexCorners& corners, const std::vector<Quaternion>& lambda,
                       double scale, const std::vector<double>& rho, double offset) {
  const std::vector<double> of_triangle = triangle_areas(before);
  const std::vector<double> had = mean_curvature(before, corners);
  const std::vector<double> reached = mean_curvature(after, corners);
  const auto [missed, size] =
      parallel_sums<2>(had.size(), [&](std::size_t v, std::array<double, 2>& sums) {
        double area = 0, change = 0;
        for (const auto [t, k] : corners.at(static_cast<Index>(v))) {
          const auto place = static_cast<std::size_t>(t);
          area += of_triangle[place] / 3;
          change += of_triangle[place] / 3 * rho[place];
        }
        const double wanted = had[v] + change / area + offset;
        const double difference = reached[v] * scale * squared_norm(lambda[v]) - wanted;
        sums[0] += area * difference * difference;
        sums[1] += area * wanted * wanted;
      });
  return std::sqrt(missed / size);
}

double dirac_eigenvalue(const TriangleMesh& mesh, const std::vector<double>& rho,
                        const std::vector<Quaternion>& lambda) {
  const auto [numerator, denominator] =
      parallel_sums<2>(rho.size(), [&](std::size_t t, std::array<double, 2>& sums) {
        const Triangle& corner = mesh.triangle[t];
        const double area = area_of(mesh, corner);
        Quaternion mean = Quaternion::zero(), image = Quaternion::zero();
        for (int k = 0; k < 3; ++k) {
          const Quaternion& value = lambda[static_cast<std::size_t>(corner[k])];
          const Point edge =
              mesh.position[corner[(k + 2) % 3]] - mesh.position[corner[(k + 1) % 3]];
          mean = add(mean, times(1.0 / 3, value));
          multiply_add(image, times(-0.5 / area, imaginary(edge)), value);
        }
        image = add(image, times(-rho[t], mean));
        sums[0] += area * product(adjoint(mean), image).w();
        sums[1] += area * squared_norm(mean);
      });
  return numerator / denominator;
}

}  // namespace heddle::spin
