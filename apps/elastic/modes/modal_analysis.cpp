#include "modal_analysis.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "../command/diagonal_operator.hpp"
#include "heddle/error.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/vector_operations.hpp"
#include "rigid_motions.hpp"

namespace heddle::elastic {

using namespace points;

namespace {

/// The diagonal of K without supports.
std::vector<Point> stiffness_diagonal(const Model& model) {
  std::vector<Point> diagonal(model.position.size());
  for (Offset e = 0; e < model.elements(); ++e) {
    const std::array<Point, 4> p = model.corners(e);
    const double volume = model.volume(e);
    const Lame lame = model.material_in(e).lame();
    for (std::size_t a = 0; a < 4; ++a) {
      // Gradient of the corner's barycentric coordinate, along the normal of the opposite side.
      const Point &b = p[(a + 1) % 4], &c = p[(a + 2) % 4], &d = p[(a + 3) % 4];
      const Point n = cross(c - b, d - b);
      const Point g = (1 / dot(n, p[a] - b)) * n;
      Point& sum =
          diagonal[static_cast<std::size_t>(model.tetrahedron[static_cast<std::size_t>(e)][a])];
      for (std::size_t k = 0; k < 3; ++k) {
        sum[k] += volume * ((lame.lambda + lame.mu) * g[k] * g[k] + lame.mu * dot(g, g));
      }
    }
  }
  return diagonal;
}

/// M, diagonal. Fixed components occur in no other equation of K, so each forms an eigenpair of its
/// own, with the eigenvalue K_ii / M_ii. M_ii is chosen so that this is no less than any eigenvalue
/// of the solid: those are at most 12 max K_jj / M_jj, since K is a sum of semidefinite matrices of
/// 12 rows, each at most 12 times its own diagonal.
std::vector<Block> modal_mass(const Model& model) {
  const std::vector<double> mass = lumped_mass(model);
  const std::vector<Point> stiffness = stiffness_diagonal(model);
  double largest = 0;
  for (std::size_t v = 0; v < mass.size(); ++v) {
    for (const double k : stiffness[v]) largest = std::max(largest, k / mass[v]);
  }
  std::vector<Block> diagonal(mass.size());
  for (std::size_t v = 0; v < mass.size(); ++v) {
    for (std::size_t k = 0; k < 3; ++k) {
      const bool is_held = is_fixed(model.fixed[v], static_cast<int>(k));
      diagonal[v].component[4 * k] = is_held ? stiffness[v][k] / (12 * largest) : mass[v];
    }
  }
  return diagonal;
}

void check_count(const Model& model, int count, int rigid) {
  const std::string besides =
      rigid == 0 ? ""
                 : " besides the " + std::to_string(rigid) + " rigid motions that nothing prevents";
  if (count + rigid > model.unknowns()) {
    detail::malformed_file("analysis.count is " + std::to_string(count) + ", but " +
                           std::to_string(model.unknowns()) + " unknowns do not have " +
                           std::to_string(count) + " modes" + besides);
  }
  constexpr int most = EigenOptions::max_pairs;
  if (count + rigid > most) {
    const int left = most - rigid;
    detail::malformed_file("analysis.count is " + std::to_string(count) + "; " +
                           (left > 0 ? "at most " + std::to_string(left) : "no") +
                           " modes can be found" + besides);
  }
}

/// Sets held components to exact zeros instead of rounding, and fixes the shape's sign.
void make_plain(std::vector<Point>& shape, const Model& model) {
  double largest = 0;
  for (std::size_t v = 0; v < shape.size(); ++v) {
    for (int k = 0; k < 3; ++k) {
      double& u = shape[v][static_cast<std::size_t>(k)];
      if (is_fixed(model.fixed[v], k)) u = 0;
      largest = std::max(largest, std::abs(u));
    }
  }
  constexpr double as_large = 1 - 1e-6;  // components that symmetry makes equal differ by rounding
  for (const Point& p : shape) {
    for (const double u : p) {
      if (std::abs(u) < as_large * largest) continue;
      if (u > 0) return;
      for (Point& displacement : shape) displacement = -1 * displacement;
      return;
    }
  }
}

}  // namespace

std::vector<double> lumped_mass(const Model& model) {
  std::vector<double> mass(model.position.size());
  for (Offset e = 0; e < model.elements(); ++e) {
    const double quarter = model.volume(e) * model.material_in(e).density / 4;
    for (const Index v : model.tetrahedron[static_cast<std::size_t>(e)]) {
      mass[static_cast<std::size_t>(v)] += quarter;
    }
  }
  return mass;
}

Modes find_modes(const Model& model, ElasticSystem& system, const ModalOptions& options) {
  Modes found;
  found.rigid_motions = free_motions(model);
  check_count(model, options.count, found.rigid_motions);
  system.set_matrix(0, 1);

  const int pairs = found.rigid_motions + options.count;
  const Operator<Block>& K = system.matrix();
  const std::vector<Block> mass = modal_mass(model);
  // Products are cheap compared with the vector work, and this takes a tenth as many iterations.
  constexpr int degree = 12;
  Lobpcg<double> solver(K, cli::diagonal_operator<Block>(mass.front().component, K),
                        Chebyshev<double>(K, Jacobi<Block>(K), {.degree = degree}),
                        {.count = pairs,
                         .tolerance = options.tolerance,
                         .max_iterations = options.max_iterations,
                         .observer = options.observer});
  std::vector<VertexField> x;
  std::vector<VertexView> views;
  const bool is_free =
      std::all_of(model.fixed.begin(), model.fixed.end(), [](auto bits) { return bits == 0; });
  const auto guesses =
      is_free ? rigid_body_modes<double>(model.position) : std::vector<std::vector<double>>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
    x.push_back(system.field());  // zero: replaced by a random vector
    views.push_back(x.back().view());
    if (i >= guesses.size()) continue;
    permute<double>(ConstVertexView(guesses[i].data(), model.vertices(), 3), views.back(), 1,
                    system.device().stream());
  }
  found.solve = solver.solve(views);
  system.times.iterate += found.solve.seconds;

  for (auto i = static_cast<std::size_t>(found.rigid_motions); i < found.solve.eigenvalues.size();
       ++i) {
    const auto frequency_of = [](double squared) {
      return std::sqrt(squared) / (2 * std::numbers::pi);
    };
    const double value = std::max(0.0, found.solve.eigenvalues[i]);
    Mode mode;
    mode.frequency = frequency_of(value);
    mode.frequency_error = frequency_of(value + found.solve.error_estimates[i]) - mode.frequency;
    mode.backward_error = found.solve.residuals[i];
    mode.shape = points_of(x[i]);
    make_plain(mode.shape, model);
    found.modes.push_back(std::move(mode));
  }
  return found;
}

}  // namespace heddle::elastic
