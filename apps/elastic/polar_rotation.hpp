// The rotation of a deformation: the R nearest to F among proper rotations, which maximizes tr(R^T
// F). If det F > 0 it is the factor of F = R S (Higham, Functions of Matrices, chapter 8); near and
// beyond inversion it stays a rotation and changes continuously.
//
// It is found as a quaternion, starting from the rotation of the previous step, as Mueller, Bender,
// Chentanez and Macklin proposed (A Robust Method to Extract the Rotational Part of Deformations,
// 2016), by Newton's method for the maximum (Kugelstadt, Koschier, Bender, Fast Corotated FEM using
// Operator Splitting, 2018). Far from the maximum the Hessian is shifted until it is definite.
#pragma once

#include <cmath>

#include "small_matrix.hpp"

namespace heddle::elastic {

struct Quaternion {
  double at[4];  // w, x, y, z
};

HEDDLE_INLINE Matrix3 matrix_of(const Quaternion& q) {
  const double w = q.at[0], x = q.at[1], y = q.at[2], z = q.at[3];
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
           {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
           {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

/// q followed, in its own frame, by the rotation about w whose angle is 2 atan(|w| / 2), which is
/// |w| to second order and needs no function except a root.
HEDDLE_INLINE Quaternion rotated(const Quaternion& q, const Vector3& w) {
  const double x = w.at[0] / 2, y = w.at[1] / 2, z = w.at[2] / 2;
  Quaternion p{{q.at[0] - q.at[1] * x - q.at[2] * y - q.at[3] * z,
                q.at[1] + q.at[0] * x + q.at[2] * z - q.at[3] * y,
                q.at[2] + q.at[0] * y + q.at[3] * x - q.at[1] * z,
                q.at[3] + q.at[0] * z + q.at[1] * y - q.at[2] * x}};
  const double scale =
      1 / std::sqrt(p.at[0] * p.at[0] + p.at[1] * p.at[1] + p.at[2] * p.at[2] + p.at[3] * p.at[3]);
  for (double& component : p.at) component *= scale;
  return p;
}

/// Limits a step to a right angle.
HEDDLE_INLINE Vector3 shortened(const Vector3& w) {
  constexpr double most = 2;
  const double length = std::sqrt(dot(w, w));
  return length > most ? (most / length) * w : w;
}

/// Finds w with H w = a, for a symmetric H; returns true if H is clearly positive definite,
/// relative to `size` > 0.
HEDDLE_INLINE bool solve_definite(const Matrix3& H, const Vector3& a, double size, Vector3& w) {
  constexpr double tiny = 1e-9;
  const Vector3 h0{{H.at[0][0], H.at[0][1], H.at[0][2]}};
  const Vector3 h1{{H.at[1][0], H.at[1][1], H.at[1][2]}};
  const Vector3 h2{{H.at[2][0], H.at[2][1], H.at[2][2]}};
  // Rows of the adjugate; leading minors show whether H is definite.
  const Vector3 c0 = cross(h1, h2), c1 = cross(h2, h0), c2 = cross(h0, h1);
  const double determinant = dot(h0, c0);
  if (!(h0.at[0] > tiny * size && c2.at[2] > tiny * size * size &&
        determinant > tiny * size * size * size)) {
    return false;
  }
  w = (1 / determinant) * Vector3{{dot(c0, a), dot(c1, a), dot(c2, a)}};
  return true;
}

/// A step toward the maximum of tr(R^T F), given B = R^T F. With R exp([w]) in place of R the trace
/// is tr B + w.a - w.(tr(S) I - S) w / 2 + ..., where S is the symmetric part of B and a is twice
/// the axis of the skew part.
HEDDLE_INLINE Vector3 rotation_step(const Matrix3& B) {
  const Vector3 a{{B.at[2][1] - B.at[1][2], B.at[0][2] - B.at[2][0], B.at[1][0] - B.at[0][1]}};
  const Matrix3 S = symmetric_part(B);
  const double size = std::sqrt(contraction(B, B));
  Matrix3 H;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) H.at[i][j] = -S.at[i][j];
  }
  H = plus_identity(H, trace(S));
  Vector3 w{};
  if (solve_definite(H, a, size, w)) return shortened(w);
  // The shift is a bound from Gershgorin's circles, plus a little more.
  constexpr double more = 0.02;
  double shift = 0, least = 0;
  int lowest = 0;
  for (int i = 0; i < 3; ++i) {
    double others = 0;
    for (int j = 0; j < 3; ++j) others += j == i ? 0 : std::abs(H.at[i][j]);
    if (others - H.at[i][i] > shift) shift = others - H.at[i][i];
    if (H.at[i][i] < least) {
      least = H.at[i][i];
      lowest = i;
    }
  }
  solve_definite(plus_identity(H, shift + more * size), a, more * size, w);
  // Half a turn from the maximum, the gradient vanishes too.
  constexpr double tiny = 1e-9;
  if (dot(w, w) < tiny * tiny && least < -tiny * size) w.at[lowest] = 1;
  return shortened(w);
}

/// The rotation of F, from a guess. If F is a rotation, it is found to rounding.
HEDDLE_INLINE Quaternion polar_rotation(const Matrix3& F, Quaternion q) {
  constexpr int max_steps = 100;      // 3 to 6 are usual; all are taken if no rotation is nearest
  constexpr double last_step = 1e-7;  // Newton's next step would be its cube
  for (int step = 0; step < max_steps; ++step) {
    const Vector3 w = rotation_step(transposed(matrix_of(q)) * F);
    q = rotated(q, w);
    if (dot(w, w) < last_step * last_step) break;
  }
  return q;
}

}  // namespace heddle::elastic
