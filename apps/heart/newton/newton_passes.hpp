// The work of Newton's method on each element, and the terms it sums, as source for CPU and GPU.
// Elements have one integration point, at their centroid.
#pragma once

#include <cmath>
#include <cstdint>

#include "clock.hpp"
#include "heddle/assembly.hpp"
#include "newton_cells.hpp"
#include "solve_record.hpp"
#include "step_parts.hpp"

namespace heddle::heart {

/// Tissue properties of a region.
struct NewtonRegion {
  CellRates cell;
  double across = 0;  // diffusivity, mm2/ms
  double along = 0;
};

/// Arrays over the elements, in the memory of the device.
struct NewtonElements {
  const Index* corner;     // 4, in the basis of the tangent
  const double* gradient;  // 12: gradients of the corners' barycentric coordinates, 1/mm
  const double* volume;    // mm3
  const double* fibre;     // 3, of length 1
  const std::uint16_t* region_of;
  const NewtonRegion* regions;

  HEDDLE_INLINE const NewtonRegion& region(Offset e) const { return regions[region_of[e]]; }
  HEDDLE_INLINE double at_centroid(const double* of_node, Offset e) const {
    const Index* const v = corner + 4 * e;
    // Exact if all four are equal.
    return ((of_node[v[0]] + of_node[v[1]]) + (of_node[v[2]] + of_node[v[3]])) / 4;
  }
  HEDDLE_INLINE double dot(const double* a, const double* b) const {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  /// V g . D h.
  HEDDLE_INLINE double diffusion(Offset e, const double* g, const double* h) const {
    const double* const n = fibre + 3 * e;
    const double across = region(e).across, more = region(e).along - across;
    return volume[e] * (across * dot(g, h) + more * (dot(g, n) * dot(h, n)));
  }
};

/// Cells at the end of the step, for the current potential.
struct CondensedCellPass {
  Offset count;
  NewtonElements elements;
  double step;              // ms
  const double* potential;  // mV, at the nodes
  const double* before;     // at the beginning of the step
  const double* stimulus;   // mV/ms, at the nodes
  const double* recovery_before;
  double* recovery;
  double* source;   // contribution to R at each corner, mV mm3/ms
  double* tangent;  // contribution to K at each pair of corners
  double* slope;    // 3: gradient of the potential
  StepParts* parts;
  bool is_after_solve;  // false at the beginning of a step

  HEDDLE_INLINE void operator()(Offset e) const {
    if (e == 0) is_after_solve ? parts->end_solve() : parts->begin();
    const CellRates& cell = elements.region(e).cell;
    const double V = elements.at_centroid(potential, e);
    const CondensedCell found =
        condense(cell, (V - cell.V_rest) / cell.V_scale, recovery_before[e], step / cell.t_scale);
    recovery[e] = found.recovery;
    const double rate = (V - elements.at_centroid(before, e)) / step;
    const double current =
        cell.V_scale / cell.t_scale * found.source + elements.at_centroid(stimulus, e);
    source[e] = elements.volume[e] / 4 * (rate - current);
    tangent[e] = elements.volume[e] / 16 * (1 / step - found.tangent / cell.t_scale);
    // Formed from differences: 0 at rest, where potentials are not.
    const Index* const corner = elements.corner + 4 * e;
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int a = 1; a < 4; ++a) {
        sum +=
            elements.gradient[3 * (4 * e + a) + i] * (potential[corner[a]] - potential[corner[0]]);
      }
      slope[3 * e + i] = sum;
    }
  }
};

/// R and K = dR/dV of equation 8.
struct TangentKernel {
  NewtonElements elements;
  const double* source;
  const double* tangent;
  const double* slope;

