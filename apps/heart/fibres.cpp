#include "fibres.hpp"

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "../simulation/message_text.hpp"
#include "diffusion.hpp"
#include "heddle/assembly.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/error.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tools/text.hpp"
#include "read/text_scanner.hpp"

namespace heddle::heart {

using namespace points;

namespace {

std::vector<Point> read_fibres(const std::string& path, std::size_t elements) {
  std::string text = io::read_file(path);
  if (text.starts_with(mesh::byte_order_mark)) text.erase(0, mesh::byte_order_mark.size());
  if (text.empty() || text.back() != '\n') text += '\n';
  const char* p = text.data();
  const char* const end = p + text.size();
  std::vector<Point> fibres;
  fibres.reserve(elements);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::malformed_file,
                path + ":" + std::to_string(fibres.size() + 1) + ": " + what);
  };
  // Only blanks may follow the last line.
  const auto is_over = [&] {
    const char* q = p;
    while (q != end && (*q == '\n' || io::is_blank(*q))) ++q;
    return q == end;
  };
  while (!is_over()) {
    Point direction{};
    for (double& part : direction) {
      p = io::read_double(io::skip_blanks(p), end, part);
      if (p == nullptr)
        refuse("a line must have three numbers, the direction of the fibres in an element");
    }
    p = io::skip_blanks(p);
    if (*p != '\n') refuse("there are more than three numbers");
    ++p;
    const double size = length(direction);
    if (!std::isfinite(size)) refuse("the direction is not finite");
    if (size == 0) refuse("the direction has length 0");
    fibres.push_back((1 / size) * direction);
  }
  if (fibres.size() != elements) {
    throw Error(ErrorKind::malformed_file, path + ": " + std::to_string(fibres.size()) +
                                               " fibre directions, but the " + "mesh has " +
                                               std::to_string(elements) + " tetrahedra");
  }
  return fibres;
}

/// 0 on one surface, 1 on the other, harmonic in between: K phi = 0 in all other rows. Rows of
/// given values keep their diagonal; their contribution to other rows is on the right-hand side.
std::vector<double> find_depth(const Model& model, const std::vector<Index>& from,
                               const std::vector<Index>& to, const Case& given) {
  Model even = model;
  even.diffusivity.assign(model.diffusivity.size(), {1, 1});
  even.fibre.assign(model.tetrahedron.size(), {1, 0, 0});
  const ElementPattern pattern = pattern_of(model);
  Assembly<real<double>> assembly(pattern, parse_plan("CSR"));
  assembly.assemble(diffusion_of_elements(even));
  Operator<real<double>>& laplacian = assembly.matrix();
  const Array<Offset> slot = slots_of_entries(laplacian.pattern());
  const std::span<double> stored = laplacian.values_in_basis();
  std::vector<char> is_given(model.position.size());
  std::vector<double> depth(model.position.size()), b(model.position.size());
  for (const Index v : from) is_given[static_cast<std::size_t>(v)] = 1;
  for (const Index v : to) {
    const auto at = static_cast<std::size_t>(v);
    if (is_given[at] != 0) {
      throw Error(ErrorKind::malformed_file, given.path + ": fibres: vertex " +
                                                 std::to_string(v + 1) +
                                                 " of the mesh is on both surfaces of the wall");
    }
    is_given[at] = 1;
    depth[at] = 1;
  }
  for (std::size_t v = 0; v < depth.size(); ++v) {
    for (auto i = static_cast<std::size_t>(pattern.offsets[v]);
         i < static_cast<std::size_t>(pattern.offsets[v + 1]); ++i) {
      const auto column = static_cast<std::size_t>(pattern.column[i]);
      double& value = stored[static_cast<std::size_t>(slot[i])];
      if (column == v) {
        if (is_given[v] != 0) b[v] = value * depth[v];
      } else if (is_given[v] != 0 || is_given[column] != 0) {
        if (is_given[v] == 0) b[v] -= value * depth[column];
        value = 0;
      }
    }
  }
  laplacian.values_changed();
  ConjugateGradient<double> solver(laplacian, Jacobi<real<double>>(laplacian));
  const Report report = solver.solve(FieldView<const double>(b), FieldView<double>(depth));
  if (!report.solved()) {
    throw Error(ErrorKind::singular, "fibres: the Laplace equation across the wall: " +
                                         std::string(name(report.status)));
  }
  return depth;
}

std::vector<Point> wall_fibres(const Model& model, const Case& given,
                               const simulation::Selector& selector) {
  const FibreCase& rule = given.fibres;
  const std::vector<double> depth =
      find_depth(model, selector.vertices(rule.from), selector.vertices(rule.to), given);
  std::vector<Point> fibres(model.tetrahedron.size());
  for (std::size_t e = 0; e < fibres.size(); ++e) {
    const std::array<double, 4> phi = model.at_corners(e, depth);
    const Point across = ElementGeometry(model.corners(e)).gradient_of(phi);
    const Point around = cross(rule.axis, across);
    const double size = length(across);
    if (!(size > 0) || !(length(around) > 1e-9 * size)) {
      throw Error(ErrorKind::malformed_file,
                  given.path +
                      ": fibres: the direction across the wall is parallel to the axis in " +
                      "tetrahedron " + std::to_string(e + 1) + " of the mesh");
    }
    const Point circumference = (1 / length(around)) * around;
    const Point up = (1 / size) * cross(across, circumference);
    const double at = (phi[0] + phi[1] + phi[2] + phi[3]) / 4;
    const double angle =
        (rule.angle_from + at * (rule.angle_to - rule.angle_from)) * std::numbers::pi / 180;
    fibres[e] = std::cos(angle) * circumference + std::sin(angle) * up;
  }
  return fibres;
}

}  // namespace

std::vector<Point> find_fibres(const Model& model, const Case& given,
                               const simulation::Selector& selector) {
  switch (given.fibres.type) {
    case FibreCase::Type::constant:
      return std::vector<Point>(model.tetrahedron.size(), given.fibres.direction);
    case FibreCase::Type::file:
      return read_fibres(given.fibres.file, model.tetrahedron.size());
    default:
      return wall_fibres(model, given, selector);
  }
}

}  // namespace heddle::heart
