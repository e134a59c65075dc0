// Passes over vertices in a step, beside membranes and the solve: `for_each_on` runs them. Vertices
// are numbered as the matrix's basis has them.
#pragma once

#include <cmath>

#include "heddle/detail/index.hpp"
#include "heddle/entries/annotations.hpp"
#include "solve_record.hpp"

namespace heddle::heart {

/// Times in the memory of the device, so that the work of a step is the same each time.
struct Clock {
  double now;
  double half;  // half a step later
  long long steps;
};

/// Keeps the potential after the membranes, and guesses that after the diffusion: its change goes
/// on as in the two steps before, on a line.
struct GuessPass {
  Index count;
  double* potential;
  double* before_diffusion;
  const double* change;  // null: no guess
  const double* change_before;

  HEDDLE_INLINE void operator()(Offset i) const {
    const double v = potential[i];
    before_diffusion[i] = v;
    if (change != nullptr) potential[i] = v + (2 * change[i] - change_before[i]);
  }
};

struct ChangePass {
  Index count;
  const double* potential;
  const double* before_diffusion;
  double* change;
  double* change_before;

  HEDDLE_INLINE void operator()(Offset i) const {
    change_before[i] = change[i];
    change[i] = potential[i] - before_diffusion[i];
  }
};

/// The end of a step: the change by its diffusion, unless that was noted before, and activation,
/// the first upward crossing of a threshold, on a line between the potentials before and after the
/// step. Where the solve of the step failed, `before` keeps the potential that it left, and nothing
/// more is found in later ones.
struct EndPass {
  Index count;
  const Clock* clock;
  const SolveRecord* record;
  const DeviceReport* report;  // of this step's solve, which is not in the record yet; may be null
  double step;                 // ms
  double threshold;
  const double* potential;
  double* before;
  double* activation;  // NaN until then
  ChangePass noting;   // without `change`: noted

  HEDDLE_INLINE void operator()(Offset i) const {
    if (noting.change != nullptr) noting(i);
    const bool has_failed = record->failed_step >= 0;
    const bool fails = has_failed ? record->failed_step == clock->steps
                                  : report != nullptr && !is_solved(report->status);
    if (fails) before[i] = potential[i];
    if (has_failed || fails) return;
    const double from = before[i], to = potential[i];
    if (activation[i] != activation[i] && from < threshold && to >= threshold) {
      activation[i] = clock->now + step * ((threshold - from) / (to - from));
    }
    before[i] = to;
  }
};

/// A number of the point that a probe is at, into the row of the step.
struct ProbePass {
  Index count;
  const Clock* clock;
  const Index* vertex;   // 4 a probe
  const double* weight;  // 4 a probe
  const double* potential;
  double* rows;
  Offset row_length;
  Offset row_count;

  HEDDLE_INLINE void operator()(Offset i) const {
    double sum = 0;
    for (int a = 0; a < 4; ++a) {
      const double part = weight[4 * i + a];
      if (part != 0) sum += part * potential[vertex[4 * i + a]];
    }
    rows[(clock->steps % row_count) * row_length + i] = sum;
  }
};

/// Sums of neighbours, a level of the tree that sums weights times potentials for each electrode.
struct SumPass {
  static constexpr Offset width = 32;

  Offset count;          // electrodes times sums of each
  Offset sums;           // of each electrode
  Offset terms;          // of each electrode
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

/// Electrodes behind the probes of the step's row.
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

/// On to the next step, once the solve of this one is in the record.
struct ClockPass {
  Index count;  // 1
  Clock* clock;
  double step;
  const DeviceReport* report;  // null: it is
  SolveRecord* record;

  HEDDLE_INLINE void operator()(Offset) const {
    if (report != nullptr) {
      record->add(clock->steps, report->status, report->iterations, report->residual);
    }
    const long long steps = clock->steps + 1;
    *clock = {static_cast<double>(steps) * step, static_cast<double>(steps) * step + step / 2,
              steps};
  }
};

}  // namespace heddle::heart
