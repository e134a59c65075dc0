// Conversions between Eigen's sparse matrices, quaternions and fixed-size matrices and Heddle's.
// Among the public headers only this one and eigen_solvers.hpp include Eigen.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/SparseCore>
#include <complex>
#include <concepts>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/expansion.hpp"
#include "heddle/field.hpp"
#include "heddle/std_complex.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

template <class S>
Eigen::Quaternion<S> to_eigen(const quaternion<S>& a) {
  return {a.w(), a.x(), a.y(), a.z()};
}
/// Read by name, not by `coeffs()`, whose order is x y z w.
template <class S, int Options>
quaternion<S> from_eigen(const Eigen::Quaternion<S, Options>& a) {
  return {{a.w(), a.x(), a.y(), a.z()}};
}

template <class S>
std::complex<S> to_eigen(const complex<S>& a) {
  return to_std(a);
}
template <class S>
complex<S> from_eigen(const std::complex<S>& a) {
  return from_std(a);
}

namespace detail {

template <class S>
struct eigen_scalar {
  using entry = real<S>;
  static void store(const S& value, S* to) { to[0] = value; }
  static S load(const S* from) { return from[0]; }
};
template <class S>
struct eigen_scalar<std::complex<S>> {
  using entry = complex<S>;
  static void store(const std::complex<S>& value, S* to) {
    to[0] = value.real();
    to[1] = value.imag();
  }
  static std::complex<S> load(const S* from) { return {from[0], from[1]}; }
};

}  // namespace detail

/// A block of real or complex numbers as a matrix, in Eigen's default order of storage.
template <class T, int R, int C>
auto to_eigen(const block<T, R, C>& a) {
  using S = typename block<T, R, C>::scalar;
  using Number = std::conditional_t<block<T, R, C>::is_complex, std::complex<S>, S>;
  Eigen::Matrix<Number, R, C> m;
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) {
      m(i, j) = detail::eigen_scalar<Number>::load(&a.component[a.at(i, j)]);
    }
  }
  return m;
}

/// A matrix of fixed size, in either order of storage, as a block.
template <class S, int R, int C, int Options>
auto from_eigen(const Eigen::Matrix<S, R, C, Options, R, C>& m) {
  static_assert(R > 0 && C > 0, "a block has a size known to the compiler");
  using Real = typename Eigen::NumTraits<S>::Real;
  block<std::conditional_t<Eigen::NumTraits<S>::IsComplex, complex<Real>, Real>, R, C> a;
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) {
      detail::eigen_scalar<S>::store(m(i, j), &a.component[a.at(i, j)]);
    }
  }
  return a;
}

namespace detail {

/// The entries as they are: a real or complex number each.
template <class T, class StorageIndex>
auto csr_from_eigen(const Eigen::SparseMatrix<T, Eigen::RowMajor, StorageIndex>& m,
                    const Device& device) {
  using X = typename eigen_scalar<T>::entry;
  const Index rows = checked_index(m.rows());
  const auto length = [&](Index r) -> Offset {
    return m.isCompressed() ? m.outerIndexPtr()[r + 1] - m.outerIndexPtr()[r]
                            : m.innerNonZeroPtr()[r];
  };
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, device);
  for (Index r = 0; r < rows; ++r) offsets[r + 1] = offsets[r] + length(r);
  const auto entries = static_cast<std::size_t>(offsets[rows]);
  const int team = team_size(device.stream(), offsets[rows] + rows);
  Array<Index> column(entries, device);
  Array<stored_scalar_t<X>> values(entries * X::components, device);
  parallel_for(team, rows, [&](Index r) {
    auto from = m.outerIndexPtr()[r];
    for (Offset to = offsets[r]; to < offsets[r + 1]; ++to, ++from) {
      column[to] = static_cast<Index>(m.innerIndexPtr()[from]);
      eigen_scalar<T>::store(m.valuePtr()[from], &values[to * X::components]);
    }
  });
  return CsrMatrix<X>(rows, checked_index(m.cols()), std::move(offsets), std::move(column),
                      std::move(values));
}

