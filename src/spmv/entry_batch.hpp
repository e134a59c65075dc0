// Products of several entries of a definition side by side: each term of the product is one
// operation on that many lanes, so that walking over the terms costs little and vectorises.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "heddle/runtime/entry_definition.hpp"

namespace heddle::detail {

/// Entry w has the components a[j][w], acts on x[k][w] and yields y[i][w]; all in T.
template <class T>
struct EntryBatch {
  static constexpr int width = 8;
  static constexpr int most = EntryDefinition::max_components;

  alignas(64) T a[most][width];
  alignas(64) T x[most][width];
  alignas(64) T y[most][width];

  template <class S>
  HEDDLE_INLINE void set_entry(int w, const S* from, int size) {
    for (int j = 0; j < size; ++j) a[j][w] = static_cast<T>(from[j]);
  }
  template <class S>
  HEDDLE_INLINE void set_vector(int w, const S* from, Offset stride, int size) {
    for (int k = 0; k < size; ++k) x[k][w] = static_cast<T>(from[k * stride]);
  }

  /// y = a x in every lane; the results of lanes that were not set are never read.
  HEDDLE_INLINE void multiply(const EntryDefinition& definition) {
    const ProductTerm* term = definition.product.data();
    const ProductTerm* const end = term + definition.product.size();
    for (int i = 0; i < definition.vector_size(); ++i) {
      T sum[width] = {};
      for (; term != end && term->result == i; ++term) {
        const T coefficient = static_cast<T>(term->coefficient);
        const T* const left = a[term->left];
        const T* const right = x[term->right];
        for (int w = 0; w < width; ++w) sum[w] += coefficient * left[w] * right[w];
      }
      for (int w = 0; w < width; ++w) y[i][w] = sum[w];
    }
  }
};

/// A row's sum as a `RowStore` takes it.
template <class T>
struct DefinedSum {
  using scalar = T;
  int components;
  T component[EntryDefinition::max_components];
};

}  // namespace heddle::detail
