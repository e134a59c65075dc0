// Membranes by tables compared with those by formulas.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "heart/tissue.hpp"
#include "membranes/lane_group.hpp"
#include "membranes/potential_table.hpp"
#include "single_cell.hpp"

namespace heddle::heart::test {
namespace {

using Model = TenTusscherPanfilov;

Model model_of_type(int type) {
  Model model = Model::of_type(type);
  model.prepare();
  return model;
}

/// A function f is off by at most f'' / (8 64^2): for e^(0.3485 V), the steepest, by 3.7e-6 of it.
TEST(HeartTables, FunctionsAreNearTheirFormulas) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> voltage(-128, 128);
  for (int made = 0; made < 9; ++made) {
    const Model model = model_of_type(made / 3);
    const double dt = std::array{0.0025, 0.01, 0.2}[static_cast<std::size_t>(made % 3)];
    std::vector<float> of_V(Model::of_V.floats()), of_w(Model::of_w.floats());
    model.fill(0, dt, of_V.data());
    model.fill(1, dt, of_w.data());
    for (int trial = 0; trial < 20000; ++trial) {
      // Covers both sides of -40 mV, where sodium's gates jump.
      const double V = trial == 0 ? -40 : trial == 1 ? -40 - 1e-9 : voltage(random);
      double found[Model::of_V.columns], formula[Model::of_V.columns];
      look_up<Model::of_V, 0, Model::of_V.columns>(of_V.data(), V, found);
      model.of_potential(V, V, dt, formula);
      for (int k = 0; k < Model::functions; ++k) {
        EXPECT_NEAR(found[k], formula[k], 4e-6 * std::fabs(formula[k])) << k << " at " << V;
      }
      double K1[Model::of_w.columns];
      const double w = V + 64;
      look_up<Model::of_w, 0, Model::of_w.columns>(of_w.data(), w, K1);
      EXPECT_NEAR(K1[0], model.K1_part(w), 8e-6 * model.K1_part(w)) << w;  // e^(w / 2)
    }
  }
}

/// Rows join, except where functions jump, at -40 mV.
TEST(HeartTables, RowsJoin) {
  const Model model = model_of_type(0);
  std::vector<float> table(Model::of_V.floats());
  model.fill(0, 0.01, table.data());
  for (int row = 1; row < table_rows; ++row) {
    const double V = Model::of_V.first + static_cast<double>(row) / table_rows_of_mV;
    if (V == -40) continue;
    double below[Model::of_V.columns], here[Model::of_V.columns];
    look_up<Model::of_V, 0, Model::of_V.columns>(table.data(), std::nextafter(V, -200), below);
    look_up<Model::of_V, 0, Model::of_V.columns>(table.data(), V, here);
    for (int k = 0; k < Model::functions; ++k) {
      EXPECT_NEAR(below[k], here[k], 1e-11 * std::fabs(here[k])) << k << " at " << V;
    }
  }
}

TEST(HeartTables, EndAtTheirEnds) {
  const Model model = model_of_type(0);
  std::vector<float> table(Model::of_V.floats());
  model.fill(0, 0.01, table.data());
  double at_end[Model::of_V.columns], beyond[Model::of_V.columns];
  using Lanes = LaneGroup<16, 2>;
  Lanes beyond_in_lanes[Model::of_V.columns];
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [end, far] : {std::pair{-128.0, -1e300},
                                 {128.0, 1e300},
                                 {-128.0, -infinity},
                                 {128.0, infinity},
                                 {-128.0, std::nan("")}}) {
    look_up<Model::of_V, 0, Model::of_V.columns>(table.data(), end, at_end);
    look_up<Model::of_V, 0, Model::of_V.columns>(table.data(), far, beyond);
    // The same next to lanes within the table.
    const double lanes[Lanes::lanes] = {0, far, -50, far};
    look_up<Model::of_V, 0, Model::of_V.columns>(table.data(), Lanes::load(lanes), beyond_in_lanes);
    for (int k = 0; k < Model::functions; ++k) {
      EXPECT_EQ(beyond[k], at_end[k]) << k;
      double of_lane[Lanes::lanes];
      beyond_in_lanes[k].store(of_lane);
      EXPECT_EQ(of_lane[1], at_end[k]) << k;
      EXPECT_EQ(of_lane[3], at_end[k]) << k;
    }
  }
}

