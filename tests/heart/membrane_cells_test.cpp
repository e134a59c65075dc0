#include "membrane_cells.hpp"

#include <gtest/gtest.h>

namespace heddle::heart {
namespace {

TEST(MembraneCells, AnActionPotentialRisesAndReturns) {
  for (const std::string& name : model_names()) {
    const std::vector<MembraneChoice> regions = {{.model = name}};
    const std::vector<std::uint16_t> region(5);
    MembraneCells cells(regions, region, Device::cpu());
    cells.set_stimuli(std::vector<Stimulus>{{.start = 1, .duration = 2, .amplitude = 30}},
                      std::vector<std::uint32_t>{1, 0, 1, 0, 1});
    std::vector<double> V = cells.resting_potential();
    double most = -100;
    for (int step = 0; step < 20000; ++step) {
      const double time = 0.05 * step;
      cells.advance(V.data(), &time, 0.05, Device::cpu().stream());
      most = std::max(most, V[0]);
    }
    EXPECT_GT(most, 10);
    EXPECT_LT(V[0], -70);
    EXPECT_EQ(V[1], cells.resting_potential()[1]);
  }
}

}  // namespace
}  // namespace heddle::heart
