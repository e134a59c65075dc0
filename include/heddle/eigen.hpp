// Eigen's sparse matrices, quaternions and fixed-size matrices to and from Heddle's: the only
// header that includes Eigen, for those who include it themselves.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/SparseCore>
#include <complex>
#include <limits>
#include <string>
#include <utility>

#include "heddle/expansion.hpp"
#include "heddle/std_complex.hpp"
#include "heddle/team.hpp"

namespace heddle {

template <class S>
Eigen::Quaternion<S> to_eigen(const quaternion<S>& a) {
  return {a.w(), a.x(), a.y(), a.z()};
}
/// By name, not by `coeffs()`, whose order is x y z w.
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

/// A block of real or complex numbers as a matrix, in Eigen's default order of storage.
template <class T, int R, int C>
auto to_eigen(const block<T, R, C>& a) {
  if constexpr (block<T, R, C>::is_complex) {
    Eigen::Matrix<std::complex<typename T::scalar>, R, C> m;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) m(i, j) = to_std(a.get(i, j));
    }
    return m;
  } else {
    Eigen::Matrix<T, R, C> m;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) m(i, j) = a.get(i, j);
    }
    return m;
  }
}

/// A matrix of fixed size, in either order of storage, as a block.
template <class S, int R, int C, int Options>
auto from_eigen(const Eigen::Matrix<S, R, C, Options, R, C>& m) {
  static_assert(R > 0 && C > 0, "a block has a size known to the compiler");
  if constexpr (Eigen::NumTraits<S>::IsComplex) {
    block<complex<typename Eigen::NumTraits<S>::Real>, R, C> a;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) a.set(i, j, from_std(m(i, j)));
    }
    return a;
  } else {
    block<S, R, C> a;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) a.set(i, j, m(i, j));
    }
    return a;
  }
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

inline Index checked_index(long long size) {
  if (size > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::size_mismatch, std::to_string(size) +
                                              " rows or columns do not fit one matrix, which "
                                              "takes 2147483647");
  }
  return static_cast<Index>(size);
}

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

/// A matrix of real or complex numbers, row by row, with sorted columns, as Eigen wants them.
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

/// The real expansion, zeros kept, as a row-major sparse matrix; assign it to a column-major one
/// where that is wanted. Throws `Error` if it has more numbers than StorageIndex counts.
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

}  // namespace heddle
