// Matrices of diffusion and mass, and diffusion alone compared with a closed-form solution.
#include <cmath>
#include <numbers>

#include "../../apps/heart/diffusion.hpp"
#include "heart/tissue.hpp"

namespace heddle::heart::test {
namespace {

/// Row sums of the matrix given by 16 numbers per element, with a row for each vertex.
std::vector<double> row_sums(const Model& model, const std::vector<double>& of_elements) {
  std::vector<double> sums(model.position.size());
  for (std::size_t i = 0; i < of_elements.size(); ++i) {
    sums[static_cast<std::size_t>(model.tetrahedron[i / 16][i % 16 / 4])] += of_elements[i];
  }
  return sums;
}

/// x^T A x.
double form(const Model& model, const std::vector<double>& of_elements,
            const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < of_elements.size(); ++i) {
    const std::array<double, 4> at = model.at_corners(i / 16, x);
    sum += at[i % 16 / 4] * of_elements[i] * at[i % 4];
  }
  return sum;
}

json oblique() { return with(slab_case(), "/fibres", {{"direction", {1, 2, -1}}}); }

TEST(HeartMass, HasTheVolumeOfTheTissue) {
  for (const char* split : {"six", "five"}) {
    const Tissue tissue(with(slab_case(), "/mesh/split", split));
    const Model& model = tissue.model;
    const std::vector<double> full = mass_of_elements(model, Mass::consistent);
    const std::vector<double> lumped = mass_of_elements(model, Mass::lumped);
    const std::vector<double> of_full = row_sums(model, full), of_lumped = row_sums(model, lumped);
    double sum = 0;
    for (std::size_t v = 0; v < of_full.size(); ++v) {
      EXPECT_NEAR(of_full[v], of_lumped[v], 1e-15);
      sum += of_full[v];
    }
    EXPECT_NEAR(sum, 8, 1e-12);
    // x^2 on [0, 4] x [0, 2] x [0, 1]: the consistent mass is exact for linear functions.
    std::vector<double> x;
    for (const Point& p : model.position) x.push_back(p[0]);
    EXPECT_NEAR(form(model, full, x), 2 * 64.0 / 3, 1e-11);
    EXPECT_GT(form(model, lumped, x), 2 * 64.0 / 3 + 0.1);
  }
}

TEST(HeartDiffusion, IsExactForLinearPotentials) {
  const Tissue tissue(oblique());
  const Model& model = tissue.model;
  const std::vector<double> K = diffusion_of_elements(model);
  for (const double sum : row_sums(model, K)) EXPECT_NEAR(sum, 0, 1e-15);
  const Point slope = {0.3, -0.7, 1.1};
  std::vector<double> values;
  for (const Point& p : model.position) values.push_back(points::dot(slope, p));
  const double along = (0.3 - 1.4 - 1.1) / std::sqrt(6.0);
  const double square = points::dot(slope, slope);
  const double expected = 8 * (0.02 * square + (0.1 - 0.02) * along * along);
  EXPECT_NEAR(form(model, K, values), expected, 1e-12 * expected);
}

/// The root mean square error, at the end, of cos(pi x / 4) cos(pi y / 2), which decays at a known
/// rate.
double error_of_mode(double h, const char* mass, double step) {
  json of = with(passive_case(), "/mesh/h", h);
  of["time"] = {{"step", step}, {"end", 4}, {"mass", mass}};
  of["stimuli"] = json::array();
  const Tissue tissue(of);
  Simulation simulation(tissue);
  constexpr double pi = std::numbers::pi;
  std::vector<double> mode;
  for (const Point& p : tissue.model.position) {
    mode.push_back(10 * std::cos(pi * p[0] / 4) * std::cos(pi * p[1] / 2));
  }
  simulation.system.set_potential(mode);
  simulation.run(tissue.given.time.steps);
  const double rate = 0.1 * pi * pi / 16 + 0.02 * pi * pi / 4;
  double sum = 0;
  const std::vector<double> potential = simulation.system.potential_of_vertices();
  for (std::size_t v = 0; v < mode.size(); ++v) {
    sum += std::pow(potential[v] - std::exp(-4 * rate) * mode[v], 2);
  }
  return std::sqrt(sum / static_cast<double>(mode.size()));
}

TEST(HeartDiffusion, ConvergesToAMode) {
  for (const char* mass : {"consistent", "lumped"}) {
    const double coarse = error_of_mode(0.5, mass, 0.05), middle = error_of_mode(0.25, mass, 0.05),
                 fine = error_of_mode(0.125, mass, 0.05);
    EXPECT_LT(fine, 0.02) << mass;  // values are about 3
    EXPECT_NEAR(std::log2(coarse / middle), 2, 0.25) << mass;
    EXPECT_NEAR(std::log2(middle / fine), 2, 0.25) << mass;
  }
}

}  // namespace
}  // namespace heddle::heart::test
