// Passes over vertices in a step, in addition to membranes and the solve: `for_each_on` runs them.
// Vertices are numbered in the matrix's basis.
#pragma once

#include <cmath>

#include "clock.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/entries/annotations.hpp"
#include "solve_record.hpp"

namespace heddle::heart {

/// Interpolates the potential at each probe's point into the row of the step.
struct ProbePass {
  Index count;
  const Clock* clock;
  const Index* vertex;   // 4 per probe
  const double* weight;  // 4 per probe
  const double* potential;
  const double* change;  // to be added to it; null for none
  double* rows;
  Offset row_length;
  Offset row_count;

  HEDDLE_INLINE void operator()(Offset i) const {
    double sum = 0;
    for (int a = 0; a < 4; ++a) {
      const double part = weight[4 * i + a];
      if (part == 0) continue;
      const Index v = vertex[4 * i + a];
      sum += part * (potential[v] + (change != nullptr ? change[v] : 0));
    }
    rows[(clock->steps % row_count) * row_length + i] = sum;
  }
};

/// The end of a step: adds the change by diffusion, unless cells have taken it up; finds
/// activation, the first upward crossing of a threshold, linearly between the potentials before and
/// after the step; and records probes. The first call also takes the solve into the record and the
/// clock to the next step. If the solve failed, the potential that it left stays, and later steps
/// record nothing more.
struct EndPass {
  Offset count;  // vertices and probes
  Index vertices;
  const Clock* clock;  // when the step began
  Clock* next;
  const DeviceReport* report;
  SolveRecord* record;
  double step;                     // ms
  double threshold;                // mV
  double scale;                    // residuals are relative to this
  const double* before_diffusion;  // the potential
  const double* change;            // by the step's diffusion; null: taken up
  double* potential;               // before the step, then after it
  double* activation;              // NaN until activated
  ProbePass probes;
  long long length = 1;  // of an adaptive step, in steps of the clock

  HEDDLE_INLINE void operator()(Offset i) const {
    if (i == 0) go_on();
    if (i >= vertices) return probes(i - vertices);
    // All is read before anything is written: a GPU waits once.
    const double from = potential[i], last = activation[i], now = clock->now;
    const double to = before_diffusion[i] + (change != nullptr ? change[i] : 0);
    const bool has_failed = clock->failed_step >= 0, is_good = is_solved(report->status);
    if (has_failed) return;
    potential[i] = to;
    if (is_good && last != last && from < threshold && to >= threshold) {
      const double taken = step * static_cast<double>(length);
      activation[i] = now + taken * ((threshold - from) / (to - from));
    }
  }

  HEDDLE_INLINE void go_on() const {
    record->add(clock->steps, report->status, report->iterations, report->residual_norm / scale);
    const long long steps = clock->steps + length;
    const double now = static_cast<double>(steps) * step;
    *next = {now, now + step / 2, steps, record->failed_step};
  }
};

/// Sums of neighbours: one level of the tree that sums weights times potentials for each electrode.
struct SumPass {
  static constexpr Offset width = 32;

  Offset count;          // electrodes times sums per electrode
  Offset sums;           // per electrode
  Offset terms;          // per electrode
  const double* weight;  // null: terms are sums of the level below
  const double* term;
  double* sum;

  HEDDLE_INLINE void operator()(Offset i) const {
    const Offset electrode = i / sums, first = i % sums * width;
    const Offset end = first + width < terms ? first + width : terms;
    double total = 0;
    for (Offset k = first; k < end; ++k) {
      total +=
          weight != nullptr ? weight[electrode * terms + k] * term[k] : term[electrode * terms + k];
    }
    sum[i] = total;
  }
};

/// Writes the electrodes after the probes in the step's row.
struct ElectrodePass {
  Index count;
  const Clock* clock;
  const double* sum;
  double* rows;
  Offset row_length;
  Offset row_count;
  Offset probes;

  HEDDLE_INLINE void operator()(Offset i) const {
    rows[(clock->steps % row_count) * row_length + probes + i] = sum[i];
  }
};

}  // namespace heddle::heart
