#include "activation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "../mesh/vtu_file.hpp"
#include "../simulation/boundary.hpp"
#include "../simulation/solid_picture.hpp"
#include "heddle/tools/team.hpp"
#include "time_scale.hpp"

namespace heddle::heart {

using namespace points;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Span {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
};

Span span_of(std::span<const double> activation) {
  Span span;
  for (const double time : activation) {
    if (std::isnan(time)) continue;
    span.first = std::min(span.first, time);
    span.last = std::max(span.last, time);
  }
  return span;
}

/// Dark blue through green to yellow and red, in steps of about equal lightness.
mesh::Colour band_colour(double t) {
  constexpr std::array<mesh::Colour, 6> stops = {{{0.17, 0.20, 0.52},
                                                  {0.16, 0.45, 0.72},
                                                  {0.30, 0.69, 0.60},
                                                  {0.74, 0.83, 0.40},
                                                  {0.98, 0.72, 0.25},
                                                  {0.80, 0.22, 0.16}}};
  const double at = std::clamp(t, 0.0, 1.0) * (stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(i);
  mesh::Colour colour{};
  for (std::size_t k = 0; k < 3; ++k) {
    colour[k] = (1 - part) * stops[i][k] + part * stops[i + 1][k];
  }
  return colour;
}

/// Triangles, each with three corners of its own and a time.
struct TimedTriangles {
  std::vector<Point> corner;
  std::vector<double> time;
};

/// Splits a triangle into n parts a side, each with the time at its middle, linear between corners.
void add_parts(const std::array<Point, 3>& corner, const std::array<double, 3>& time, int n,
               TimedTriangles& into) {
  const auto at = [&](const auto& of, double i, double j) {
    return (1 - (i + j) / n) * of[0] + i / n * of[1] + j / n * of[2];
  };
  const auto add = [&](int i, int j, int side) {
    into.corner.push_back(at(corner, i, j));
    into.corner.push_back(at(corner, i + side, j));
    into.corner.push_back(at(corner, i, j + side));
    into.time.push_back(at(time, i + side / 3.0, j + side / 3.0));
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; i + j < n; ++j) {
      add(i, j, 1);
      if (i + j + 2 <= n) add(i + 1, j + 1, -1);
    }
  }
}

}  // namespace

std::vector<double> wave_velocity(const Model& model, std::span<const double> activation) {
  std::vector<double> velocity(3 * model.tetrahedron.size(), none);
  parallel_for(default_threads(), model.tetrahedron.size(), [&](std::size_t e) {
    const Point slowness =
        ElementGeometry(model.corners(e)).gradient_of(model.at_corners(e, activation));
    const double square = dot(slowness, slowness);
    if (!(square > 0)) return;
    for (std::size_t k = 0; k < 3; ++k) velocity[3 * e + k] = slowness[k] / square;
  });
  return velocity;
}

SpeedRange speed_range(const Model& model, std::span<const double> activation) {
  const std::vector<double> velocity = wave_velocity(model, activation);
  std::vector<double> speed;
  for (std::size_t e = 0; e < model.tetrahedron.size(); ++e) {
    const bool is_stimulated = std::any_of(
        model.tetrahedron[e].begin(), model.tetrahedron[e].end(),
        [&](Index v) { return model.stimuli_of_vertex[static_cast<std::size_t>(v)] != 0; });
    const double here = std::hypot(velocity[3 * e], velocity[3 * e + 1], velocity[3 * e + 2]);
    if (!is_stimulated && std::isfinite(here)) speed.push_back(here);
  }
  if (speed.empty()) return {};
  std::sort(speed.begin(), speed.end());
  const auto at = [&](double part) {
    return speed[static_cast<std::size_t>(part * static_cast<double>(speed.size() - 1))];
  };
  return {at(0.05), at(0.5), at(0.95)};
}

void write_activation(const std::string& path, const Model& model,
                      std::span<const double> activation) {
  const std::vector<double> velocity = wave_velocity(model, activation);
  std::vector<double> speed(model.tetrahedron.size()), fibres;
  for (std::size_t e = 0; e < speed.size(); ++e) {
    speed[e] = std::hypot(velocity[3 * e], velocity[3 * e + 1], velocity[3 * e + 2]);
    fibres.insert(fibres.end(), model.fibre[e].begin(), model.fibre[e].end());
  }
  const std::array<mesh::VtuArray, 1> of_points = {{{"activation_time", 1, activation}}};
  const std::array<mesh::VtuArray, 3> of_cells = {
      {{"wave_velocity", 3, velocity}, {"wave_speed", 1, speed}, {"fibre", 3, fibres}}};
  mesh::write_vtu(path, {model.position, model.tetrahedron, of_points, of_cells});
}

void write_activation_picture(const std::string& path, const Model& model,
                              std::span<const double> activation) {
  constexpr double bands = picture_bands;
  constexpr int side = 640;
  const Span span = span_of(activation);
  const std::vector<simulation::Triangle> surface =
      simulation::Boundary(model.tetrahedron).triangles();
  // Parts as fine as pixels give bands whose edges follow the times, not the triangles.
  constexpr double max_parts = 3e5;
  const double parts = std::sqrt(max_parts / static_cast<double>(surface.size()));
  TimedTriangles drawn_parts;
  for (const simulation::Triangle& triangle : surface) {
    std::array<Point, 3> corner{};
    std::array<double, 3> time{};
    for (std::size_t a = 0; a < 3; ++a) {
      corner[a] = model.position[static_cast<std::size_t>(triangle[a])];
      time[a] = activation[static_cast<std::size_t>(triangle[a])];
    }
    add_parts(corner, time, static_cast<int>(std::clamp(parts, 1.0, 12.0)), drawn_parts);
  }
  std::vector<mesh::Colour> colour;
  std::vector<simulation::Triangle> triangles;
  for (const double time : drawn_parts.time) {
    const double part = span.last > span.first ? (time - span.first) / (span.last - span.first) : 0;
    const double band = std::min(std::floor(bands * part), bands - 1);
    colour.push_back(std::isnan(time) ? mesh::Colour{0.75, 0.75, 0.75}
                                      : band_colour(band / (bands - 1)));
    const auto first = static_cast<Index>(3 * triangles.size());
    triangles.push_back({first, first + 1, first + 2});
  }
  mesh::DrawnSurface drawn =
      simulation::drawn_surface(drawn_parts.corner, triangles, std::move(colour));
  if (span.last >= span.first) {
    std::vector<mesh::Colour> scale;
    scale.reserve(picture_bands);
    for (int k = 0; k < picture_bands; ++k) scale.push_back(band_colour(k / (bands - 1)));
    drawn = with_time_scale(drawn, scale, span.first, span.last);
  }
  mesh::write_picture(path, {&drawn, 1}, side);
}

}  // namespace heddle::heart
