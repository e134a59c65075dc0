// One cell that is integrated by `MembraneCells`, for tests.
#pragma once

#include <cmath>
#include <vector>

#include "membrane_cells.hpp"

namespace heddle::heart::test {

/// V first, then the model's own variables.
using Values = std::vector<double>;

struct SingleCell {
  MembraneCells cells;
  std::vector<double> V;

  explicit SingleCell(const MembraneChoice& choice)
      : cells(std::span(&choice, 1), std::vector<std::uint16_t>{0}, Device::cpu(1)),
        V(cells.resting_potential()) {}

  void set_stimulus(const Stimulus& stimulus) {
    cells.set_stimuli(std::span(&stimulus, 1), std::vector<std::uint32_t>{1});
  }
  void step(double time, double dt, CellRule rule = CellRule::euler) {
    cells.advance(V.data(), &time, dt, Device::cpu(1).stream(), rule);
  }
  Values values() const {
    Values all = V;
    for (const double value : cells.state()) all.push_back(value);
    return all;
  }
  void set_values(const Values& all) {
    V[0] = all[0];
    cells.set_state(std::span(all).subspan(1));
  }
};

/// Values from rest to `end` under a stimulus.
inline Values values_after(const MembraneChoice& choice, const Stimulus& stimulus, double end,
                           double dt, CellRule rule = CellRule::euler) {
  SingleCell cell(choice);
  cell.set_stimulus(stimulus);
  const auto steps = std::lround(end / dt);
  for (long k = 0; k < steps; ++k) cell.step(static_cast<double>(k) * dt, dt, rule);
  return cell.values();
}

}  // namespace heddle::heart::test
