// Work on each element: passes, which `for_each_on` runs. Work on each matrix entry and each
// vertex: kernels, which an `Assembly` sums.
//
// Vertices are numbered in the matrix's basis, elements as in the mesh; the records of an element
// are contiguous.
#pragma once

#include "heddle/assembly.hpp"
#include "heddle/entries/block.hpp"
#include "polar_rotation.hpp"
#include "tetrahedron.hpp"

namespace heddle::elastic {

using Block = block<double, 3, 3>;

/// Three numbers per vertex, in any layout.
template <class S>
struct Nodal {
  S* data = nullptr;
  Offset vertex_stride = 3;
  Offset component_stride = 1;

  HEDDLE_INLINE Offset index(Index vertex, int k) const {
    return vertex * vertex_stride + k * component_stride;
  }
  HEDDLE_INLINE Vector3 operator[](Index vertex) const {
    Vector3 value;
    for (int k = 0; k < 3; ++k) value.at[k] = data[index(vertex, k)];
    return value;
  }
};

HEDDLE_INLINE bool is_fixed(unsigned char bits, int component) {
  return ((bits >> component) & 1) != 0;
}

/// Reads one corner's three numbers from records of an element with three per corner.
HEDDLE_INLINE Vector3 load_corner(const double* records, Offset element, int corner) {
  const double* const from = records + 3 * (4 * element + corner);
  return {{from[0], from[1], from[2]}};
}
HEDDLE_INLINE void store_corner(double* records, Offset element, int corner, const Vector3& value) {
  double* const to = records + 3 * (4 * element + corner);
  for (int i = 0; i < 3; ++i) to[i] = value.at[i];
}

/// Elements at rest.
struct ElementsAtRest {
  const Index* corner;     // 4 per element
  const double* gradient;  // 12: gradients at the four corners
  const double* material;  // 2: volume times lambda and mu

  HEDDLE_INLINE Gradients gradients(Offset e) const {
    Gradients g;
    for (int a = 0; a < 4; ++a) g.of[a] = load_corner(gradient, e, a);
    return g;
  }
  HEDDLE_INLINE Lame of_volume(Offset e) const { return {material[2 * e], material[2 * e + 1]}; }
  HEDDLE_INLINE Matrix3 gradient_of(Nodal<const double> displacement, Offset e) const {
    Vector3 u[4];
    for (int a = 0; a < 4; ++a) u[a] = displacement[corner[4 * e + a]];
    return displacement_gradient(gradients(e), u);
  }
};

/// Forces and energy of an element; for a corotational one also its rotation and rotated gradients.
struct ElementPass {
  Offset count;
  ElementsAtRest rest;
  Nodal<const double> displacement;
  double* force;     // 12: the resisting force at each corner
  double* energy;    // 1
  double* rotation;  // 4: a quaternion, from the previous step; null for linear elements
  double* rotated;   // 12: gradients times the rotation

  HEDDLE_INLINE void operator()(Offset e) const {
    const Gradients g = rest.gradients(e);
    const Matrix3 G = rest.gradient_of(displacement, e);
    Gradients h = g;
    Matrix3 strain;
    Matrix3 R{};
    if (rotation != nullptr) {
      const Matrix3 F = plus_identity(G, 1);
      double* const q = rotation + 4 * e;
      const Quaternion found = polar_rotation(F, {{q[0], q[1], q[2], q[3]}});
      for (int k = 0; k < 4; ++k) q[k] = found.at[k];
      R = matrix_of(found);
      strain = plus_identity(symmetric_part(transposed(R) * F), -1);
      for (int a = 0; a < 4; ++a) {
        h.of[a] = R * g.of[a];
        store_corner(rotated, e, a, h.of[a]);
      }
    } else {
      strain = symmetric_part(G);
    }
    const Matrix3 stress = stress_of(strain, rest.of_volume(e));  // times the volume
    Vector3 sum{};
    for (int a = 1; a < 4; ++a) {
      Vector3 f = stress * g.of[a];
      if (rotation != nullptr) f = R * f;
      store_corner(force, e, a, f);
      sum = sum + f;
    }
    store_corner(force, e, 0, -1 * sum);
    energy[e] = 0.5 * contraction(stress, strain);
  }
};

/// Cauchy's stress of an element, xx yy zz xy yz xz, and its von Mises equivalent.
struct StressPass {
  Offset count;
  ElementsAtRest rest;
  const double* volume;
  Nodal<const double> displacement;
  const double* rotation;  // set by the last ElementPass; null for linear elements
  double* stress;          // 6
  double* equivalent;      // 1

