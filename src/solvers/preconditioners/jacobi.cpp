#include "heddle/jacobi.hpp"

#include <algorithm>
#include <string>

#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/runtime/entry_definition.hpp"

namespace heddle::detail {

void check_jacobi_sizes(Index rows, Index columns) {
  if (rows == columns) return;
  throw Error(ErrorKind::size_mismatch, "Jacobi needs a square matrix, this one is " +
                                            std::to_string(rows) + " x " + std::to_string(columns));
}

void refuse_diagonal(Index row, bool has_unit) {
  throw Error(ErrorKind::singular, "Jacobi: the diagonal entry of row " + std::to_string(row) +
                                       " (counted from 0) is " +
                                       (has_unit ? "not finite" : "missing or singular"));
}

template <class S>
SlicedJacobi<S>::SlicedJacobi(const SlicedOperator<S>& matrix, Refresh refresh)
    : matrix_(matrix), refresh_(refresh), unit_(unit_entry(matrix.entry())) {
  const EntryTable<S>& entry = matrix.entry();
  if (entry.invert_diagonal == nullptr) {
    throw Error(ErrorKind::unsupported,
                "Jacobi: " + (entry.definition ? "entry " + entry.definition->name : "the entry") +
                    " defines no inverse; add one to its definition, or use the preconditioner "
                    "none");
  }
  check_jacobi_sizes(matrix.rows(), matrix.columns());
  if constexpr (has_cuda) {
    if (const cuda::Product* product = matrix.product_on_gpu()) {
      on_gpu_ =
          std::make_shared<cuda::Diagonal>(*product, entry.arithmetic.components,
                                           entry.arithmetic.scalar_bytes, unit_, matrix.device());
    }
  }
  if (!on_gpu_) {
    inverses_ =
        Array<char>(static_cast<std::size_t>(matrix.rows() * bytes_of_inverse()), matrix.device());
  }
  invert();
}

template <class S>
void SlicedJacobi<S>::invert() {
  const auto invert_entries = [&] {
    if constexpr (has_cuda) {
      if (on_gpu_) return on_gpu_->invert(matrix_.device().stream());
    }
    return matrix_.entry().invert_diagonal(matrix_, unit_.empty() ? nullptr : unit_.data(),
                                           inverses_.data());
  };
  const Index first_singular = invert_entries();
  if (first_singular < matrix_.rows()) refuse_diagonal(first_singular, !unit_.empty());
  generation_ = matrix_.generation();
}

template <class S>
void SlicedJacobi<S>::queue_refresh([[maybe_unused]] Index* singular_row,
                                    [[maybe_unused]] const Stream& stream) {
  if constexpr (has_cuda) on_gpu_->queue_inversion(singular_row, stream);
}

template <class S>
std::optional<FieldShape> SlicedJacobi<S>::shape() const {
  return FieldShape{matrix_.rows(), matrix_.row_components(), matrix_.row_basis(),
                    on_gpu_ ? std::optional(matrix_.vector_layout()) : std::nullopt,
                    matrix_.device().stream().gpu};
}

template <class S>
void SlicedJacobi<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                            const Stream& stream) const {
  check_operand(r, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(), "Jacobi");
  check_same_shape(r, z, "Jacobi");
  if constexpr (has_cuda) {
    if (on_gpu_) return on_gpu_->apply(r.data, z.data, stream, nullptr, false);
  }
  for_each_product_group(groups_of(r.size), r.scalars(), {}, stream, [&](Index group) {
    const Index first = group * rows_of_group;
    apply_rows(r, z, first,
               static_cast<Index>(std::min<Offset>(r.size, Offset(first) + rows_of_group)));
  });
}

template class SlicedJacobi<float>;
template class SlicedJacobi<double>;
HEDDLE_IN_LONG_DOUBLE(template class SlicedJacobi<long double>;)

}  // namespace heddle::detail
