// Heat conduction in triangles, for the compilers of both the host and a GPU: a header that
// includes only entries.
#pragma once

#include "heddle/entries/entry_place.hpp"
#include "heddle/entries/real.hpp"

/// -div(k grad u) = f, and u = 0 at nodes that are held. Arrays are in the memory of the device.
struct Conduction {
  using Real = heddle::real<double>;
  using Row = heddle::small_vector<double, 1>;

  const int* node;  // 3 for each triangle, anticlockwise
  const double* x;  // for each node
  const double* y;  // for each node
  const double* k;  // for each triangle
  const double* f;  // for each node
  const int* held;  // for each row of the matrix

  /// Twice the area times the gradient of corner a's linear function.
  HEDDLE_INLINE void gradient(const int* corner, int a, double (&g)[2]) const {
    const int next = corner[(a + 1) % 3], last = corner[(a + 2) % 3];
    g[0] = y[next] - y[last];
    g[1] = x[last] - x[next];
  }
  HEDDLE_INLINE double twice_the_area(const int* corner) const {
    double to_first[2], to_second[2];
    gradient(corner, 1, to_first);
    gradient(corner, 2, to_second);
    return to_first[0] * to_second[1] - to_first[1] * to_second[0];
  }

  HEDDLE_INLINE Real entry(heddle::Offset e, int a, int b) const {
    const int* const corner = node + 3 * e;
    double of_a[2], of_b[2];
    gradient(corner, a, of_a);
    gradient(corner, b, of_b);
    return {{k[e] * (of_a[0] * of_b[0] + of_a[1] * of_b[1]) / (2 * twice_the_area(corner))}};
  }
  HEDDLE_INLINE Row vector(heddle::Offset e, int a) const {
    const int* const corner = node + 3 * e;
    return {{f[corner[a]] * twice_the_area(corner) / 6}};
  }

  /// Rows and columns of held nodes are those of the identity.
  HEDDLE_INLINE Real finish(const Real& sum, const heddle::EntryPlace& at) const {
    if (held[at.row] == 0 && held[at.column] == 0) return sum;
    return {{at.row == at.column ? 1.0 : 0.0}};
  }
  HEDDLE_INLINE Row finish(const Row& sum, heddle::Index row) const {
    return held[row] != 0 ? Row{{0}} : sum;
  }
};
