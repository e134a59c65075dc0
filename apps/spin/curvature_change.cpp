#include "curvature_change.hpp"

#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "grey_image.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tools/text.hpp"
#include "read/text_scanner.hpp"
#include "surface_size.hpp"

namespace heddle::spin {

using namespace points;

namespace {

std::vector<double> read_numbers(const std::string& path) {
  const std::string bytes = io::read_file(path);
  std::string_view text = bytes;
  if (text.starts_with(mesh::byte_order_mark)) text.remove_prefix(mesh::byte_order_mark.size());
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  long long line = 1;
  const auto refuse = [&](ErrorKind kind, const std::string& what) {
    throw Error(kind, path + ":" + std::to_string(line) + ": " + what);
  };
  for (;;) {
    for (; at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'); ++at) {
      if (*at == '\n') ++line;
    }
    if (at == end) return numbers;
    double value = 0;
    const auto [after, failed] = std::from_chars(*at == '+' ? at + 1 : at, end, value);
    if (failed == std::errc::invalid_argument) refuse(ErrorKind::malformed_file, "not a number");
    if (failed != std::errc() || !std::isfinite(value)) {
      refuse(ErrorKind::not_finite, "not a finite number");
    }
    numbers.push_back(value);
    at = after;
  }
}

/// Removes the numbers of vertices that are in the surface's file but not in the surface.
void leave_out(const std::vector<Index>& places, std::vector<double>& numbers) {
  for (const Index place : places) numbers[static_cast<std::size_t>(place)] = NAN;
  std::erase_if(numbers, [](double number) { return std::isnan(number); });
}

/// The named function at a point of a surface like the unit sphere about the origin.
double value_of(const std::string& name, const Point& p) {
  constexpr double pi = std::numbers::pi;
  if (name == "zero") return 0;
  if (name == "x") return p[0];
  if (name == "y") return p[1];
  if (name == "z") return p[2];
  if (name == "waves") return std::cos(pi * p[0]) * std::cos(pi * p[1]) * std::cos(pi * p[2]);
  if (name == "stripes") return std::sin(2 * pi * p[1]);
  if (name == "bump") {
    const Point top = {p[0], p[1] - 1, p[2]};
    return std::exp(-4 * dot(top, top));
  }
  return NAN;
}

}  // namespace

const std::vector<NamedFunction>& named_functions() {
  static const std::vector<NamedFunction> functions = {{"zero", "0"},
                                                       {"x", "x"},
                                                       {"y", "y"},
                                                       {"z", "z"},
                                                       {"bump", "exp(-4 (x^2 + (y - 1)^2 + z^2))"},
                                                       {"stripes", "sin(2 pi y)"},
                                                       {"waves", "cos(pi x) cos(pi y) cos(pi z)"}};
  return functions;
}

std::vector<double> curvature_change_from_file(const std::string& path,
                                               const mesh::SurfaceMesh& surface) {
  std::vector<double> numbers = read_numbers(path);
  const TriangleMesh& mesh = surface.triangles;
  if (numbers.size() == mesh.triangle.size()) return numbers;
  const std::vector<Index>& left_out = surface.left_out;
  if (!left_out.empty() && numbers.size() == mesh.position.size() + left_out.size()) {
    leave_out(left_out, numbers);
  }
  if (numbers.size() != mesh.position.size()) {
    throw Error(ErrorKind::size_mismatch,
                path + ": " + std::to_string(numbers.size()) + " numbers; the surface has " +
                    std::to_string(mesh.position.size()) + " vertices and " +
                    std::to_string(mesh.triangle.size()) + " triangles");
  }
  std::vector<double> of_triangles;
  of_triangles.reserve(mesh.triangle.size());
  for (const auto& corner : mesh.triangle) {
    double sum = 0;
    for (const Index v : corner) sum += numbers[static_cast<std::size_t>(v)];
    of_triangles.push_back(sum / 3);
  }
  return of_triangles;
}

std::vector<double> named_curvature_change(const std::string& name, double scale,
                                           const TriangleMesh& mesh) {
  if (std::isnan(value_of(name, {0, 0, 0}))) {
    std::string known;
    for (const NamedFunction& function : named_functions()) {
      known += (known.empty() ? "" : ", ") + function.name;
    }
    throw Error(ErrorKind::usage, "no function is named '" + name + "'; there are: " + known);
  }
  const SurfaceSize size = surface_size(mesh);
  const double radius = size.radius();
  std::vector<double> rho(mesh.triangle.size());
  parallel_for(default_threads(), rho.size(), [&](std::size_t t) {
    const auto& corner = mesh.triangle[t];
    const Point centre = (1.0 / 3) * (mesh.position[corner[0]] + mesh.position[corner[1]] +
                                      mesh.position[corner[2]]);
    rho[t] = scale / radius * value_of(name, (1 / radius) * (centre - size.centre));
  });
  return rho;
}

std::vector<double> curvature_change_from_image(const std::string& path, double scale,
                                                const mesh::SurfaceMesh& mesh) {
  if (mesh.texture.empty()) {
    throw Error(
        ErrorKind::usage,
        "--image " + path +
            " needs a surface with texture coordinates at every corner (vt in an OBJ file)");
  }
  std::vector<mesh::TextureCoordinate> points;
  points.reserve(3 * mesh.texture.size());
  for (const auto& corners : mesh.texture) {
    points.insert(points.end(), corners.begin(), corners.end());
  }
  const std::vector<double> grey = grey_at(path, points);
  std::vector<double> rho;
  rho.reserve(mesh.texture.size());
  for (std::size_t t = 0; t < mesh.texture.size(); ++t) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += grey[3 * t + k];
    rho.push_back((2 * sum / 3 - 1) * scale);
  }
  return rho;
}

}  // namespace heddle::spin
