// Compound entries as tiles of real or complex numbers, and back.
//
// Every entry acts on its vector entry as a small dense matrix: its real representation, one row
// per scalar of the result, one column per scalar acted on. `expand` writes it out for each entry
// of a matrix; `fold` recovers the entries from such a matrix.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/entries.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

/// Scalars that an entry acts on and yields: the shape of its real representation.
template <class E>
inline constexpr int tile_columns = vector_entry_t<E>::components;
template <class E>
inline constexpr int tile_rows = result_entry_t<E>::components;

/// True if the entry also has a complex representation, half as high and as wide.
template <class E>
inline constexpr bool has_complex_representation =
    arithmetic_t<E>::ring == Ring::complex && tile_rows<E> % 2 == 0 && tile_columns<E> % 2 == 0;

/// How scalars of a matrix form entries.
enum class Tiling {
  automatic,  // expansion or components, by the shapes; see `fold`
  expansion,  // each entry is its representation
  components  // each entry is one column of its components, one below the other
};

namespace detail {

/// The real representation in the scalar of the vector, exactly: the images of the unit vectors.
template <class E>
auto representation(const E& e) {
  using V = vector_entry_t<E>;
  std::array<std::array<typename V::scalar, tile_columns<E>>, tile_rows<E>> tile;
  const arithmetic_t<E> a = load(e);
  for (int j = 0; j < tile_columns<E>; ++j) {
    V unit = zero_vector<V>();
    unit.component[j] = typename V::scalar(1);
    auto image = zero_vector<result_entry_t<E>>();
    multiply_add(image, a, unit);
    for (int i = 0; i < tile_rows<E>; ++i) tile[i][j] = image.component[i];
  }
  return tile;
}

/// Entry i of a view, whatever the order of its components.
template <class E>
E entry_of(const CsrView<E>& view, Offset i) {
  const E as_given = PackedValues<E>{view.values}(i, 0);
  E e = as_given;
  using A = arithmetic_t<E>;
  if constexpr (requires { A::block_rows; }) {
    constexpr int width = E::components / (A::block_rows * A::block_columns);
    for (int k = 0; view.order == column_major && k < E::components; ++k) {
      e.component[k] =
          as_given.component[transposed_component(k, A::block_rows, A::block_columns, width)];
    }
  }
  return e;
}

/// A signed component, or zero: the content of one position of a representation.
struct HEDDLE_EXPORT Position {
  int component = -1;
  int sign = 0;
};

/// How the components of an entry are arranged in `rows` x `columns` real numbers.
struct HEDDLE_EXPORT Arrangement {
  int rows = 0;
  int columns = 0;
  int components = 0;
  bool complex = false;  // true if it can also consist of complex numbers, rows / 2 x columns / 2
  std::vector<Position> at;
};

/// Encoded entries cannot be written component by component; those of a narrower scalar can.
template <class E>
inline constexpr bool is_its_components = std::is_same_v<E, arithmetic_t<E>>;
template <class Stored, class A>
inline constexpr bool is_its_components<stored_as<Stored, A>> = is_its_components<A>;

template <class E>
Arrangement arrangement() {
  static_assert(check_entry<E>());
  static_assert(is_its_components<E>, "an encoded entry cannot be folded component by component");
  Arrangement arranged{tile_rows<E>, tile_columns<E>, E::components, has_complex_representation<E>,
                       std::vector<Position>(tile_rows<E> * tile_columns<E>)};
  for (int k = 0; k < E::components; ++k) {
    E unit{};
    unit.component[k] = stored_scalar_t<E>(1);
    const auto tile = representation(unit);
    for (int i = 0; i < tile_rows<E>; ++i) {
      for (int j = 0; j < tile_columns<E>; ++j) {
        if (tile[i][j] == 0) continue;
        Position& position = arranged.at[i * tile_columns<E> + j];
        if (position.sign != 0 || (tile[i][j] != 1 && tile[i][j] != -1)) {
          throw Error(ErrorKind::unsupported,
                      "the representation of this entry mixes its components; assemble the matrix "
                      "from triplets instead");
        }
        position = {k, tile[i][j] > 0 ? 1 : -1};
      }
    }
  }
  return arranged;
}

/// A matrix with 1 or 2 numbers (`parts`) per value.
template <class T>
struct HEDDLE_EXPORT NumbersView {
  PatternView pattern;
  const T* values;
  int parts;
};

/// Row r of the copy holds row r of `matrix`, by increasing columns.
template <class T>
HEDDLE_EXPORT CsrArrays<T> with_sorted_columns(const NumbersView<T>& matrix, const Device& device);

/// Finds the tiles of `matrix` and their entries. Throws `Error` as documented for `fold`.
template <class S, class T>
HEDDLE_EXPORT CsrArrays<S> fold_tiles(const NumbersView<T>& matrix, const Arrangement& arranged,
                                      Tiling tiling, const Device& device);

template <class X>
struct numbers_of {};
template <class T>
struct numbers_of<real<T, 1>> {
  static NumbersView<T> view(const CsrView<real<T, 1>>& m) { return {m.pattern(), m.values, 1}; }
};
template <class T>
struct numbers_of<complex<T>> {
  static NumbersView<T> view(const CsrView<complex<T>>& m) { return {m.pattern(), m.values, 2}; }
};

/// A product of sizes; throws if a column could not hold it.
inline Index scaled_size(Index size, int scale) {
  if (size > std::numeric_limits<Index>::max() / scale) {
    throw Error(ErrorKind::size_mismatch, "the expansion of " + std::to_string(size) +
                                              " rows or columns by " + std::to_string(scale) +
                                              " exceeds 2147483647; it does not fit one matrix");
  }
  return size * scale;
}

}  // namespace detail

