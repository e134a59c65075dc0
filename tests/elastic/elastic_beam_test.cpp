// A cantilever compared with beam theory.
#include <cstdio>

#include "boundary.hpp"
#include "elastic/solids.hpp"
#include "static_analysis.hpp"

namespace heddle::elastic::test {
namespace {

using namespace points;

constexpr double length = 5, height = 1, young = 1000, load = 1;

/// The tip's deflection under a force that is uniform on the end's face, with `n` cells across.
double tip_of(Index n) {
  Model model = box({static_cast<Index>(length) * n, n, n}, {length, height, height},
                    {.young = young, .poisson = 0});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  const auto at_tip = [](const Point& p) { return p[0] > length - 1e-9; };
  for (const Triangle& triangle : Boundary(model.tetrahedron).triangles()) {
    const auto at = [&](std::size_t a) -> const Point& {
      return model.position[static_cast<std::size_t>(triangle[a])];
    };
    if (!(at_tip(at(0)) && at_tip(at(1)) && at_tip(at(2)))) continue;
    const double area = 0.5 * points::length(cross(at(1) - at(0), at(2) - at(0)));
    for (const Index v : triangle) model.load[static_cast<std::size_t>(v)][2] -= load * area / 3;
  }
  Simulation simulation(model);
  StaticAnalysis analysis(simulation.system);
  EXPECT_TRUE(analysis.solve().converged());
  // The mean over the face, from the work of the load.
  return analysis.energies().work / load;
}

TEST(ElasticBeam, ApproachesTimoshenko) {
  const double inertia = height * height * height * height / 12, area = height * height;
  const double shear_factor = 5.0 / 6, shear_modulus = young / 2;
  const double expected = load * length * length * length / (3 * young * inertia) +
                          load * length / (shear_factor * shear_modulus * area);
  const double coarse = tip_of(2), middle = tip_of(4), fine = tip_of(8);
  // Second-order errors cancel (Richardson).
  const double extrapolated = fine + (fine - middle) / 3;
  std::printf("tip %.5f %.5f %.5f of %.5f, extrapolated %.5f\n", coarse, middle, fine, expected,
              extrapolated);
  EXPECT_LT(coarse, middle);
  EXPECT_LT(middle, fine);
  EXPECT_GT((middle - coarse) / (fine - middle), 2.0);
  EXPECT_NEAR(fine, expected, 0.07 * expected);
  EXPECT_NEAR(extrapolated, expected, 0.02 * expected);
}

}  // namespace
}  // namespace heddle::elastic::test