  HEDDLE_INLINE const double* gradient(Offset e, int a) const {
    return elements.gradient + 3 * (4 * e + a);
  }
  HEDDLE_INLINE real<double> entry(Offset e, int a, int b) const {
    return {{tangent[e] + elements.diffusion(e, gradient(e, a), gradient(e, b))}};
  }
  HEDDLE_INLINE small_vector<double, 1> vector(Offset e, int a) const {
    return {{source[e] + elements.diffusion(e, gradient(e, a), slope + 3 * e)}};
  }
};

/// Progress of a step, in the device's memory.
struct NewtonProgress {
  static constexpr int max_residuals = 64;

  int goes_on = 0;  // nonzero if another iteration follows
  int converged = 0;
  int residuals = 0;
  // In all steps so far.
  long long iterations = 0;
  long long solver_iterations = 0;
  StepParts parts = {};
  DeviceReport step = {};  // like one solve: final |R| relative to the initial |R|
  double residual[max_residuals] = {};
};

/// The guess of a linear system, 0.
struct GuessPass {
  Offset count;
  double* change;
  StepParts* parts;

  HEDDLE_INLINE void operator()(Offset i) const {
    if (i == 0) parts->end_assembly();
    change[i] = 0;
  }
};

/// Decides whether a step goes on, from |R| and the linear solve that led to it: one call.
struct DecidePass {
  Offset count = 1;
  bool is_first;          // first call in the step: no system has been solved yet
  const double* squares;  // |R|^2
  const DeviceReport* solve;
  const Clock* clock;  // for the step to come; null for none
  Clock* of_end;       // a copy, for passes that run alongside one that sets the clock
  double tolerance;
  double least;  // |R| of rounding alone
  int max_iterations;
  NewtonProgress* progress;

  HEDDLE_INLINE void operator()(Offset) const {
    NewtonProgress& p = *progress;
    p.parts.end_assembly();
    if (is_first) {
      p.goes_on = p.converged = p.residuals = 0;
      p.step.iterations = 0;
      if (clock != nullptr) {
        *of_end = *clock;
        if (clock->failed_step >= 0) return;
      }
    } else {
      p.goes_on = 0;
      p.step.iterations += solve->iterations;
      p.solver_iterations += solve->iterations;
      if (!is_solved(solve->status)) {
        p.step.status = solve->status;
        return;
      }
      ++p.iterations;
    }
    judge(p, std::sqrt(*squares));
  }

  HEDDLE_INLINE void judge(NewtonProgress& p, double size) const {
    p.residual[p.residuals++] = size;
    const double first = p.residual[0];
    const bool is_finite = size - size == 0;
    p.converged = is_finite && (size <= tolerance * first || size <= least) ? 1 : 0;
    p.goes_on = is_finite && p.converged == 0 && p.residuals <= max_iterations ? 1 : 0;
    p.step.status = p.converged != 0 ? Status::converged
                    : is_finite      ? Status::stagnated
                                     : Status::not_finite;
    p.step.residual_norm = first > 0 ? size / first : 0;
  }
};

/// The end of a step, over nodes and elements. A step that did not converge restores the potential
/// before it; the recovery of one that converged becomes `recovery_before` of the next.
struct SettlePass {
  Offset count;
  Offset nodes, elements;
  const NewtonProgress* progress;
  const double* before;
  double* potential;
  const double* recovery;
  double* recovery_before;

  HEDDLE_INLINE void operator()(Offset i) const {
    if (progress->converged == 0) {
      if (i < nodes) potential[i] = before[i];
    } else if (i < elements) {
      recovery_before[i] = recovery[i];
    }
  }
};

/// Run by `for_each_on`, `assemble_with` and `assemble_vector_with`.
void run(const CondensedCellPass& pass, const Stream& stream);
void run(const GuessPass& pass, const Stream& stream);
void run(const DecidePass& pass, const Stream& stream);
void run(const SettlePass& pass, const Stream& stream);
void assemble(Assembly<real<double>>& tangent, const TangentKernel& kernel);
void assemble(const Assembly<real<double>>& tangent, const TangentKernel& kernel,
              const FieldView<double>& residual);

}  // namespace heddle::heart