/// The dense matrix, tile_rows<E> x tile_columns<E>, by which `e` acts.
template <class E>
std::array<std::array<double, tile_columns<E>>, tile_rows<E>> real_representation(const E& e) {
  const auto exact = detail::representation(e);
  std::array<std::array<double, tile_columns<E>>, tile_rows<E>> tile;
  for (int i = 0; i < tile_rows<E>; ++i) {
    for (int j = 0; j < tile_columns<E>; ++j) tile[i][j] = static_cast<double>(exact[i][j]);
  }
  return tile;
}

namespace detail {

/// The arrangement if the representation shows only components and their negatives; nothing if it
/// mixes them.
template <class E>
std::optional<Arrangement> arrangement_of_components() {
  if constexpr (is_its_components<E>) {
    try {
      return arrangement<E>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
    }
  }
  return std::nullopt;
}

/// Like `representation`, with components unchanged, including -0, which its products turn into 0.
template <class E>
auto arranged_components(const E& e, const Arrangement& arranged) {
  decltype(representation(e)) tile{};
  const arithmetic_t<E> a = load(e);
  for (int i = 0; i < tile_rows<E>; ++i) {
    for (int j = 0; j < tile_columns<E>; ++j) {
      const Position at = arranged.at[i * tile_columns<E> + j];
      if (at.sign > 0) tile[i][j] = a.component[at.component];
      if (at.sign < 0) tile[i][j] -= a.component[at.component];
    }
  }
  return tile;
}

/// Every entry as a tile of X: a real number, or a complex one at every other row and column.
template <class X, class E>
CsrMatrix<X> expand_into(const CsrView<E>& matrix) {
  constexpr int parts = X::components;
  constexpr int rows = tile_rows<E> / parts;
  constexpr int columns = tile_columns<E> / parts;
  using S = stored_scalar_t<X>;
  const Device& device = matrix.device;
  const std::optional<Arrangement> arranged = arrangement_of_components<E>();
  const auto scalars = static_cast<std::size_t>(matrix.entries()) * rows * columns;
  const int team = team_size(device.stream(), static_cast<Offset>(scalars) + matrix.rows);
  const Index scalar_rows = scaled_size(matrix.rows, rows);
  const Index scalar_columns = scaled_size(matrix.columns, columns);
  Array<Offset> offsets(static_cast<std::size_t>(scalar_rows) + 1, device);
  Array<Index> column(scalars, device);
  Array<S> values(scalars * parts, device);
  parallel_for(team, matrix.rows, [&](Index r) {
    const Offset begin = matrix.offsets[r];
    const Offset length = matrix.offsets[r + 1] - begin;
    const Offset first = begin * rows * columns;
    for (int i = 0; i < rows; ++i) {
      offsets[static_cast<std::size_t>(r) * rows + i + 1] = first + (i + 1) * length * columns;
    }
    for (Offset k = 0; k < length; ++k) {
      const E entry = entry_of(matrix, begin + k);
      const auto tile = arranged ? arranged_components(entry, *arranged) : representation(entry);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          const Offset to = first + (i * length + k) * columns + j;
          column[to] = matrix.column[begin + k] * columns + j;
          for (int p = 0; p < parts; ++p) {
            values[to * parts + p] = static_cast<S>(tile[i * parts + p][j * parts]);
          }
        }
      }
    }
  });
  return {scalar_rows, scalar_columns, std::move(offsets), std::move(column), std::move(values)};
}

}  // namespace detail

