// Runs in the release.
// Programs of approximate inverses compile, for plain tiles and other ones; no GPU is needed.
#include "solvers/inverses/inverse_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "spmv/nvrtc.hpp"
#include "support/compiled_images.hpp"

namespace heddle::test {
namespace {

detail::EntryTiles plain_tiles(int size, int ring) {
  detail::EntryTiles tiles{size, ring, {}, {}};
  for (int t = 0; t < size * size * ring; ++t) {
    tiles.component_of.push_back({t, 1});
    tiles.number_of.push_back({t, 1});
  }
  return tiles;
}

/// The tile (x y; y x).
detail::EntryTiles split_tiles() {
  return {2, 1, {{0, 1}, {1, 1}, {1, 1}, {0, 1}}, {{0, 1}, {1, 1}}};
}

TEST(InverseProgram, CompilesForEveryTileTeamAndLayout) {
  try {
    cuda::nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::vector<detail::EntryTiles> tiles = {
      plain_tiles(1, 1), plain_tiles(1, 2), plain_tiles(1, 4), plain_tiles(3, 1),
      plain_tiles(6, 1), plain_tiles(3, 2), split_tiles()};
  const char* const plans[] = {"CSR", "C=32",           "C=8,T=2,inner=soa", "C=16,inner=aosoa16",
                               "C=n", "C=8,threshold=4"};
  const cuda::InverseTeam teams[] = {{4, true},  {8, true},   {16, true},
                                     {32, true}, {256, true}, {256, false}};
  std::vector<cuda::KernelSource> sources;
  // Each tile in one of the six layouts, with all layouts and teams distributed over the tiles: all
  // combinations take a minute.
  const bool deeply = std::getenv("HEDDLE_DEEP_CHECK") != nullptr;
  for (std::size_t i = 0; i < tiles.size() * 6; ++i) {
    if (!deeply && i % 6 != i / 6 % 6) continue;
    const Layout layout = parse_plan(plans[i % 6]).layout;
    const Index lanes = layout.lanes == Layout::all_rows ? 1000 : layout.lanes;
    const cuda::StoredMatrix matrix{layout, lanes, i % 4 == 0 ? 4 : 8};
    const cuda::StoredMatrix inverse{layout, lanes, i % 4 < 2 ? 4 : 8};
    for (const int part : {0, 1, 2}) {
      sources.push_back(cuda::inverse_source(
          {tiles[i / 6], static_cast<device::InversePart>(part), matrix, inverse},
          teams[(i + i / 6 + static_cast<std::size_t>(part)) % 6]));
    }
  }
  try {
    for (const cuda::KernelImage& image : compiled_images(sources, 90)) {
      EXPECT_FALSE(image.data.empty());
    }
  } catch (const cuda::CompileError& error) {
    FAIL() << error.what() << "\n" << error.log();
  }
}

}  // namespace
}  // namespace heddle::test
