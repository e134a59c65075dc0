// What Newton's method does for each element, and what it sums: text for CPU and GPU. Elements have
// one integration point, at their centroid.
#pragma once

#include "heddle/assembly.hpp"
#include "newton_cells.hpp"

namespace heddle::heart {

/// Arrays over the elements, in the memory of the device.
struct NewtonElements {
  const Index* corner;     // 4, in the basis of the tangent
  const double* gradient;  // 12: of the corners' barycentric coordinates, 1/mm
  const double* volume;    // mm3
  const double* fibre;     // 3, of length 1
  double across;           // diffusivity, mm2/ms
  double along_more;       // along the fibre less across it

  HEDDLE_INLINE double at_centroid(const double* of_node, Offset e) const {
    double sum = 0;
    for (int a = 0; a < 4; ++a) sum += of_node[corner[4 * e + a]];
    return sum / 4;
  }
  HEDDLE_INLINE double dot(const double* a, const double* b) const {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  /// V g . D h.
  HEDDLE_INLINE double diffusion(Offset e, const double* g, const double* h) const {
    const double* const n = fibre + 3 * e;
    return volume[e] * (across * dot(g, h) + along_more * (dot(g, n) * dot(h, n)));
  }
};

/// Cells at the end of the step for the potential as it is.
struct CondensedCellPass {
  Offset count;
  NewtonElements elements;
  CellRates cell;
  double step;              // ms
  const double* potential;  // v of the nodes
  const double* before;     // at the beginning of the step
  const double* stimulus;   // of v in a ms; of the nodes
  const double* recovery_before;
  double* recovery;
  double* source;   // of R at each corner, mm3/ms
  double* tangent;  // of K at each pair of corners
  double* slope;    // 3: of the potential

  HEDDLE_INLINE void operator()(Offset e) const {
    const double scale = cell.t_scale;
    const double v = elements.at_centroid(potential, e);
    const CondensedCell found = condense(cell, v, recovery_before[e], step / scale);
    recovery[e] = found.recovery;
    const double V = elements.volume[e];
    const double rate = (v - elements.at_centroid(before, e)) / step;
    source[e] = V / 4 * (rate - found.source / scale - elements.at_centroid(stimulus, e));
    tangent[e] = V / 16 * (1 / step - found.tangent / scale);
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int a = 0; a < 4; ++a) {
        sum += elements.gradient[3 * (4 * e + a) + i] * potential[elements.corner[4 * e + a]];
      }
      slope[3 * e + i] = sum;
    }
  }
};

/// R and K = dR/dv of equation 8.
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
