// Products and adjoints of assembled matrices, with patterns that are kept for new values. Sums are
// provided by trees (heddle/hierarchical_matrix.hpp).
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "heddle/csr.hpp"
#include "heddle/detail/computed_matrix.hpp"
#include "heddle/detail/matrix_product_rows.hpp"
#include "heddle/entries/block.hpp"
#include "heddle/entries/real.hpp"
#include "heddle/export.hpp"

namespace heddle {

namespace detail {

/// `type`: the type of a b for an A and a B; absent if the product is no entry.
template <class A, class B>
struct product_of {};
template <class E>
  requires std::same_as<vector_entry_t<E>, E>
struct product_of<E, E> {
  using type = E;
};
template <class S, int K>
struct product_of<real<S, K>, real<S, K>> {
  using type = real<S, K>;
};
template <class T, int R, int M, int C>
struct product_of<block<T, R, M>, block<T, M, C>> {
  using type = block<T, R, C>;
};

/// c += a b.
template <class E>
  requires std::same_as<vector_entry_t<E>, E>
HEDDLE_INLINE void add_product(E& c, const E& a, const E& b) {
  multiply_add(c, a, b);
}
template <class S, int K>
HEDDLE_INLINE void add_product(real<S, K>& c, const real<S, K>& a, const real<S, K>& b) {
  c.component[0] += a.component[0] * b.component[0];
}
template <class T, int R, int M, int C>
HEDDLE_INLINE void add_product(block<T, R, C>& c, const block<T, R, M>& a,
                               const block<T, M, C>& b) {
  add_product_of_tiles<block<T, R, C>::ring>(c.component, a.component, b.component, R, M, C);
}

template <class E>
E* entries_of(CsrMatrix<E>& matrix) {
  return reinterpret_cast<E*>(matrix.values().data());
}
template <class E>
const E* entries_of(const CsrMatrix<E>& matrix) {
  return reinterpret_cast<const E*>(matrix.values().data());
}

struct MatrixSize {
  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;

  bool operator==(const MatrixSize&) const = default;
};
template <class E>
MatrixSize size_of(const CsrMatrix<E>& matrix) {
  return {matrix.rows(), matrix.columns(), matrix.entries()};
}
/// Throws `Error` (size_mismatch) that names `what`, unless the values are from such a matrix.
HEDDLE_EXPORT void check_same_size(const MatrixSize& given, const MatrixSize& made,
                                   const char* what);

/// A zero matrix that takes the arrays of a pattern.
template <class E>
CsrMatrix<E> zero_matrix(Index rows, Index columns, Array<Offset> offsets, Array<Index> column) {
  Array<stored_scalar_t<E>> values(column.size() * E::components);
  return CsrMatrix<E>(rows, columns, std::move(offsets), std::move(column), std::move(values));
}

}  // namespace detail

/// The entry of A B: that of A if it acts on others of its kind, as complex numbers, quaternions,
/// dual quaternions and user-defined entries do, and for real numbers; a block of R x C for blocks
/// of R x M and M x C. Encoded entries have none.
template <class A, class B>
using product_entry_t = typename detail::product_of<A, B>::type;
/// The entry of A*: the same, or the transposed block.
template <class E>
using adjoint_entry_t = decltype(adjoint(std::declval<const E&>()));

/// C = A B. The pattern has an entry wherever terms meet, though they may cancel; columns grow. The
/// terms of an entry are added in the order of A's row, so that C has the same bits for any number
/// of threads. P* A P with a pattern that is kept:
///
///     MatrixAdjoint<P> restrict(p);
///     MatrixProduct<A, P> image(a, p);
///     MatrixProduct coarse(restrict.matrix(), image.matrix());
///     ...
///     image.update_values(a, p);  // other values of a
///     coarse.update_values(restrict.matrix(), image.matrix());
template <class A, class B>
class MatrixProduct {
 public:
  using entry = product_entry_t<A, B>;

  /// Keeps nothing of A and B. Throws `Error`: size_mismatch unless A has as many columns as B has
  /// rows; memory; unsupported for a GPU, see `ProductOnGpu`.
  explicit MatrixProduct(const CsrMatrix<A>& a, const CsrMatrix<B>& b,
                         const Device& host = Device::cpu())
      : host_(host),
        size_of_a_(detail::size_of(a)),
        size_of_b_(detail::size_of(b)),
        matrix_(on_pattern(a, b, host)) {
    multiply(a, b);
  }

  const CsrMatrix<entry>& matrix() const& { return matrix_; }
  CsrMatrix<entry> matrix() && { return std::move(matrix_); }

