// Natural frequencies and modes.
#include <cstdio>
#include <numbers>

#include "elastic/solids.hpp"
#include "modes/modal_analysis.hpp"

namespace heddle::elastic::test::natural_modes {
namespace {

constexpr double length = 8, height = 1, young = 1000, density = 2;

/// Clamped at x = 0, with `n` cells across; without Poisson's effect, like beams in theory.
Model beam(Index n) {
  Model model = box({static_cast<Index>(length) * n, n, n}, {length, height, height},
                    {.young = young, .poisson = 0, .density = density});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  return model;
}

Modes modes_of(const Model& model, int count, const char* plan = "CSR") {
  Simulation simulation(model, {}, plan);
  Modes found = find_modes(model, simulation.system, {.count = count});
  EXPECT_TRUE(found.solve.converged()) << plan;
  EXPECT_EQ(found.modes.size(), static_cast<std::size_t>(count));
  return found;
}

/// x^T M y.
double product(const Model& model, const std::vector<Point>& x, const std::vector<Point>& y) {
  const std::vector<double> mass = lumped_mass(model);
  double sum = 0;
  for (std::size_t v = 0; v < mass.size(); ++v) sum += mass[v] * points::dot(x[v], y[v]);
  return sum;
}

/// The mode's part along an axis, as a fraction of the motion's energy.
double part_along(const Model& model, const Mode& mode, std::size_t axis) {
  std::vector<Point> along(mode.shape.size());
  for (std::size_t v = 0; v < along.size(); ++v) along[v][axis] = mode.shape[v][axis];
  return product(model, along, along);
}

TEST(ElasticModes, OfABeamApproachThoseOfEulerAndBernoulli) {
  // cos(b) cosh(b) = -1; a square section bends in the same way in two directions.
  constexpr double b = 1.8751040687;
  const double inertia = height * height * height * height / 12, area = height * height;
  const double bending = b * b / (2 * std::numbers::pi * length * length) *
                         std::sqrt(young * inertia / (density * area));
  const double axial = std::sqrt(young / density) / (4 * length);
  std::vector<double> error_of_bending, error_of_axial;
  for (const Index n : {1, 2, 4}) {
    const Model model = beam(n);
    const Modes found = modes_of(model, 6);
    // Cells are cut around one diagonal, so one direction is stiffer than the other.
    error_of_bending.push_back(found.modes[0].frequency / bending - 1);
    for (const Mode& mode : found.modes) {
      if (part_along(model, mode, 0) < 0.9) continue;
      error_of_axial.push_back(mode.frequency / axial - 1);
      break;
    }
    std::printf("%d across: bending %.5f of %.5f\n", n, found.modes[0].frequency, bending);
  }
  ASSERT_EQ(error_of_axial.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GT(error_of_bending[i], 0);
    EXPECT_LT(error_of_bending[i], 0.35 * error_of_bending[i - 1]);
    EXPECT_LT(std::abs(error_of_axial[i]), std::abs(error_of_axial[i - 1]));
  }
  // Second-order errors cancel (Richardson).
  const double extrapolated = error_of_bending[2] + (error_of_bending[2] - error_of_bending[1]) / 3;
  EXPECT_LT(std::abs(extrapolated), 0.01);
  EXPECT_LT(std::abs(error_of_axial[2]), 1e-3);
}

TEST(ElasticModes, AreOrthonormalAndZeroWhereTheBodyIsHeld) {
  Model model = beam(2);
  for (Index v = 0; v < model.vertices(); ++v) {  // hold z too on a face
    if (model.position[static_cast<std::size_t>(v)][1] == 0) {
      model.fixed[static_cast<std::size_t>(v)] |= 4;
    }
  }
  const Modes found = modes_of(model, 5);
  EXPECT_EQ(found.rigid_motions, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(product(model, found.modes[i].shape, found.modes[k].shape), i == k ? 1 : 0, 1e-9);
    }
    EXPECT_LE(found.modes[i].backward_error, 1e-10);
    for (std::size_t v = 0; v < model.fixed.size(); ++v) {
      for (int k = 0; k < 3; ++k) {
        if (is_fixed(model.fixed[v], k)) {
          ASSERT_EQ(found.modes[i].shape[v][static_cast<std::size_t>(k)], 0);
        }
      }
    }
  }
}

/// One tetrahedron with a held side has three unknowns: its modes are all eigenpairs of a matrix of
/// three rows, and held components add none.
TEST(ElasticModes, OfOneVertexAreThoseOfItsBlock) {
  Model model = Model::make({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.3, 1}}, {{0, 1, 2, 3}},
                            {.young = 7, .poisson = 0.2, .density = 3});
  for (Index v = 0; v < 3; ++v) give(model, v, {});
  Simulation simulation(model);
  const CsrMatrix<Block> A = matrix_of(simulation);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> exact(matrix_of(A.entry(A.entries() - 1)));
  const Modes found = modes_of(model, 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const double squared =
        exact.eigenvalues()[static_cast<Eigen::Index>(k)] / lumped_mass(model)[3];
    const double omega = 2 * std::numbers::pi * found.modes[k].frequency;
    EXPECT_NEAR(omega * omega, squared, 1e-9 * squared);
  }
  EXPECT_THROW(find_modes(model, simulation.system, {.count = 4}), Error);
}

