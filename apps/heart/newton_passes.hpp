// What Newton's method does for each element, and what it sums: text for CPU and GPU. Elements have
// one integration point, at their centroid.
#pragma once

#include <cstdint>

#include "heddle/assembly.hpp"
#include "newton_cells.hpp"

namespace heddle::heart {

/// The tissue of a region.
struct NewtonRegion {
  CellRates cell;
  double across = 0;  // diffusivity, mm2/ms
  double along = 0;
};

/// Arrays over the elements, in the memory of the device.
struct NewtonElements {
  const Index* corner;     // 4, in the basis of the tangent
  const double* gradient;  // 12: of the corners' barycentric coordinates, 1/mm
  const double* volume;    // mm3
  const double* fibre;     // 3, of length 1
  const std::uint16_t* region_of;
  const NewtonRegion* regions;

  HEDDLE_INLINE const NewtonRegion& region(Offset e) const { return regions[region_of[e]]; }
  HEDDLE_INLINE double at_centroid(const double* of_node, Offset e) const {
    const Index* const v = corner + 4 * e;
    // Exact where all are the same.
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

/// Cells at the end of the step for the potential as it is.
struct CondensedCellPass {
  Offset count;
  NewtonElements elements;
  double step;              // ms
  const double* potential;  // mV, of the nodes
  const double* before;     // at the beginning of the step
  const double* stimulus;   // mV/ms, of the nodes
  const double* recovery_before;
  double* recovery;
  double* source;   // of R at each corner, mV mm3/ms
  double* tangent;  // of K at each pair of corners
  double* slope;    // 3: of the potential

  HEDDLE_INLINE void operator()(Offset e) const {
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
    // Of differences: 0 at rest, where potentials are not.
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

/// `for_each_on`, `assemble_with` and `assemble_vector_with`.
void run(const CondensedCellPass& pass, const Stream& stream);
void assemble(Assembly<real<double>>& tangent, const TangentKernel& kernel);
void assemble(const Assembly<real<double>>& tangent, const TangentKernel& kernel,
              const FieldView<double>& residual);

}  // namespace heddle::heart
