#include "surface_picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/tools/output_file.hpp"
#include "heddle/tools/points.hpp"
#include "mesh_summary.hpp"
#include "png_bytes.hpp"

namespace heddle::mesh {

using namespace points;

namespace {

constexpr int samples = 2;  // samples along a pixel's edge, which are averaged
constexpr double margin = 0.04;

/// A view along -z onto a square; the nearest points are visible.
class View {
 public:
  View(int width, int height)
      : width_(width * samples),
        height_(height * samples),
        depth_(std::size_t(width_) * std::size_t(height_),
               -std::numeric_limits<double>::infinity()),
        colour_(depth_.size(), Colour{1, 1, 1}) {}

  void draw(const DrawnSurface& surface) {
    const TriangleMesh& mesh = surface.mesh;
    const auto [low, high] = box_of(mesh.position);
    const double extent = std::max(high[0] - low[0], high[1] - low[1]);
    const double scale = width_ * (1 - 2 * margin) / extent;
    const Point middle = 0.5 * (low + high);
    const auto on_screen = [&](const Point& p) {
      const Point q = scale * (p - middle);
      return Point{0.5 * width_ + q[0], 0.5 * height_ - q[1], q[2]};
    };
    // Shading uses vertex normals, so that triangles do not show as facets.
    std::vector<Point> normal(mesh.position.size());
    for (const auto& corner : mesh.triangle) {
      const Point& a = mesh.position[corner[0]];
      const Point n = cross(mesh.position[corner[1]] - a, mesh.position[corner[2]] - a);
      for (const Index v : corner) {
        normal[static_cast<std::size_t>(v)] = normal[static_cast<std::size_t>(v)] + n;
      }
    }
    for (std::size_t t = 0; t < mesh.triangle.size(); ++t) {
      std::array<Point, 3> p, n;
      for (int k = 0; k < 3; ++k) {
        const auto v = static_cast<std::size_t>(mesh.triangle[t][k]);
        p[k] = on_screen(mesh.position[v]);
        n[k] = (1 / length(normal[v])) * normal[v];
      }
      draw_triangle(p, n, surface.colour[t]);
    }
  }

  /// The mean of a pixel's samples.
  Colour pixel(int x, int y) const {
    Colour sum{};
    for (int i = 0; i < samples * samples; ++i) {
      const Colour& c = colour_[at(x * samples + i % samples, y * samples + i / samples)];
      for (int k = 0; k < 3; ++k) sum[k] += c[k] / (samples * samples);
    }
    return sum;
  }

 private:
  std::size_t at(int x, int y) const {
    return std::size_t(y) * std::size_t(width_) + std::size_t(x);
  }

  void draw_triangle(const std::array<Point, 3>& p, const std::array<Point, 3>& normal,
                     const Colour& colour) {
    const auto area = [](const Point& a, const Point& b, double x, double y) {
      return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    };
    const double whole = area(p[0], p[1], p[2][0], p[2][1]);
    if (whole == 0) return;
    const auto first = [](double a, int most) {
      return std::clamp(static_cast<int>(std::floor(a)), 0, most);
    };
    const int left = first(std::min({p[0][0], p[1][0], p[2][0]}), width_);
    const int right = first(std::max({p[0][0], p[1][0], p[2][0]}) + 1, width_);
    const int top = first(std::min({p[0][1], p[1][1], p[2][1]}), height_);
    const int bottom = first(std::max({p[0][1], p[1][1], p[2][1]}) + 1, height_);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const double u = area(p[1], p[2], x + 0.5, y + 0.5) / whole;
        const double v = area(p[2], p[0], x + 0.5, y + 0.5) / whole;
        const double w = 1 - u - v;
        if (u < 0 || v < 0 || w < 0) continue;
        const double depth = u * p[0][2] + v * p[1][2] + w * p[2][2];
        if (depth <= depth_[at(x, y)]) continue;
        depth_[at(x, y)] = depth;
        const Point n = u * normal[0] + v * normal[1] + w * normal[2];
        const double light = lightness((1 / length(n)) * n);
        for (int k = 0; k < 3; ++k) {
          colour_[at(x, y)][k] = std::min(1.0, colour[k] * light);
        }
      }
    }
  }

  /// A lamp at the upper left behind the viewer, and some ambient light.
  static double lightness(const Point& normal) {
    constexpr double ambient = 0.3, lamp = 0.8;
    const Point towards_lamp = {-0.408, 0.408, 0.816};
    return ambient + lamp * std::max(0.0, dot(normal, towards_lamp));
  }

  int width_, height_;  // in samples
  std::vector<double> depth_;
  std::vector<Colour> colour_;
};

/// Picture height for surfaces that are all wider than high.
int height_for(std::span<const DrawnSurface> surfaces, int side) {
  double most = 0;
  for (const DrawnSurface& surface : surfaces) {
    const auto [low, high] = box_of(surface.mesh.position);
    most = std::max(most, (high[1] - low[1]) / std::max(high[0] - low[0], high[1] - low[1]));
  }
  return static_cast<int>(std::ceil(side * (2 * margin + (1 - 2 * margin) * most)));
}

}  // namespace

Colour colour_of(double value, double largest) {
  const double t = largest > 0 ? std::clamp(value / largest, -1.0, 1.0) : 0;
  constexpr Colour cold = {0.23, 0.42, 0.78}, none = {0.82, 0.82, 0.80}, warm = {0.85, 0.40, 0.16};
  const Colour& end = t < 0 ? cold : warm;
  Colour colour;
  for (int k = 0; k < 3; ++k) colour[k] = none[k] + std::abs(t) * (end[k] - none[k]);
  return colour;
}

void write_picture(const std::string& path, std::span<const DrawnSurface> surfaces, int side) {
  constexpr int channels = 3, max_in_a_row = 4;
  const auto count = static_cast<int>(surfaces.size());
  const int rows = (count + max_in_a_row - 1) / max_in_a_row;
  const int columns = (count + rows - 1) / rows, height = height_for(surfaces, side);
  std::vector<unsigned char> pixels(
      std::size_t(columns) * std::size_t(side) * std::size_t(rows) * std::size_t(height) * channels,
      255);
  for (int i = 0; i < count; ++i) {
    View view(side, height);
    view.draw(surfaces[static_cast<std::size_t>(i)]);
    const int left = i % columns * side, top = i / columns * height;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < side; ++x) {
        const Colour colour = view.pixel(x, y);
        const std::size_t at =
            (std::size_t(top + y) * std::size_t(columns * side) + std::size_t(left + x)) * channels;
        for (std::size_t k = 0; k < channels; ++k) {
          pixels[at + k] = static_cast<unsigned char>(std::lround(255 * colour[k]));
        }
      }
    }
  }
  OutputFile file(path);
  file.write(png_of(columns * side, rows * height, pixels));
  file.commit();
}

}  // namespace heddle::mesh