TEST(ElasticModes, OfAFreeBodyComeAfterSixRigidMotions) {
  const Model model = model_of(random_solid(400, 3), {.young = 4, .poisson = 0.3, .density = 1});
  const Modes found = modes_of(model, 4);
  EXPECT_EQ(found.rigid_motions, 6);
  ASSERT_EQ(found.solve.eigenvalues.size(), 10U);
  const double first = found.solve.eigenvalues[6];
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_LE(std::abs(found.solve.eigenvalues[i]), 1e-10 * first);
  // No mode moves or rotates the body as a whole.
  for (const Mode& mode : found.modes) {
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<Point> along(mode.shape.size()), around(mode.shape.size());
      for (std::size_t v = 0; v < along.size(); ++v) {
        along[v][k] = 1;
        around[v] = points::cross(along[v], model.position[v]);
      }
      EXPECT_NEAR(product(model, mode.shape, along), 0, 1e-6);
      EXPECT_NEAR(product(model, mode.shape, around), 0, 1e-6);
    }
  }
  Simulation simulation(model);
  EXPECT_THROW(find_modes(model, simulation.system, {.count = 11}), Error);
}

/// Rollers leave three motions, none of which is a known guess.
TEST(ElasticModes, OfABodyOnRollersComeAfterThreeRigidMotions) {
  Model model = box({4, 3, 2}, {2, 1, 1}, {.young = 4, .poisson = 0.3, .density = 1}, 0.2);
  for (std::size_t v = 0; v < model.fixed.size(); ++v) {
    if (model.position[v][2] == 0) model.fixed[v] = 4;
  }
  const Modes found = modes_of(model, 3);
  EXPECT_EQ(found.rigid_motions, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(std::abs(found.solve.eigenvalues[i]), 1e-9 * found.solve.eigenvalues[3]);
  }
}

TEST(ElasticModes, AreThoseOfAnyPlan) {
  Model model = model_of(random_solid(300, 5), {.young = 4, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return p[2] < 0.2; });
  const Modes expected = modes_of(model, 3);
  for (const char* plan : {"pJDS", "Sl-32,inner=soa", "Sl-32,inner=soa,vector=soa,order=rcm"}) {
    const Modes found = modes_of(model, 3, plan);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(found.modes[k].frequency, expected.modes[k].frequency,
                  1e-8 * expected.modes[k].frequency);
      const double overlap = product(model, found.modes[k].shape, expected.modes[k].shape);
      EXPECT_NEAR(overlap, 1, 1e-8) << plan << " " << k;
    }
  }
}

}  // namespace
}  // namespace heddle::elastic::test::natural_modes
