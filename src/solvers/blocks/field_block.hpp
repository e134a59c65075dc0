// Operations on many fields at once: Gram matrices and linear combinations over a ring. On a CPU a
// tile of rows stays in cache while all fields pass by it, so that each operation is one walk. On a
// GPU each is one launch. Sums over groups of 256 rows are joined in the tree of `Reduction` on a
// CPU and wherever ranks share the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/vector_operations.hpp"
#include "ring_matrix.hpp"

namespace heddle::detail {

template <class S>
using FieldBlock = std::vector<FieldView<S>>;

/// The fields of `a` followed by those of `b`.
template <class S>
FieldBlock<S> joined(FieldBlock<S> a, std::span<const FieldView<S>> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The first fields of a block.
template <class S>
FieldBlock<S> first(const FieldBlock<S>& block, int count) {
  return {block.begin(), block.begin() + count};
}

/// Owns zero fields in an operator's basis and layout.
template <class S>
class FieldStore {
 public:
  FieldBlock<S> make(const LinearOperator<S>& matrix, int count) {
    FieldBlock<S> fields;
    const auto scalars =
        static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.row_components());
    for (int k = 0; k < count; ++k) {
      storage_.emplace_back(scalars, matrix.device());
      fields.push_back({storage_.back().data(), matrix.rows(), matrix.row_components(),
                        matrix.vector_layout(), matrix.row_basis()});
    }
    return fields;
  }

 private:
  std::vector<Array<S>> storage_;
};

/// The images of the first `count` fields, one product each.
template <class S>
void multiply_block(const LinearOperator<S>& by, const FieldBlock<S>& from, const FieldBlock<S>& to,
                    int count, Reduction<S>& reduction, const Stream& stream) {
  const std::vector<FieldView<const S>> x(from.begin(), from.begin() + count);
  constexpr int most = Reduction<S>::width;
  for (int first = 0; first < count; first += most) {
    const auto place = static_cast<std::size_t>(first);
    const auto taken = static_cast<std::size_t>(std::min(most, count - first));
    by.apply_all(std::span(x).subspan(place, taken), std::span(to).subspan(place, taken), {},
                 reduction, stream);
  }
}

/// All fields of a call have the same shape: those of one operator.
template <Ring R, class S>
class BlockOperations {
 public:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;
  static constexpr int size = ring_size(R);

  /// For blocks of up to `fields` fields.
  BlockOperations(Reduction<S>& reduction, const Stream& stream, int fields);

  /// Bytes for blocks of up to `fields` fields that have `rows` rows.
  static long long bytes(int fields, Index rows, const Stream& stream);

  /// U* V. `hermitian`: U* V is known to be Hermitian.
  Matrix gram(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian = false) {
    Matrix result(static_cast<int>(u.size()), static_cast<int>(v.size()));
    gram(u, v, hermitian, result);
    return result;
  }
  /// The same, into a matrix of that size. The second and later calls allocate nothing.
  void gram(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian, Matrix& result);

  /// Norms over all components.
  std::vector<T> norms(std::span<const FieldView<S>> fields);

  /// Sets the first columns of `block` to `block` C; the old ones are then in `spare`.
  void transform(FieldBlock<S>& block, const Matrix& c, FieldBlock<S>& spare) {
    combine(first(block, c.rows()), c, first(spare, c.columns()));
    for (int k = 0; k < c.columns(); ++k) {
      std::swap(block[static_cast<std::size_t>(k)], spare[static_cast<std::size_t>(k)]);
    }
  }

  /// `to` = `from` C, or `to` += `from` C if `adds`; the two share no field. The second and later
  /// calls allocate nothing.
  void combine(const FieldBlock<S>& from, const Matrix& c, const FieldBlock<S>& to,
               bool adds = false);

 private:
  double* partials() { return on_gpu_.data() + fetched_.size(); }
  void fetch(std::size_t count);
  void join(std::size_t count);
  void fetch_products(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian,
                      Matrix& result);
  template <class P, class Act>
  void for_each_part(const FieldView<S>& field, std::size_t scalars, std::vector<P>& memory,
                     const Act& act);
  void sum_products(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian, Matrix& result);
  void sum_products_of_rank(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian,
                            Matrix& result, RowShare& share);
  void sum_group(const FieldBlock<S>& u, const FieldBlock<S>& v, bool hermitian, Offset group,
                 T* panels, T* sums);

  Reduction<S>& reduction_;
  Stream stream_;
  std::vector<T> partials_, panels_;  // panels of each thread
  std::vector<T> joined_;             // over all ranks
  std::vector<S> packed_, numbers_;
  Array<double> on_gpu_;  // numbers of a Gram matrix, and their partial sums
  Array<S> coefficients_;
  std::vector<double> fetched_;
};

}  // namespace heddle::detail
