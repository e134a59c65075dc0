// Times over the schedules of each layout, as heat maps (Mueller-Roemer et al. 2020, figures 1 and
// 7).
#pragma once

#include <vector>

#include "heat_map.hpp"
#include "tune_report.hpp"

namespace heddle::tuning {

/// One layout and its trials.
struct LayoutMap {
  const Trial* first = nullptr;  // first trial
  const Trial* best = nullptr;   // least score; null where none was measured
  int measured = 0;
  report::HeatMap map;  // a panel for each kind of schedule tried; none without a best
};

/// On a GPU, times over blocks a multiprocessor and threads a block; on a CPU, over prefetch
/// distances, and for dynamic schedules over the chunk. A cell shows the fastest of its plans,
/// which may differ in other keys. The layout of the matrix' record comes first, then the fastest;
/// layouts without any measurement come last.
std::vector<LayoutMap> layout_maps(const MatrixReport& matrix, bool gpu);

}  // namespace heddle::tuning