  HEDDLE_INLINE void operator()(Offset e) const {
    const Matrix3 G = rest.gradient_of(displacement, e);
    Lame material = rest.of_volume(e);
    material.lambda /= volume[e];
    material.mu /= volume[e];
    Matrix3 s;
    if (rotation != nullptr) {
      const double* const q = rotation + 4 * e;
      const Matrix3 R = matrix_of({{q[0], q[1], q[2], q[3]}});
      const Matrix3 stretch = symmetric_part(transposed(R) * plus_identity(G, 1));
      s = R * stress_of(plus_identity(stretch, -1), material) * transposed(R);
    } else {
      s = stress_of(symmetric_part(G), material);
    }
    double* const to = stress + 6 * e;
    for (int i = 0; i < 3; ++i) to[i] = s.at[i][i];
    to[3] = s.at[0][1];
    to[4] = s.at[1][2];
    to[5] = s.at[0][2];
    equivalent[e] = von_mises(s);
  }
};

/// Entries mass_scale M + stiffness_scale K under the supports. Fixed components have no rows and
/// columns; they keep their own diagonal entry, which is of the same size as the others.
struct StiffnessKernel {
  const double* gradient;      // 12 per element, rotated if elements are corotational
  const double* material;      // 2 per element
  const double* mass;          // one per slot; null without mass
  const unsigned char* fixed;  // per vertex: bits of the fixed components
  double mass_scale;
  double stiffness_scale;

  HEDDLE_INLINE Stiffness entry(Offset e, int a, int b) const {
    return stiffness_of(load_corner(gradient, e, a), load_corner(gradient, e, b),
                        {material[2 * e], material[2 * e + 1]});
  }
  HEDDLE_INLINE Block finish(const Stiffness& sum, const EntryPlace& place) const {
    const double inertia = mass != nullptr ? mass_scale * mass[place.slot] : 0;
    const unsigned char of_row = fixed[place.row], of_column = fixed[place.column];
    const bool on_diagonal = place.row == place.column;
    Block entry;
    for (int k = 0; k < Block::components; ++k) {
      const int r = k / 3, c = k % 3;
      const bool is_diagonal = on_diagonal && r == c;
      const bool stays = is_diagonal || !(is_fixed(of_row, r) || is_fixed(of_column, c));
      const double value = stiffness_scale * sum.rest.at[r][c] + (r == c ? inertia : 0);
      entry.component[k] = stays ? value : 0;
    }
    return entry;
  }
};

/// A right-hand side: base + scale (load - forces of the elements), zero in fixed components.
struct ResidualKernel {
  const double* force;  // 12 per element
  const unsigned char* fixed;
  Nodal<const double> load;
  Nodal<const double> base;  // without data: zero
  double scale;

  HEDDLE_INLINE Vector3 vector(Offset e, int a) const { return load_corner(force, e, a); }
  HEDDLE_INLINE small_vector<double, 3> finish(const Vector3& inner, Index v) const {
    Vector3 sum = scale * (load[v] - inner);
    if (base.data != nullptr) sum = base[v] + sum;
    small_vector<double, 3> result;
    for (int k = 0; k < 3; ++k) result.component[k] = is_fixed(fixed[v], k) ? 0 : sum.at[k];
    return result;
  }
};

}  // namespace heddle::elastic