/// The real expansion: each entry becomes its tile_rows<E> x tile_columns<E> representation, zeros
/// kept, in the scalar that the entry computes in. Throws `Error` if it has too many rows for one
/// matrix.
template <class E>
CsrMatrix<real<vector_scalar_t<E>>> expand(const CsrView<E>& matrix) {
  return detail::expand_into<real<vector_scalar_t<E>>>(matrix);
}
template <class E>
CsrMatrix<real<vector_scalar_t<E>>> expand(const CsrMatrix<E>& matrix) {
  return expand(matrix.view());
}

/// The same in complex numbers, half as high and as wide, for entries over them.
template <class E>
  requires has_complex_representation<E>
CsrMatrix<complex<vector_scalar_t<E>>> expand_complex(const CsrView<E>& matrix) {
  return detail::expand_into<complex<vector_scalar_t<E>>>(matrix);
}
template <class E>
  requires has_complex_representation<E>
CsrMatrix<complex<vector_scalar_t<E>>> expand_complex(const CsrMatrix<E>& matrix) {
  return expand_complex(matrix.view());
}

/// A matrix of real or complex scalars.
template <class X>
concept ScalarEntry = requires(const CsrView<X>& m) { detail::numbers_of<X>::view(m); };

/// The matrix of compound entries that a matrix of real or complex scalars represents.
///
/// With tiles of R x C = tile_rows<E> x tile_columns<E> and K = E::components scalars per entry:
/// - `expansion`: R m x C n scalars make m x n entries. Positions that a tile lacks are zero; a
/// tile that has any position is an entry. A tile must be the representation of an entry to 1e-12
/// of its largest number; the error names the first that is not. Blocks are tiles of any numbers.
/// - `components`: K m x n scalars make m x n entries, each the column of its components.
/// - `automatic`: blocks and scalars are expansions. For other entries it takes whichever of the
/// two yields a square matrix (an expansion if both do), else whichever divides into tiles, trying
/// the expansion first. A tall matrix that columns of components would make square and that also
/// divides into tiles is an expansion if every tile is a representation; if all its numbers are
/// zero, either may be meant, and it is refused. The content of other tiles does not count: a
/// square matrix of real numbers is the expansion of a complex one, never a complex one without
/// imaginary parts.
/// A complex matrix makes entries over complex numbers only, with half of R, C and K; complex into
/// complex is entry by entry. Columns of the result are sorted. Throws `Error`.
template <class E, ScalarEntry X>
CsrMatrix<E> fold(const CsrView<X>& matrix, Tiling tiling = Tiling::automatic) {
  return CsrMatrix<E>(detail::fold_tiles<stored_scalar_t<E>>(
      detail::numbers_of<X>::view(matrix), detail::arrangement<E>(), tiling, matrix.device));
}
template <class E, ScalarEntry X>
CsrMatrix<E> fold(const CsrMatrix<X>& matrix, Tiling tiling = Tiling::automatic,
                  const Device& device = Device::cpu()) {
  CsrView<X> view = matrix.view();
  view.device = device;
  return fold<E>(view, tiling);
}

}  // namespace heddle