/// A matrix of real or complex numbers, row by row, with sorted columns, as Eigen requires.
template <class T, class StorageIndex, class X>
Eigen::SparseMatrix<T, Eigen::RowMajor, StorageIndex> csr_to_eigen(const CsrMatrix<X>& given) {
  const auto sorted = with_sorted_columns(numbers_of<X>::view(given.view()), Device::cpu());
  if (given.entries() > std::numeric_limits<StorageIndex>::max()) {
    throw Error(ErrorKind::size_mismatch,
                "an expansion of " + std::to_string(given.entries()) +
                    " numbers needs a wider StorageIndex: to_eigen<std::int64_t>(matrix)");
  }
  Eigen::SparseMatrix<T, Eigen::RowMajor, StorageIndex> m(given.rows(), given.columns());
  m.resizeNonZeros(given.entries());
  for (Index r = 0; r <= given.rows(); ++r) {
    m.outerIndexPtr()[r] = static_cast<StorageIndex>(sorted.offsets[r]);
  }
  for (Offset i = 0; i < given.entries(); ++i) {
    m.innerIndexPtr()[i] = static_cast<StorageIndex>(sorted.column[i]);
    m.valuePtr()[i] = eigen_scalar<T>::load(&sorted.values[i * X::components]);
  }
  return m;
}

}  // namespace detail

/// Folds a real or complex sparse matrix, row- or column-major, compressed or not, into entries E
/// as `fold` does: blocks by tiling it, quaternions from their expansion, and so on. Throws
/// `Error`.
template <class E, class T, int Options, class StorageIndex>
CsrMatrix<E> from_eigen(const Eigen::SparseMatrix<T, Options, StorageIndex>& m,
                        Tiling tiling = Tiling::automatic, const Device& device = Device::cpu()) {
  if constexpr ((Options & Eigen::RowMajorBit) != 0) {
    return fold<E>(detail::csr_from_eigen(m, device), tiling, device);
  } else {
    const Eigen::SparseMatrix<T, Eigen::RowMajor, StorageIndex> by_rows(m);
    return fold<E>(detail::csr_from_eigen(by_rows, device), tiling, device);
  }
}

/// The real expansion, zeros kept, as a row-major sparse matrix; assign it to a column-major one if
/// needed. Throws `Error` if it has more numbers than StorageIndex counts.
template <class StorageIndex = int, class E>
Eigen::SparseMatrix<vector_scalar_t<E>, Eigen::RowMajor, StorageIndex> to_eigen(
    const CsrMatrix<E>& matrix) {
  return detail::csr_to_eigen<vector_scalar_t<E>, StorageIndex>(expand(matrix));
}

/// The complex expansion, half as high and as wide.
template <class StorageIndex = int, class E>
  requires has_complex_representation<E>
Eigen::SparseMatrix<std::complex<vector_scalar_t<E>>, Eigen::RowMajor, StorageIndex>
to_eigen_complex(const CsrMatrix<E>& matrix) {
  return detail::csr_to_eigen<std::complex<vector_scalar_t<E>>, StorageIndex>(
      expand_complex(matrix));
}

namespace detail {
template <class A>
concept dense_of_eigen =
    requires(const A& array) { []<class Derived>(const Eigen::DenseBase<Derived>&) {}(array); };
}  // namespace detail

/// An Eigen dense array as a field. It is used in place if it lies in memory, including a Map, a
/// Ref or a block with strides. Expressions can only be read, and are evaluated once. A vector has
/// a row for each number; a matrix of real numbers has one for each of its rows, with its columns
/// as components.
template <class A>
  requires detail::dense_of_eigen<A>
struct detail::array_as_field<A> {
  using Number = typename A::Scalar;
  static constexpr bool is_complex = Eigen::NumTraits<Number>::IsComplex;
  static constexpr bool is_vector = A::IsVectorAtCompileTime != 0;
  static constexpr bool is_stored = (A::Flags & Eigen::DirectAccessBit) != 0;

  template <class S, class Array>
    requires std::same_as<std::remove_const_t<S>, typename Eigen::NumTraits<Number>::Real> &&
             (is_vector || !is_complex) &&
             (std::is_const_v<S> ||
              (is_stored &&
               !std::is_const_v<std::remove_pointer_t<decltype(std::declval<Array&>().data())>>))
  static FieldView<S> view(Array& array) {
    if constexpr (is_stored) {
      constexpr bool lies = A::RowsAtCompileTime == 1 && A::ColsAtCompileTime != 1;
      constexpr int width = is_complex ? 2 : 1;
      FieldView<S> field(reinterpret_cast<S*>(array.data()), lies ? array.cols() : array.rows(),
                         lies ? width : width * static_cast<int>(array.cols()));
      field.entry_stride = width * (lies ? array.colStride() : array.rowStride());
      field.component_stride = is_complex || field.components == 1 ? 1 : array.colStride();
      return field;
    } else {
      using Stored = typename A::PlainObject;
      const auto evaluated = std::make_shared<const Stored>(array);
      FieldView<S> field = array_as_field<Stored>::template view<S>(*evaluated);
      field.keep_alive = evaluated;
      return field;
    }
  }
};