/// Includes the midpoint rule, whose whole step derives its gates from those of half a step.
TEST(HeartTables, CellsGoTheSameWay) {
  for (const CellRule rule : {CellRule::euler, CellRule::midpoint}) {
    for (const char* type : {"epicardial", "endocardial", "mid-myocardial"}) {
      MembraneChoice choice;
      choice.type = type;
      SingleCell by_formulas(choice), by_tables(choice);
      by_tables.cells.tabulate(0.01, rule);
      SingleCell* const both[] = {&by_formulas, &by_tables};
      for (SingleCell* const cell : both) {
        cell->set_stimulus({.start = 0, .duration = 1, .amplitude = 50});
      }
      for (int k = 0; k < 40000; ++k) {
        for (SingleCell* const cell : both) cell->step(k * 0.01, 0.01, rule);
        ASSERT_NEAR(by_tables.V[0], by_formulas.V[0], 1e-4) << type << " after " << k;
      }
      const Values a = by_formulas.values(), b = by_tables.values();
      for (std::size_t k = 1; k < a.size(); ++k) EXPECT_NEAR(b[k], a[k], 2e-5 * a[k]) << k;
    }
  }
}

TEST(HeartTables, AreForTheirStep) {
  SingleCell cell(MembraneChoice{});
  cell.cells.tabulate(0.01);
  cell.step(0, 0.01);
  EXPECT_THROW(cell.step(0.01, 0.02), Error);
  const double V = cell.V[0];
  cell.V[0] = std::nan("");
  cell.step(0.01, 0.01);
  EXPECT_TRUE(std::isnan(cell.V[0]) && !std::isnan(V));
}

/// Cells of a region without tables are not advanced by other steps either.
TEST(HeartTables, MixedTissueIsRefusedWhole) {
  const MembraneChoice with_tables, without{.model = "aliev-panfilov"};
  MembraneCells cells(std::vector{without, with_tables, with_tables},
                      std::vector<std::uint16_t>{0, 1, 2}, Device::cpu(1));
  EXPECT_FALSE(cells.is_tabulated());
  cells.tabulate(0.01);
  EXPECT_TRUE(cells.is_tabulated());
  std::vector<double> V(3, -20);
  const double time = 0;
  const std::vector<double> before = V, state = cells.state();
  EXPECT_THROW(cells.advance(V.data(), &time, 0.02, Device::cpu(1).stream()), Error);
  EXPECT_EQ(V, before);
  EXPECT_EQ(cells.state(), state);
  cells.advance(V.data(), &time, 0.01, Device::cpu(1).stream());
  EXPECT_NE(V[0], -20);
  EXPECT_NE(V[1], -20);
  EXPECT_EQ(V[1], V[2]);
}

/// The slab of the benchmark, at its eight corners and in its middle.
TEST(HeartTables, ActivationIsThatOfFormulas) {
  json of = slab_case();
  of["mesh"] = {{"slab", {20, 7, 3}}, {"h", 0.5}, {"split", "five"}};
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  of["conductivity"] = {{"along", 0.13342}, {"across", 0.017606}};
  of["stimuli"][0]["box"]["to"] = {1.5, 1.5, 1.5};
  of["time"] = {{"step", 0.05}, {"end", 60}};
  std::vector<double> activation[2];
  for (const bool tables : {false, true}) {
    of["tables"] = tables;
    const Tissue tissue(of);
    Simulation simulation(tissue);
    simulation.run(tissue.given.time.steps);
    activation[tables ? 1 : 0] = simulation.system.activation_of_vertices();
  }
  for (const double time : activation[0]) EXPECT_FALSE(std::isnan(time));
  EXPECT_LE(difference(activation[1], activation[0]), 1e-3);
}

}  // namespace
}  // namespace heddle::heart::test
