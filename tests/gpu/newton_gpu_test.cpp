// Newton's method for tissue on a GPU, beside what the CPU makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heddle/problems.hpp"
#include "newton_scheme.hpp"
#include "support/on_gpu.hpp"

namespace newton_gpu {
namespace {

using namespace heddle;
using namespace heddle::heart;

class NewtonOnGpu : public heddle::test::OnGpu {};

TEST_F(NewtonOnGpu, StepsAsOnTheCpu) {
  const TetrahedronMesh solid = random_solid(3000, 5);
  std::vector<Point> position;
  std::vector<double> start;
  for (const Point& p : solid.position) {
    position.push_back({6 * p[0], 6 * p[1], 6 * p[2]});
    start.push_back(-80 + 100 / (1 + std::exp(24 * p[0] - 6)));
  }
  const std::vector<std::array<Index, 4>> tetrahedra(solid.tetrahedron.begin(),
                                                     solid.tetrahedron.end());
  const std::vector<Point> fibre(tetrahedra.size(), Point{1, 0, 0});
  AlievPanfilov slow;
  slow.t_scale = 20;
  const std::vector<NewtonRegion> regions = {{{}, 0.05, 0.2}, {{slow}, 0.1, 0.1}};
  std::vector<std::uint16_t> region(tetrahedra.size());
  for (std::size_t e = 0; e < region.size(); ++e) region[e] = e % 2;
  NewtonOptions options;
  options.step = 0.5;
  std::vector<std::vector<double>> potential, recovery;
  NewtonScheme resumed({position, tetrahedra, fibre, regions, region}, parse_plan("K1rs"), device,
                       options);
  for (const Device& on : {Device::cpu(2), device}) {
    NewtonScheme scheme({position, tetrahedra, fibre, regions, region}, parse_plan("K1rs"), on,
                        options);
    scheme.set_potential(start);
    for (int i = 0; i < 20; ++i) {
      const NewtonStep step = scheme.advance();
      ASSERT_TRUE(step.converged) << i;
      ASSERT_LE(step.residual.size(), 6U);
      if (i != 11) continue;
      resumed.set_potential(scheme.potential());
      resumed.set_recovery(scheme.recovery());
    }
    potential.push_back(scheme.potential());
    recovery.push_back(scheme.recovery());
  }
  // Which went on from the GPU's state.
  for (int i = 12; i < 20; ++i) ASSERT_TRUE(resumed.advance().converged) << i;
  EXPECT_EQ(resumed.potential(), potential[1]);
  EXPECT_EQ(resumed.recovery(), recovery[1]);
  for (std::size_t v = 0; v < start.size(); ++v) {
    ASSERT_NEAR(potential[1][v], potential[0][v], 1e-6);
  }
  for (std::size_t e = 0; e < fibre.size(); ++e) {
    ASSERT_NEAR(recovery[1][e], recovery[0][e], 1e-8);
  }
  // The front has moved.
  EXPECT_GT(std::count_if(potential[0].begin(), potential[0].end(), [](double v) { return v > 0; }),
            std::count_if(start.begin(), start.end(), [](double v) { return v > 0; }));
}

}  // namespace
}  // namespace newton_gpu
