// Meshes of linear tetrahedra, and their element matrices: code for both CPU and GPU.
#pragma once

#include <vector>

#include "heddle/entries.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::bench {

/// A mesh in the host's memory.
struct ElementMesh {
  Index nodes = 0;
  std::vector<Index> node;       // 4 per element
  std::vector<double> gradient;  // 12 per element: of the barycentric coordinate of each corner
  std::vector<double> volume;

  Offset elements() const { return static_cast<Offset>(volume.size()); }
};

/// Contributions of an element to a matrix and to a right-hand side, from its gradients and volume:
/// entries, one component of them, and vectors.
template <class E>
struct MeshKernel;

/// Mass and diffusion: V (1 + [a = b]) / 20 + V g_a . g_b.
template <>
struct MeshKernel<real<double>> {
  const double* gradient;
  const double* volume;

  HEDDLE_INLINE double mass(Offset e, int a, int b) const {
    return volume[e] * (a == b ? 0.1 : 0.05);
  }
  HEDDLE_INLINE double product(Offset e, int a, int b) const {
    const double* const g = gradient + 3 * (4 * e + a);
    const double* const h = gradient + 3 * (4 * e + b);
    return g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
  }
  HEDDLE_INLINE double component(Offset e, int a, int b, int) const {
    return mass(e, a, b) + volume[e] * product(e, a, b);
  }
  HEDDLE_INLINE real<double> entry(Offset e, int a, int b) const {
    return {{component(e, a, b, 0)}};
  }
  HEDDLE_INLINE small_vector<double, 1> vector(Offset e, int a) const {
    return {{volume[e] * gradient[3 * (4 * e + a)]}};
  }
};

/// Mass and elasticity: V (1 + [a = b]) / 20 I + V (lambda g_a g_b^T + mu g_b g_a^T + mu g_a . g_b
/// I) with lambda = mu = 1.
template <>
struct MeshKernel<block<double, 3, 3>> {
  const double* gradient;
  const double* volume;

  HEDDLE_INLINE double component(Offset e, int a, int b, int k) const {
    const MeshKernel<real<double>> scalar{gradient, volume};
    const double* const g = gradient + 3 * (4 * e + a);
    const double* const h = gradient + 3 * (4 * e + b);
    const int i = k / 3, j = k % 3;
    const double both = volume[e] * (g[i] * h[j] + h[i] * g[j]);
    return i == j ? both + scalar.component(e, a, b, 0) : both;
  }
  HEDDLE_INLINE block<double, 3, 3> entry(Offset e, int a, int b) const {
    block<double, 3, 3> K;
    for (int k = 0; k < 9; ++k) K.component[k] = component(e, a, b, k);
    return K;
  }
  HEDDLE_INLINE small_vector<double, 3> vector(Offset e, int a) const {
    const double* const g = gradient + 3 * (4 * e + a);
    return {{volume[e] * g[0], volume[e] * g[1], volume[e] * g[2]}};
  }
};

}  // namespace heddle::bench
