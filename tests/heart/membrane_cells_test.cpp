#include "membrane_cells.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "heddle/error.hpp"
#include "single_cell.hpp"

namespace heddle::heart::test::membrane_cells {
namespace {

using Masks = std::vector<std::uint32_t>;
using Stimuli = std::vector<Stimulus>;

MembraneChoice model_named(const std::string& name) {
  MembraneChoice choice;
  choice.model = name;
  return choice;
}

/// Every model, types of the human cell, and one with a parameter of its own.
std::vector<MembraneChoice> five_regions() {
  std::vector<MembraneChoice> regions = {model_named("aliev-panfilov"),
                                         model_named("fitzhugh-nagumo"), MembraneChoice(),
                                         MembraneChoice(), MembraneChoice()};
  regions[3].type = "mid-myocardial";
  regions[4].parameters = {{"g_Kr", 0.1}};
  return regions;
}

/// Cells in scattered regions, with stimuli at scattered cells, after some steps from scattered V.
struct Tissue {
  std::vector<std::uint16_t> region;
  Masks mask;
  std::vector<double> start, V;
  MembraneCells cells;

  Tissue(const std::vector<MembraneChoice>& regions, int count, int threads)
      : region(scattered(regions.size(), count)), cells(regions, region, Device::cpu(threads)) {
    std::mt19937 random(11);
    start = cells.resting_potential();
    mask.resize(start.size());
    for (double& v : start) v += static_cast<double>(random() % 100);
    for (std::uint32_t& bits : mask) bits = random() % 4;
    cells.set_stimuli(Stimuli{{.start = 0.1, .duration = 1, .amplitude = 20},
                              {.start = 0.5, .duration = 0.2, .amplitude = -7}},
                      mask);
    V = start;
    for (int k = 0; k < 60; ++k) {
      const double time = 0.02 * k;
      cells.advance(V.data(), &time, 0.02, Device::cpu(threads).stream());
    }
  }
  static std::vector<std::uint16_t> scattered(std::size_t regions, int count) {
    std::mt19937 random(7);
    std::vector<std::uint16_t> region;
    region.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      region.push_back(static_cast<std::uint16_t>(random() % regions));
    }
    return region;
  }
};

TEST(MembraneCells, AnyNumberOfThreadsYieldsTheSameBits) {
  const Tissue one(five_regions(), 5000, 1);
  for (const int threads : {2, 3, 7}) {
    const Tissue several(five_regions(), 5000, threads);
    EXPECT_EQ(several.V, one.V) << threads;
    EXPECT_EQ(several.cells.state(), one.cells.state()) << threads;
  }
}

TEST(MembraneCells, ACellIsTheSameAloneAndAmongOthers) {
  const std::vector<MembraneChoice> regions = five_regions();
  const Tissue together(regions, 83, 1);
  for (std::size_t i = 0; i < together.V.size(); ++i) {
    MembraneCells alone(std::span(&regions[together.region[i]], 1), std::vector<std::uint16_t>{0},
                        Device::cpu(1));
    alone.set_stimuli(Stimuli{{.start = 0.1, .duration = 1, .amplitude = 20},
                              {.start = 0.5, .duration = 0.2, .amplitude = -7}},
                      Masks{together.mask[i]});
    double v = together.start[i];
    for (int k = 0; k < 60; ++k) {
      const double time = 0.02 * k;
      alone.advance(&v, &time, 0.02, Device::cpu(1).stream());
    }
    EXPECT_EQ(v, together.V[i]) << "cell " << i;
  }
}

TEST(MembraneCells, NumbersAreThoseOfTheModelInDouble) {
  for (const std::string& name : model_names()) {
    const MembraneChoice choice = model_named(name);
    SingleCell cell(choice);
    Values plain = cell.values();
    for (int k = 0; k < 500; ++k) {
      const double J = k < 50 ? 30 : 0;
      cell.cells.set_stimuli(Stimuli{{.start = -1, .duration = 1e9, .amplitude = J}}, Masks{1});
      cell.step(0.02 * k, 0.02);
      std::visit(
          [&]<class M>(const M& model) {
            double state[states_of<M>];
            std::copy(plain.begin() + 1, plain.end(), state);
            take_step<CellRule::euler>(model, plain[0], state, J, 0.02);
            std::copy(state, state + states_of<M>, plain.begin() + 1);
          },
          model_of(choice));
    }
    const Values lanes = cell.values();
    for (std::size_t k = 0; k < plain.size(); ++k) {
      EXPECT_NEAR(lanes[k], plain[k], 1e-10 * std::fabs(plain[k])) << name << " variable " << k;
    }
  }
}

TEST(MembraneCells, NoNumberStaysInItsCell) {
  const std::vector<MembraneChoice> regions = {MembraneChoice()};
  MembraneCells cells(regions, std::vector<std::uint16_t>(40), Device::cpu(1));
  std::vector<double> V = cells.resting_potential();
  V[17] = std::numeric_limits<double>::quiet_NaN();
  const double time = 0;
  for (int k = 0; k < 5; ++k) cells.advance(V.data(), &time, 0.02, Device::cpu(1).stream());
  for (std::size_t i = 0; i < V.size(); ++i) EXPECT_EQ(std::isnan(V[i]), i == 17) << i;
  const std::vector<double> state = cells.state();
  for (std::size_t k = 0; k < state.size(); ++k) {
    if (k % 40 != 17) {
      EXPECT_FALSE(std::isnan(state[k])) << k;
    }
  }
  EXPECT_TRUE(std::isnan(state[17]));
}

TEST(MembraneCells, AStateGoesOnBitByBit) {
  Tissue first(five_regions(), 300, 2), second(five_regions(), 300, 2);
  const std::vector<double> state = first.cells.state(), V = first.V;
  const auto on = [](Tissue& tissue) {
    for (int k = 60; k < 100; ++k) {
      const double time = 0.02 * k;
      tissue.cells.advance(tissue.V.data(), &time, 0.02, Device::cpu(2).stream());
    }
  };
  on(first);
  on(second);
  second.cells.set_state(state);
  second.V = V;
  on(second);
  EXPECT_EQ(second.V, first.V);
  EXPECT_EQ(second.cells.state(), first.cells.state());
  EXPECT_THROW(second.cells.set_state(std::vector<double>(5)), Error);
}

TEST(MembraneCells, CellsRestWhereTheirModelsDo) {
  std::vector<MembraneChoice> regions = five_regions();
  regions[0].parameters = {{"V_rest", -90}};
  const std::vector<std::uint16_t> region = {4, 0, 1, 3, 0};
  const MembraneCells cells(regions, region, Device::cpu());
  EXPECT_EQ(cells.resting_potential(), (std::vector<double>{-85.23, -90, -80, -85.423, -90}));
  EXPECT_EQ(cells.description(),
            "aliev-panfilov with 1 custom parameter: 2 cells; fitzhugh-nagumo: 1 cell; "
            "ten-tusscher-panfilov (mid-myocardial): 1 cell; ten-tusscher-panfilov (epicardial) "
            "with 1 custom parameter: 1 cell");
  EXPECT_EQ(cells.largest_step(), 0.2);
  EXPECT_EQ(cells.cells(), 5);
}

/// Number of steps in which a stimulus acts, among steps from 0 whose times are sums of dt.
int acting_steps(const Stimulus& stimulus, double dt, double end) {
  int steps = 0;
  double time = 0;
  for (; time < end; time += dt) steps += stimulus.acts(time, dt) ? 1 : 0;
  return steps;
}

TEST(Stimulus, ActsInAsManyStepsAsItLasts) {
  for (const double dt : {0.05, 0.01, 0.005, 0.1, 0.025, 0.02}) {
    const int steps = static_cast<int>(std::lround(2 / dt));
    for (const double start : {0., 1., 0.3, 17.7, 1000., 0.1 * 3}) {
      const Stimulus once = {.start = start, .duration = 2, .amplitude = 1};
      EXPECT_EQ(acting_steps(once, dt, start + 10), steps) << start << " " << dt;
      // The pulse begins and ends in the middle of a step.
      const Stimulus between = {.start = start + dt / 2, .duration = 2, .amplitude = 1};
      EXPECT_EQ(acting_steps(between, dt, start + 10), steps) << start << " " << dt;
    }
    const Stimulus thrice = {.start = 0.3, .duration = 2, .amplitude = 1, .period = 30, .count = 3};
    EXPECT_EQ(acting_steps(thrice, dt, 200), 3 * steps) << dt;
    const Stimulus endless = {.start = 0.3, .duration = 2, .amplitude = 1, .period = 10};
    EXPECT_EQ(acting_steps(endless, dt, 100), 10 * steps) << dt;
  }
  // Times that are products instead of sums, with a pulse at multiples of half steps.
  int steps = 0;
  const Stimulus pulse = {.start = 0.7, .duration = 2, .amplitude = 1};
  for (int k = 0; k < 1000; ++k) steps += pulse.acts(k * 0.025, 0.025) ? 1 : 0;
  EXPECT_EQ(steps, 80);
}

std::string message_of(const MembraneChoice& choice) {
  try {
    model_of(choice);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MembraneChoice, FaultsNameTheChoices) {
  EXPECT_EQ(message_of(model_named("hodgkin\n")),
            "there is no membrane model \"hodgkin?\"; there are: aliev-panfilov, fitzhugh-nagumo, "
            "ten-tusscher-panfilov");
  MembraneChoice choice = model_named("fitzhugh-nagumo");
  choice.parameters = {{"g_Na", 1}};
  EXPECT_EQ(message_of(choice),
            "fitzhugh-nagumo has no parameter \"g_Na\"; there are: alpha, c, epsilon, gamma, "
            "V_rest, V_scale, t_scale");
  choice.parameters = {{"c", 0}};
  EXPECT_EQ(message_of(choice), "the parameter c of fitzhugh-nagumo is 0; it must be above 0");
  choice.parameters = {{"V_scale", -100}};
  EXPECT_EQ(message_of(choice),
            "the parameter V_scale of fitzhugh-nagumo is -100; it must be above 0");
  choice.parameters = {{"c", std::nan("")}};
  EXPECT_EQ(message_of(choice), "the parameter c of fitzhugh-nagumo is not finite");
  choice = MembraneChoice();
  choice.parameters = {{"g_Kr", -0.1}};
  EXPECT_EQ(message_of(choice),
            "the parameter g_Kr of ten-tusscher-panfilov is -0.1; it must be at least 0");
  choice = MembraneChoice();
  choice.type = "atrial";
  EXPECT_EQ(message_of(choice),
            "ten-tusscher-panfilov has no cells of type \"atrial\"; there are: epicardial, "
            "endocardial, mid-myocardial");
}

TEST(MembraneCells, FaultsOfStimuliAndRegionsAreRefused) {
  const std::vector<MembraneChoice> regions = {MembraneChoice()};
  EXPECT_THROW(MembraneCells(regions, std::vector<std::uint16_t>{0, 1}, Device::cpu()), Error);
  MembraneCells cells(regions, std::vector<std::uint16_t>(3), Device::cpu());
  const Stimulus good = {.start = 0, .duration = 1, .amplitude = 1};
  Stimulus endless = good, without = good, short_period = good;
  endless.start = std::numeric_limits<double>::infinity();
  without.duration = 0;
  short_period.period = 0.5;
  for (const Stimulus& bad : {endless, without, short_period}) {
    EXPECT_THROW(cells.set_stimuli(Stimuli{bad}, Masks(3)), Error);
  }
  EXPECT_THROW(cells.set_stimuli(Stimuli{good}, Masks(2)), Error);
  EXPECT_THROW(cells.set_stimuli(Stimuli{good}, Masks{0, 1, 2}), Error);
  EXPECT_THROW(cells.set_stimuli(Stimuli(33, good), Masks(3)), Error);
  EXPECT_NO_THROW(cells.set_stimuli(Stimuli(32, good), Masks(3, ~0U)));
  EXPECT_NO_THROW(cells.set_stimuli({}, Masks(3)));
}

}  // namespace
}  // namespace heddle::heart::test::membrane_cells
