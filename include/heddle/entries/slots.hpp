// Where the components of a matrix entry and of a field lie in memory: index arithmetic only.
//
// Sliced storage places entry j of a row on a slot: slot = step + lane, where `step` is the first
// slot of one step of a slice (a multiple of its C lanes). Every inner layout is then one formula,
//     index(k) = step * step_scale + lane * lane_scale[k] + base[k],
// with K components an entry and P of them a piece (w_q = min(P, K - qP) in piece q):
//     AoS      step_scale K, lane_scale K,   base k
//     SoA      step_scale 1, lane_scale 1,   base k * plane
//     AoSoA    step_scale K, lane_scale w_q, base q * P * C + k - q * P,   q = k / P
// (Mueller-Roemer et al. 2020, section 4.1, extended by the pieces).
#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle {

using Index = int;         // rows and columns of one local matrix
using Offset = long long;  // slots and scalars

/// Where scalar k of a block of `rows` x `columns` elements of `size` scalars lies once it is
/// stored by columns instead of by rows. With rows and columns exchanged, the inverse.
HEDDLE_INLINE constexpr int transposed_component(int k, int rows, int columns, int size) {
  const int element = k / size;
  return (element % columns * rows + element / columns) * size + k % size;
}

/// Entries as they are: one after another, all components together.
template <class E>
struct PackedValues {
  const stored_scalar_t<E>* data;

  HEDDLE_INLINE E operator()(Offset step, int lane) const {
    const stored_scalar_t<E>* from = data + (step + lane) * E::components;
    E entry;
#if !defined(__CUDACC__)
    // Words that are copied one by one have not arrived yet when four of them are read at once.
    if constexpr (sizeof(stored_scalar_t<E>) == 2) {
      __builtin_memcpy(entry.component, from, sizeof entry.component);
      return entry;
    }
#endif
    for (int k = 0; k < E::components; ++k) entry.component[k] = from[k];
    return entry;
  }
};

/// The formula above for entries whose components are counted at run time.
struct SlotRule {
  int components;  // K
  int piece;       // P
  Index C;
  bool planes;   // SoA
  Offset slots;  // in a plane

  HEDDLE_INLINE Offset step_scale() const { return planes ? 1 : components; }
  HEDDLE_INLINE int lane_scale(int k) const {
    const int rest = components - k / piece * piece;
    return planes ? 1 : rest < piece ? rest : piece;
  }
  HEDDLE_INLINE Offset base(int k) const {
    const int first = k / piece * piece;
    return planes ? k * slots : Offset(first) * C + (k - first);
  }
  HEDDLE_INLINE Offset operator()(Offset step, int lane, int k) const {
    return step * step_scale() + Offset(lane) * lane_scale(k) + base(k);
  }
};

/// The formula above, for an entry of K components.
template <int K>
struct SlotFormula {
  Offset step_scale;
  Offset base[K];
  int lane_scale[K];

  HEDDLE_INLINE Offset operator()(Offset step, int lane, int k) const {
    return step * step_scale + Offset(lane) * lane_scale[k] + base[k];
  }
};

/// Entries in any inner layout.
template <class E>
struct StridedValues {
  const stored_scalar_t<E>* data;
  SlotFormula<E::components> formula;

  HEDDLE_INLINE E operator()(Offset step, int lane) const {
    E entry;
    for (int k = 0; k < E::components; ++k) entry.component[k] = data[formula(step, lane, k)];
    return entry;
  }
};

/// A field of vector entries V whose scalars are kept as M, all components of a row together.
template <class V, class M = typename V::scalar>
struct PackedVector {
  const M* data;

  HEDDLE_INLINE const M* address(Offset row) const { return data + row * V::components; }

  HEDDLE_INLINE V operator()(Offset row) const {
    V v;
    for (int k = 0; k < V::components; ++k) {
      v.component[k] = static_cast<typename V::scalar>(data[row * V::components + k]);
    }
    return v;
  }
};

/// Same with any strides (in scalars) from row to row and from component to component.
template <class V, class M = typename V::scalar>
struct StridedVector {
  const M* data;
  Offset entry_stride;
  Offset component_stride;

  HEDDLE_INLINE const M* address(Offset row) const { return data + row * entry_stride; }

  HEDDLE_INLINE V operator()(Offset row) const {
    V v;
    for (int k = 0; k < V::components; ++k) {
      v.component[k] =
          static_cast<typename V::scalar>(data[row * entry_stride + k * component_stride]);
    }
    return v;
  }
};

}  // namespace heddle
