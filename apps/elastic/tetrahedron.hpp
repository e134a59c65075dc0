// The linear tetrahedron of an isotropic material: strain, stress, forces and stiffness. With the
// volume V and the gradients h of the barycentric coordinates, rotated with the element, the
// corners a and b have the block
//     K_ab = V (lambda h_a h_b^T + mu h_b h_a^T + mu (h_a . h_b) I),
// which is R K_ab R^T with K_ab of the unrotated gradients (Mueller, Gross, Interactive Virtual
// Materials, 2004), since the material is isotropic.
#pragma once

#include <cmath>

#include "small_matrix.hpp"

namespace heddle::elastic {

/// Lame's parameters.
struct Lame {
  double lambda;
  double mu;
};

struct Gradients {
  Vector3 of[4];
};

/// du_i / dx_j; from differences of corners, so that a common displacement leaves no rounding.
HEDDLE_INLINE Matrix3 displacement_gradient(const Gradients& g, const Vector3* u) {
  Matrix3 G{};
  for (int a = 1; a < 4; ++a) {
    const Vector3 d = u[a] - u[0];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) G.at[i][j] += d.at[i] * g.of[a].at[j];
    }
  }
  return G;
}

/// lambda tr(strain) I + 2 mu strain.
HEDDLE_INLINE Matrix3 stress_of(const Matrix3& strain, const Lame& material) {
  Matrix3 stress;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) stress.at[i][j] = 2 * material.mu * strain.at[i][j];
  }
  return plus_identity(stress, material.lambda * trace(strain));
}

/// K_ab as shear I and the rest, which are summed in turn. In a sum, everything is in the rest.
struct Stiffness {
  Matrix3 rest;
  double shear;

  friend HEDDLE_INLINE Stiffness add(Stiffness sum, const Stiffness& term) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) sum.rest.at[i][j] += term.rest.at[i][j];
      sum.rest.at[i][i] += term.shear;
    }
    return sum;
  }
};

/// Exchanging a and b gives the same numbers transposed, bit by bit.
HEDDLE_INLINE Stiffness stiffness_of(const Vector3& a, const Vector3& b, const Lame& of_volume) {
  Stiffness K;
  K.shear = of_volume.mu * dot(a, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      K.rest.at[i][j] = of_volume.lambda * (a.at[i] * b.at[j]) + of_volume.mu * (b.at[i] * a.at[j]);
    }
  }
  return K;
}

/// The equivalent stress of von Mises: the root of 3/2 times the length of the deviator.
HEDDLE_INLINE double von_mises(const Matrix3& stress) {
  const Matrix3 deviator = plus_identity(stress, -trace(stress) / 3);
  return std::sqrt(1.5 * contraction(deviator, deviator));
}

}  // namespace heddle::elastic
