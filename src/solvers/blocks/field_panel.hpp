// Gram matrices and combinations of a tile of many fields, on a CPU. A tile is packed into panels,
// component by component, so that registers hold one component of several elements and a product
// over any ring is a few fused multiplications of registers.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "heddle/detail/groups.hpp"
#include "heddle/detail/product_cpu.hpp"

namespace heddle::detail {

template <class T>
struct PanelVector {
  static constexpr int lanes = 32 / sizeof(T);
  using type __attribute__((vector_size(32))) = T;
};
template <>
struct PanelVector<long double> {
  static constexpr int lanes = 1;
  using type = long double;
};

/// Units of the ring: e_i e_j = sign_of_product[i][j] e_(i xor j).
inline constexpr int sign_of_product[4][4] = {
    {1, 1, 1, 1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, 1, -1, -1}};

/// Tiles of `width` elements. Panel k has its components in `scalars` scalars, from k `scalars` on.
template <Ring R, class T>
struct Panels {
  static constexpr int size = ring_size(R);
  static constexpr int width = 128 / size;
  static constexpr int scalars = size * width;
  static constexpr int lanes = PanelVector<T>::lanes;
  using Vector = typename PanelVector<T>::type;

  static void load(Vector& v, const T* from) { std::memcpy(&v, from, sizeof v); }
  static T sum(const Vector& v) {
    if constexpr (lanes == 1) {
      return v;
    } else {
      T lane[lanes];
      std::memcpy(lane, &v, sizeof v);
      for (int half = lanes / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
      }
      return lane[0];
    }
  }

  /// Packs `count` elements of a run, from `first` on, followed by zeros.
  template <class S, class Run>
  static void pack(const S* data, const Run& run, Offset first, int count, T* panel) {
    for (int c = 0; c < size; ++c) {
      T* const to = panel + c * width;
      for (int k = 0; k < count; ++k) to[k] = data[run.at(first + k, c)];
      for (int k = count; k < width; ++k) to[k] = 0;
    }
  }

  template <class Run>
  static void unpack(const T* panel, const Run& run, Offset first, int count, T* data, bool adds) {
    for (int c = 0; c < size; ++c) {
      for (int k = 0; k < count; ++k) {
        T& to = data[run.at(first + k, c)];
        to = adds ? to + panel[c * width + k] : panel[c * width + k];
      }
    }
  }

  /// Numbers of fields of u and of v that a step over products takes at once, as registers allow.
  static constexpr int rows_at_once = R == Ring::real ? 4 : R == Ring::complex ? 2 : 1;
  static constexpr int columns_at_once = 2;
  /// A number of fields, rounded up to fill the last step.
  static constexpr int padded(int fields, int at_once) {
    return (fields + at_once - 1) / at_once * at_once;
  }

  /// sums[(j * rows + i) * size ...] += <u_i, v_j> of the panels of one step.
  static void add_products(const T* u, const T* v, T* sums, int rows) {
    constexpr int I = rows_at_once, J = columns_at_once;
    Vector total[I][J][size] = {};
    for (int k = 0; k < width; k += lanes) {
      for_each_below<size>([&](auto a) {
        Vector left[I];
        for_each_below<I>([&](auto i) { load(left[i], u + i * scalars + a * width + k); });
        for_each_below<size>([&](auto b) {
          // The sign for the conjugate of e_a.
          constexpr int sign = a == 0 ? sign_of_product[a][b] : -sign_of_product[a][b];
          for_each_below<J>([&](auto j) {
            Vector right;
            load(right, v + j * scalars + b * width + k);
            for_each_below<I>([&](auto i) {
              if constexpr (sign > 0) {
                total[i][j][a ^ b] += left[i] * right;
              } else {
                total[i][j][a ^ b] -= left[i] * right;
              }
            });
          });
        });
      });
    }
    for (int j = 0; j < J; ++j) {
      for (int i = 0; i < I; ++i) {
        for (int c = 0; c < size; ++c) sums[(j * rows + i) * size + c] += sum(total[i][j][c]);
      }
    }
  }