  /// Computes the product for other values on the same patterns, which are not compared. Allocates
  /// nothing. Throws `Error` (size_mismatch) for matrices of other sizes or numbers of entries.
  void update_values(const CsrMatrix<A>& a, const CsrMatrix<B>& b) {
    detail::check_same_size(detail::size_of(a), size_of_a_, "the left factor");
    detail::check_same_size(detail::size_of(b), size_of_b_, "the right factor");
    multiply(a, b);
  }

 private:
  static CsrMatrix<entry> on_pattern(const CsrMatrix<A>& a, const CsrMatrix<B>& b,
                                     const Device& host) {
    detail::refuse_gpu(host, "MatrixProduct");
    Array<Offset> offsets;
    Array<Index> column;
    detail::product_pattern(a.view().pattern(), b.view().pattern(), host.stream(), offsets, column);
    return detail::zero_matrix<entry>(a.rows(), b.columns(), std::move(offsets), std::move(column));
  }

  void multiply(const CsrMatrix<A>& a, const CsrMatrix<B>& b) {
    const A* const of_a = detail::entries_of(a);
    const B* const of_b = detail::entries_of(b);
    entry* const of_c = detail::entries_of(matrix_);
    detail::multiply_rows(
        a.view().pattern(), b.view().pattern(), matrix_.view().pattern(),
        matrix_.entries() * entry::components * 8LL, host_.stream(), places_,
        [&](Offset first, Offset end) { std::fill(of_c + first, of_c + end, entry::zero()); },
        [&](Offset k, Offset i, Offset j) { detail::add_product(of_c[k], of_a[i], of_b[j]); });
  }

  Device host_;
  detail::MatrixSize size_of_a_, size_of_b_;
  CsrMatrix<entry> matrix_;
  detail::ColumnPlaces places_;
};

/// A*: rows and columns exchanged, with the adjoint of each entry; columns grow. For entries that
/// have an adjoint, and for blocks that are not square.
template <class E>
class MatrixAdjoint {
 public:
  using entry = adjoint_entry_t<E>;

  /// Keeps nothing of A. Throws `Error`: memory; unsupported for a GPU, see `AdjointOnGpu`.
  explicit MatrixAdjoint(const CsrMatrix<E>& a, const Device& host = Device::cpu())
      : host_(host), size_of_a_(detail::size_of(a)), matrix_(on_pattern(a, host, place_)) {
    turn(a);
  }

  const CsrMatrix<entry>& matrix() const& { return matrix_; }
  CsrMatrix<entry> matrix() && { return std::move(matrix_); }

  /// Computes A* for other values on the same pattern, which is not compared. Allocates nothing.
  /// Throws `Error` (size_mismatch) for a matrix of another size or number of entries.
  void update_values(const CsrMatrix<E>& a) {
    detail::check_same_size(detail::size_of(a), size_of_a_, "the matrix");
    turn(a);
  }

 private:
  static CsrMatrix<entry> on_pattern(const CsrMatrix<E>& a, const Device& host,
                                     Array<Offset>& place) {
    detail::refuse_gpu(host, "MatrixAdjoint");
    Array<Offset> offsets;
    Array<Index> column;
    detail::adjoint_pattern(a.view().pattern(), offsets, column, place);
    return detail::zero_matrix<entry>(a.columns(), a.rows(), std::move(offsets), std::move(column));
  }

  void turn(const CsrMatrix<E>& a) {
    const E* const from = detail::entries_of(a);
    entry* const to = detail::entries_of(matrix_);
    const Stream host = host_.stream();
    parallel_for(team_size(host, a.entries() * E::components), a.entries(),
                 [&](Offset i) { to[place_[static_cast<std::size_t>(i)]] = adjoint(from[i]); });
  }

  Device host_;
  detail::MatrixSize size_of_a_;
  Array<Offset> place_;  // place of each entry of A
  CsrMatrix<entry> matrix_;
};

namespace detail {

/// The result of `ProductOnGpu` and `AdjointOnGpu`.
template <class E>
class MatrixOnGpu {
 public:
  using entry = E;

  /// A view of GPU memory, ready in the order of the device's stream. The arrays belong to this
  /// object and its copies.
  CsrView<E> view() const {
    const auto& matrix = *computed_;
    CsrView<E> view{matrix.rows, matrix.columns, matrix.offsets.data(), matrix.column.data(),
                    values().data()};
    view.device = matrix.device;
    return view;
  }
  /// `entry::components` scalars per entry, in the GPU's memory.
  std::span<const stored_scalar_t<E>> values() const {
    return {reinterpret_cast<const stored_scalar_t<E>*>(computed_->values.data()),
            computed_->column.size() * E::components};
  }
  /// A copy in the host's memory.
  CsrMatrix<E> to_host() const {
    const auto& matrix = *computed_;
    const Stream& stream = matrix.device.stream();
    Array<Offset> offsets(matrix.offsets.size());
    Array<Index> column(matrix.column.size());
    Array<stored_scalar_t<E>> numbers(values().size());
    copy_bytes(offsets.data(), matrix.offsets.data(), offsets.size() * sizeof(Offset), stream);
    copy_bytes(column.data(), matrix.column.data(), column.size() * sizeof(Index), stream);
    copy_bytes(numbers.data(), values().data(), matrix.values.size(), stream);
    return CsrMatrix<E>(matrix.rows, matrix.columns, std::move(offsets), std::move(column),
                        std::move(numbers));
  }

