// Steps with the registers of each instruction set, whichever this machine would choose.
#include "group_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "membrane_cells.hpp"

namespace heddle::heart::test::group_step {
namespace {

constexpr int count =
    83;  // no multiple of any number of lanes, and more than a thread takes at once

struct Numbers {
  std::vector<double> V, state;
};

/// Cells from scattered potentials after some steps; together, or each as a group of its own.
Numbers advanced(const Steps& steps, std::size_t rule, std::size_t model_index, bool tabulated,
                 bool together) {
  MembraneChoice choice;
  choice.model = model_names()[model_index];
  const AnyModel model = model_of(choice);
  Numbers numbers;
  std::visit(
      [&]<class M>(const M& m) {
        constexpr Offset plane = 96;
        for (int k = 0; k < states_of<M>; ++k) {
          numbers.state.insert(numbers.state.end(), plane, m.start(k + 1));
        }
        std::mt19937 random(1);
        for (int i = 0; i < count; ++i) {
          numbers.V.push_back(m.start(0) + static_cast<double>(random() % 100));
        }
        CellData data{.count = count,
                      .node = nullptr,
                      .state = numbers.state.data(),
                      .plane = plane,
                      .mask = nullptr,
                      .stimulus = nullptr,
                      .stimuli = 0,
                      .potential = numbers.V.data(),
                      .time = nullptr,
                      .dt = 0.02,
                      .rule = static_cast<CellRule>(rule)};
        std::vector<float> tables;
        data.tables.dt = shortest_stage(data.rule, data.dt);
        if constexpr (TabulatedModel<M>) {
          for (std::size_t t = 0; tabulated && t < M::tables.size(); ++t) {
            tables.resize(tables.size() + static_cast<std::size_t>(M::tables[t].floats()));
          }
          float* next = tables.data();
          for (std::size_t t = 0; tabulated && t < M::tables.size(); ++t) {
            m.fill(static_cast<int>(t), data.tables.dt, next);
            data.tables.table[t] = next;
            next += M::tables[t].floats();
          }
        }
        const Step advance = steps.of_model[rule][tabulated ? 1 : 0][model_index];
        const ActingStimuli none{};
        for (int step = 0; step < 50; ++step) {
          if (together) {
            advance(&m, data, none, 0);
            advance(&m, data, none, cells_at_once);
            continue;
          }
          for (int i = 0; i < count; ++i) {
            // A plane of one variable, 16 lanes wide, that holds this cell alone.
            std::vector<double> state;
            for (int k = 0; k < states_of<M>; ++k) {
              state.insert(state.end(), 16, numbers.state[k * plane + i]);
            }
            CellData one = data;
            one.count = 1;
            one.plane = 16;
            one.state = state.data();
            one.potential = numbers.V.data() + i;
            advance(&m, one, none, 0);
            for (Offset k = 0; k < states_of<M>; ++k) numbers.state[k * plane + i] = state[k * 16];
          }
        }
        // The values beyond the cells are meaningless.
        for (int k = 0; k < states_of<M>; ++k) {
          for (Offset i = count; i < plane; ++i) numbers.state[k * plane + i] = 0;
        }
      },
      model);
  return numbers;
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

TEST(GroupStep, ACellsBitsAreItsOwn) {
  for (std::size_t row = 0; row < 4 * std::variant_size_v<AnyModel>; ++row) {
    const std::size_t rule = row % 2, k = row / 4;
    const bool tabulated = row / 2 % 2 == 1;
    for (const Steps* const steps : {&baseline_steps, &avx2_steps}) {
      if (steps == &avx2_steps && !has_avx2()) continue;
      const Numbers together = advanced(*steps, rule, k, tabulated, true);
      const Numbers alone = advanced(*steps, rule, k, tabulated, false);
      EXPECT_EQ(together.V, alone.V) << model_names()[k];
      EXPECT_EQ(together.state, alone.state) << model_names()[k];
    }
  }
}

TEST(GroupStep, RegistersChangeRoundingOnly) {
  if (!has_avx2()) GTEST_SKIP() << "this machine lacks AVX2 or FMA";
  for (std::size_t row = 0; row < 4 * std::variant_size_v<AnyModel>; ++row) {
    const std::size_t rule = row % 2, k = row / 4;
    const bool tabulated = row / 2 % 2 == 1;
    const Numbers narrow = advanced(baseline_steps, rule, k, tabulated, true);
    const Numbers wide = advanced(avx2_steps, rule, k, tabulated, true);
    for (std::size_t i = 0; i < narrow.V.size(); ++i) {
      EXPECT_NEAR(wide.V[i], narrow.V[i], 1e-10 * std::fabs(narrow.V[i])) << model_names()[k];
    }
    for (std::size_t i = 0; i < narrow.state.size(); ++i) {
      EXPECT_NEAR(wide.state[i], narrow.state[i], 1e-10 * std::fabs(narrow.state[i]))
          << model_names()[k];
    }
  }
}

}  // namespace
}  // namespace heddle::heart::test::group_step
