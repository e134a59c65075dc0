// Integration points of tetrahedra, four in each: their weights are equal, and they integrate
// quadratic functions exactly (Zienkiewicz and Taylor, The Finite Element Method, table of
// integration formulas for tetrahedra). Point j is the one nearest to corner j. Values at points
// are stored element by element.
#pragma once

#include "clock.hpp"
#include "heddle/assembly.hpp"
#include "membranes/cells.hpp"
#include "solve_record.hpp"

namespace heddle::heart {

inline constexpr int points_of_element = 4;
/// Barycentric coordinates of a point: at its own corner, (5 + 3 sqrt 5) / 20, and at the others.
inline constexpr double near_corner = 0.58541019662496845446;
inline constexpr double far_corner = 0.13819660112501051518;

/// The potential at points, linear between the corners.
struct InterpolatePass {
  Offset count;         // points
  const Index* corner;  // 4 per element
  const double* potential;
  const double* diffused;  // to be added to it; null for none
  double* at_point;

  HEDDLE_INLINE double at(Index node) const {
    return potential[node] + (diffused != nullptr ? diffused[node] : 0);
  }
  HEDDLE_INLINE void operator()(Offset i) const {
    const Index* const of_element = corner + i / 4 * 4;
    // Formed as a difference, so that equal values at all corners give the same value at the point.
    const double own = at(of_element[i % 4]);
    double others = 0;
    for (Offset a = 1; a < 4; ++a) others += at(of_element[(i + a) % 4]) - own;
    at_point[i] = own + far_corner * others;
  }
};

/// The integral of the membranes' change times the function of each corner: a kernel of
/// `assemble_vector_with`.
struct ChangeAtPoints {
  const double* before;
  const double* after;
  const double* volume;  // per element, mm3

  HEDDLE_INLINE double change(Offset point) const { return after[point] - before[point]; }
  HEDDLE_INLINE small_vector<double, 1> vector(Offset e, int a) const {
    double sum = 0;
    for (int j = 0; j < points_of_element; ++j) {
      sum += (j == a ? near_corner : far_corner) * change(points_of_element * e + j);
    }
    return {{volume[e] / points_of_element * sum}};
  }
};

/// Adds the membranes' change, as projected to vertices, to the potential. The first call takes the
/// projection into the record.
struct TakeUpPass {
  Offset count;  // vertices
  const Clock* clock;
  const DeviceReport* report;
  SolveRecord* record;
  double scale;  // residuals are relative to this
  double* potential;
  const double* diffused;  // null for none
  const double* projected;
  BeforeDiffusion next;

  HEDDLE_INLINE void operator()(Offset i) const {
    if (i == 0) {
      record->add_projection(clock->steps, report->status, report->iterations,
                             report->residual_norm / scale);
      next.note_clock();
    }
    const double V = potential[i] + (diffused != nullptr ? diffused[i] : 0) + projected[i];
    next.make_guess(i);
    (next.potential != nullptr ? next.potential : potential)[i] = V;
  }
};

/// Run by `for_each_on` and `assemble_vector_with`.
void run(const InterpolatePass& pass, const Stream& stream);
void run(const TakeUpPass& pass, const Stream& stream);
void integrate(const Assembly<real<double>>& mass, const ChangeAtPoints& change,
               const FieldView<double>& integral);

}  // namespace heddle::heart