  /// Adds all products of `rows` x `columns` panels, both padded; those below the diagonal of a
  /// Hermitian matrix may be left out.
  static void add_all_products(const T* u, int rows, const T* v, int columns, bool hermitian,
                               T* sums) {
    for (int j = 0; j < columns; j += columns_at_once) {
      const int end = hermitian && j + columns_at_once < rows ? j + columns_at_once : rows;
      for (int i = 0; i < end; i += rows_at_once) {
        add_products(u + i * scalars, v + j * scalars, sums + (j * rows + i) * size, rows);
      }
    }
  }

  /// J panels `out` = the `rows` panels of `from` times coefficients; number (i, j) is at
  /// c + (j * rows + i) * size.
  template <int J>
  static void combine(const T* from, int rows, const T* c, T* out) {
    constexpr int vectors = R == Ring::real && width >= 2 * lanes ? 2 : 1;
    for (int k = 0; k < width; k += vectors * lanes) {
      Vector total[J][size][vectors] = {};
      for (int i = 0; i < rows; ++i) {
        for_each_below<size>([&](auto a) {
          Vector x[vectors];
          for_each_below<vectors>(
              [&](auto v) { load(x[v], from + i * scalars + a * width + k + v * lanes); });
          for_each_below<size>([&](auto b) {
            for_each_below<J>([&](auto j) {
              const T factor = c[(j * rows + i) * size + b];
              for_each_below<vectors>([&](auto v) {
                if constexpr (sign_of_product[a][b] > 0) {
                  total[j][a ^ b][v] += x[v] * factor;
                } else {
                  total[j][a ^ b][v] -= x[v] * factor;
                }
              });
            });
          });
        });
      }
      for (int j = 0; j < J; ++j) {
        for (int a = 0; a < size; ++a) {
          for (int v = 0; v < vectors; ++v) {
            std::memcpy(out + j * scalars + a * width + k + v * lanes, &total[j][a][v],
                        sizeof(Vector));
          }
        }
      }
    }
  }
  static void combine_all(const T* from, int rows, const T* c, int columns, T* out) {
    constexpr int J = R == Ring::quaternion ? 2 : 4;
    int j = 0;
    for (; j + J <= columns; j += J) combine<J>(from, rows, c + j * rows * size, out + j * scalars);
    for (; j < columns; ++j) combine<1>(from, rows, c + j * rows * size, out + j * scalars);
  }
};

/// The same, compiled for the available instructions.
template <Ring R, class T>
void add_products_baseline(const T* u, int rows, const T* v, int columns, bool hermitian, T* sums) {
  Panels<R, T>::add_all_products(u, rows, v, columns, hermitian, sums);
}
template <Ring R, class T>
void combine_baseline(const T* from, int rows, const T* c, int columns, T* out) {
  Panels<R, T>::combine_all(from, rows, c, columns, out);
}
template <Ring R, class T>
__attribute__((target("avx2,fma"), flatten)) void add_products_avx2(const T* u, int rows,
                                                                    const T* v, int columns,
                                                                    bool hermitian, T* sums) {
  Panels<R, T>::add_all_products(u, rows, v, columns, hermitian, sums);
}
template <Ring R, class T>
__attribute__((target("avx2,fma"), flatten)) void combine_avx2(const T* from, int rows, const T* c,
                                                               int columns, T* out) {
  Panels<R, T>::combine_all(from, rows, c, columns, out);
}
template <Ring R, class T>
inline auto products_of_panels() {
  return has_avx2() ? add_products_avx2<R, T> : add_products_baseline<R, T>;
}
template <Ring R, class T>
inline auto combination_of_panels() {
  return has_avx2() ? combine_avx2<R, T> : combine_baseline<R, T>;
}

}  // namespace heddle::detail