/// The place of each number of an Eigen sparse matrix in the matrix that `assemble` made from it.
template <class E>
class EigenValueMap {
 public:
  using scalar = stored_scalar_t<E>;

  EigenValueMap() = default;
  /// Numbers are counted from 1; a scalar of the entries without one has 0. A number has `parts`
  /// scalars.
  EigenValueMap(std::size_t numbers, int parts, Array<Offset> number_of_scalar)
      : numbers_(numbers), parts_(parts), number_(std::move(number_of_scalar)) {}

  /// Stores the values of a compressed matrix in those of the entries; does not check that the
  /// pattern is the same. Allocates nothing. Throws `Error` if a size does not fit.
  template <class T, int Options, class StorageIndex>
  void apply(const Eigen::SparseMatrix<T, Options, StorageIndex>& m, std::span<scalar> csr_values,
             const Stream& stream = Device::cpu().stream()) const {
    if (!m.isCompressed()) {
      throw Error(ErrorKind::usage, "new values need a compressed matrix: call makeCompressed()");
    }
    if (static_cast<std::size_t>(m.nonZeros()) != numbers_ || csr_values.size() != number_.size() ||
        parts_ != detail::eigen_scalar<T>::entry::components) {
      throw Error(ErrorKind::size_mismatch,
                  "the value map takes " + std::to_string(numbers_) + " numbers to " +
                      std::to_string(number_.size()) + " scalars, but was given " +
                      std::to_string(m.nonZeros()) + " and " + std::to_string(csr_values.size()));
    }
    using Real = typename Eigen::NumTraits<T>::Real;
    const auto* values = reinterpret_cast<const Real*>(m.valuePtr());
    const auto count = static_cast<Offset>(number_.size());
    parallel_for(team_size(stream, count), count, [&](Offset i) {
      const Offset number = number_[i];
      csr_values[i] =
          number == 0 ? scalar(0) : static_cast<scalar>(values[(number - 1) * parts_ + i % parts_]);
    });
  }

 private:
  std::size_t numbers_ = 0;
  int parts_ = 1;
  Array<Offset> number_;
};

template <class E>
struct EigenAssembled {
  CsrMatrix<E> matrix;
  EigenValueMap<E> map;
};

/// Like `from_eigen`, with a map that stores new values of the same pattern: `map.apply(m,
/// matrix.values().span())`. Each scalar of an entry must be one of the matrix: real and complex
/// numbers and blocks of them, or any entry under `Tiling::components`. Others, whose scalars
/// appear in several places, throw `Error`, as does a matrix that is not compressed.
template <class E, class T, int Options, class StorageIndex>
EigenAssembled<E> assemble(const Eigen::SparseMatrix<T, Options, StorageIndex>& m,
                           Tiling tiling = Tiling::automatic,
                           const Device& device = Device::cpu()) {
  constexpr int parts = detail::eigen_scalar<T>::entry::components;
  // Folding the matrix of the numbers' own indices gives the place of each number.
  using Number = std::conditional_t<parts == 2, std::complex<double>, double>;
  using Numbered = typename arithmetic_t<E>::template with_scalar<double>;
  if (!m.isCompressed()) {
    throw Error(ErrorKind::usage, "assemble needs a compressed matrix: call makeCompressed()");
  }
  Eigen::SparseMatrix<Number, Options, StorageIndex> numbered = m.template cast<Number>();
  for (Eigen::Index i = 0; i < numbered.nonZeros(); ++i) {
    numbered.valuePtr()[i] = static_cast<double>(i + 1);
  }
  const auto folded = from_eigen<Numbered>(numbered, tiling, device);
  Array<Offset> number(folded.values().size(), device);
  for (std::size_t i = 0; i < number.size(); ++i) {
    number[i] = static_cast<Offset>(folded.values()[i - i % parts]);
  }
  EigenAssembled<E> made{
      {}, EigenValueMap<E>(static_cast<std::size_t>(m.nonZeros()), parts, std::move(number))};
  made.matrix = CsrMatrix<E>(folded.rows(), folded.columns(), Array<Offset>(folded.offsets()),
                             Array<Index>(folded.column()),
                             Array<stored_scalar_t<E>>(folded.values().size(), device));
  made.map.apply(m, made.matrix.values().span(), device.stream());
  return made;
}

}  // namespace heddle