 protected:
  explicit MatrixOnGpu(std::shared_ptr<ComputedMatrix> computed) : computed_(std::move(computed)) {}

  std::shared_ptr<ComputedMatrix> computed_;
};

/// Scalars of a view's values; throws `Error` (unsupported) for blocks by columns.
template <class E>
const stored_scalar_t<E>* values_by_rows(const CsrView<E>& view) {
  refuse_columns(view.order);
  return view.values;
}

}  // namespace detail

/// C = A B in the memory of a GPU, which finds the pattern and the values: the pattern of
/// `MatrixProduct`, and its values up to rounding, since sums are in doubles. A and B lie on the
/// host or on the GPU. P* A P without a copy to the host:
///
///     AdjointOnGpu<P> restrict(p, gpu);
///     ProductOnGpu<A, P> image(a, p, gpu);
///     ProductOnGpu coarse(restrict.view(), image.view(), gpu);
///     Operator<E> level(coarse.view(), plan);
template <multiplied_on_gpu A, multiplied_on_gpu B>
class ProductOnGpu : public detail::MatrixOnGpu<product_entry_t<A, B>> {
 public:
  /// Keeps copies of the patterns of A and B. Throws `Error`: size_mismatch unless A has as many
  /// columns as B has rows; unsupported for blocks by columns; memory; and like `check_pattern`.
  ProductOnGpu(const CsrView<A>& a, const CsrView<B>& b, const Device& gpu)
      : detail::MatrixOnGpu<product_entry_t<A, B>>(detail::product_on_gpu(
            a.pattern(), detail::tile_of_entry<A>, b.pattern(), detail::tile_of_entry<B>, gpu)) {
    this->computed_->compute(detail::values_by_rows(a), detail::values_by_rows(b));
  }

  /// Computes the product for other values on the same patterns, in arrays of the same length as
  /// before, on the host or on the GPU. Queues work, and allocates nothing.
  void update_values(const stored_scalar_t<A>* a, const stored_scalar_t<B>* b) {
    this->computed_->compute(a, b);
  }
};
template <class A, class B>
ProductOnGpu(const CsrMatrix<A>&, const CsrMatrix<B>&, const Device&) -> ProductOnGpu<A, B>;

/// A* in the memory of a GPU, bit for bit that of `MatrixAdjoint`.
template <multiplied_on_gpu E>
class AdjointOnGpu : public detail::MatrixOnGpu<adjoint_entry_t<E>> {
 public:
  /// Keeps nothing of A. Throws `Error`: unsupported for blocks by columns, and for 2^31 entries
  /// and more; memory; and like `check_pattern`.
  AdjointOnGpu(const CsrView<E>& a, const Device& gpu)
      : detail::MatrixOnGpu<adjoint_entry_t<E>>(
            detail::adjoint_on_gpu(a.pattern(), detail::tile_of_entry<E>, gpu)) {
    this->computed_->compute(detail::values_by_rows(a), nullptr);
  }

  /// Like `ProductOnGpu::update_values`.
  void update_values(const stored_scalar_t<E>* a) { this->computed_->compute(a, nullptr); }
};
template <class E>
AdjointOnGpu(const CsrMatrix<E>&, const Device&) -> AdjointOnGpu<E>;

/// A B, as `MatrixProduct` makes it, or `ProductOnGpu` if the device is a GPU. Throws `Error`
/// (unsupported) for entries that a GPU does not multiply.
template <class A, class B>
CsrMatrix<product_entry_t<A, B>> multiply(const CsrMatrix<A>& a, const CsrMatrix<B>& b,
                                          const Device& device = Device::cpu()) {
  if constexpr (multiplied_on_gpu<A> && multiplied_on_gpu<B>) {
    if (device.on_gpu()) return ProductOnGpu<A, B>(a, b, device).to_host();
  }
  return MatrixProduct<A, B>(a, b, device).matrix();
}

/// A*, as `MatrixAdjoint` makes it, or `AdjointOnGpu`.
template <class E>
CsrMatrix<adjoint_entry_t<E>> adjoint(const CsrMatrix<E>& a, const Device& device = Device::cpu()) {
  if constexpr (multiplied_on_gpu<E>) {
    if (device.on_gpu()) return AdjointOnGpu<E>(a, device).to_host();
  }
  return MatrixAdjoint<E>(a, device).matrix();
}

}  // namespace heddle
