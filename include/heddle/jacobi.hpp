// The Jacobi preconditioner: the inverse of each diagonal entry, from the left.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "heddle/detail/diagonal_cuda.hpp"
#include "heddle/export.hpp"
#include "heddle/operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

namespace detail {

template <class A>
double magnitude(const A& a) {
  double sum = 0;
  for (int k = 0; k < A::components; ++k) {
    sum = std::hypot(sum, static_cast<double>(a.component[k]));
  }
  return sum;
}

/// True unless `inverse` is that of `a` to some digit: |a| |a^-1| epsilon >= 1 leaves none.
template <class A>
bool is_singular(const A& a, const A& inverse) {
  using S = typename A::stored_scalar;
  const double condition = magnitude(a) * magnitude(inverse);
  return !(condition * static_cast<double>(std::numeric_limits<S>::epsilon()) < 1);
}

}  // namespace detail

template <class E>
class HEDDLE_EXPORT Jacobi final : public Preconditioner<vector_scalar_t<E>> {
  static_assert(has_inverse<E>, "Jacobi: 'inverse(a)' of the entry is missing");

 public:
  using scalar = vector_scalar_t<E>;

  /// Keeps a handle of the operator; throws `Error` (singular) that names the first row, counted
  /// from 0 in the user's order, whose diagonal entry is missing or has no inverse.
  explicit Jacobi(const Operator<E>& matrix) : matrix_(matrix) {
    if (matrix.rows() != matrix.columns()) {
      throw Error(ErrorKind::size_mismatch, "Jacobi needs a square matrix, this one is " +
                                                std::to_string(matrix.rows()) + " x " +
                                                std::to_string(matrix.columns()));
    }
    if constexpr (detail::runs_on_gpu<E>) {
      if (const cuda::Product* product = matrix.product_on_gpu()) {
        on_gpu_ = std::make_shared<cuda::Diagonal>(
            *product, A::components, static_cast<int>(sizeof(stored_scalar_t<A>)), matrix.device());
      }
    }
    if (!on_gpu_) inverses_ = Array<A>(static_cast<std::size_t>(matrix.rows()), matrix.device());
    invert();
  }

  std::optional<FieldShape> shape() const override {
    return FieldShape{matrix_.rows(), V::components, matrix_.row_basis(),
                      on_gpu_ ? std::optional(matrix_.vector_layout()) : std::nullopt,
                      matrix_.device().stream().gpu};
  }

  void refresh() override {
    if (generation_ != matrix_.generation()) invert();
  }

  long long bytes_of_application() const override {
    return static_cast<long long>(matrix_.rows()) * static_cast<long long>(sizeof(A));
  }
  bool is_capturable() const override { return on_gpu_ != nullptr; }
  bool refreshes_in_graph() const override { return on_gpu_ != nullptr; }
  void queue_refresh([[maybe_unused]] Index* singular_row,
                     [[maybe_unused]] const Stream& stream) override {
    if constexpr (detail::runs_on_gpu<E>) on_gpu_->queue_inversion(singular_row, stream);
  }
  const cuda::RowPreconditioner* rows_on_gpu() const override { return on_gpu_.get(); }

  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const scalar>& r, const FieldView<scalar>& z,
             const Stream& stream) const override {
    check_fit(r, z);
    if constexpr (detail::runs_on_gpu<E>) {
      if (on_gpu_) return on_gpu_->apply(r.data, z.data, stream, nullptr, false);
    }
    detail::for_each_product_group(groups_of(r.size), r.scalars(), {}, stream, [&](Index group) {
      const Index first = group * rows_of_group;
      apply_rows(r, z, first,
                 static_cast<Index>(std::min<Offset>(r.size, Offset(first) + rows_of_group)));
    });
  }

  bool acts_by_rows() const override { return !on_gpu_; }
  void apply_rows(const FieldView<const scalar>& r, const FieldView<scalar>& z, Index begin,
                  Index end) const override {
    const Offset bytes_ahead = detail::prefetch_distance(r);
    const auto apply_to = [&](const auto& rows) {
      for (Index row = begin; row < end; ++row) {
        const A& inverse = inverses_[static_cast<std::size_t>(row)];
        __builtin_prefetch(reinterpret_cast<const char*>(&inverse) + bytes_ahead);
        write(z, row, times(inverse, rows(row)));
      }
    };
    if (r.is_aos()) {
      apply_to(PackedVector<V, scalar>{r.data});
    } else {
      apply_to(StridedVector<V, scalar>{r.data, r.entry_stride, r.component_stride});
    }
  }

 private:
  using A = arithmetic_t<E>;
  using V = vector_entry_t<E>;

  void check_fit(const FieldView<const scalar>& r, const FieldView<scalar>& z) const {
    detail::check_operand(r, matrix_.rows(), V::components, *matrix_.row_basis(), "Jacobi");
    check_same_shape(r, z, "Jacobi");
  }

  static HEDDLE_INLINE V times(const A& a, const V& v) {
    V product = zero_vector<V>();
    multiply_add(product, a, v);
    return product;
  }
  static HEDDLE_INLINE void write(const FieldView<scalar>& field, Index row, const V& value) {
    scalar* at = field.data + row * field.entry_stride;
    for (int k = 0; k < V::components; ++k) at[k * field.component_stride] = value.component[k];
  }

  /// In place; the user's first row whose entry has no inverse, or the number of rows.
  Index invert_entries() {
    if constexpr (detail::runs_on_gpu<E>) {
      if (on_gpu_) return on_gpu_->invert(matrix_.device().stream());
    }
    matrix_.diagonal(inverses_.data());
    const auto invert_row = [&](Index row, Index& first_singular) {
      A& entry = inverses_[static_cast<std::size_t>(row)];
      const A inverted = inverse(entry);
      if (detail::is_singular(entry, inverted)) {
        first_singular = std::min(first_singular, matrix_.row_basis()->user_row(row));
      }
      entry = inverted;
    };
    return parallel_least(team_size(matrix_.device().stream(), matrix_.rows()), matrix_.rows(),
                          matrix_.rows(), invert_row);
  }

  void invert() {
    const Index first_singular = invert_entries();
    if (first_singular < matrix_.rows()) {
      throw Error(ErrorKind::singular, "Jacobi: the diagonal entry of row " +
                                           std::to_string(first_singular) +
                                           " (counted from 0) is missing or singular");
    }
    generation_ = matrix_.generation();
  }

  Operator<E> matrix_;
  Array<A> inverses_;
  std::shared_ptr<cuda::Diagonal> on_gpu_;  // shared, as its destructor is built with CUDA only
  long long generation_ = -1;
};

#define HEDDLE_EXTERN_JACOBI(...) extern template class Jacobi<__VA_ARGS__>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_JACOBI, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_JACOBI, double)
#undef HEDDLE_EXTERN_JACOBI

}  // namespace heddle
