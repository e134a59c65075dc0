#include "heddle/runtime/defined_jacobi.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "heddle/config.hpp"
#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/product_on_gpu.hpp"
#include "spmv/entry_batch.hpp"

namespace heddle {

namespace {

template <class S>
double magnitude(const S* component, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum = std::hypot(sum, static_cast<double>(component[k]));
  return sum;
}

}  // namespace

template <class S>
bool is_singular(const EntryDefinition& definition, const S* entry, const S* inverse) {
  const int K = definition.size();
  const double condition = magnitude(entry, K) * magnitude(inverse, K);
  return !(condition * static_cast<double>(std::numeric_limits<S>::epsilon()) < 1);
}

template <class S>
DefinedJacobi<S>::DefinedJacobi(const DefinedOperator<S>& matrix) : matrix_(matrix) {
  const EntryDefinition& definition = matrix.definition();
  if (!definition.has_inverse()) {
    throw Error(ErrorKind::unsupported, "Jacobi: entry " + definition.name +
                                            " defines no inverse; add one to its definition, or "
                                            "take the preconditioner none");
  }
  if (matrix.rows() != matrix.columns()) {
    throw Error(ErrorKind::size_mismatch, "Jacobi needs a square matrix, this one is " +
                                              std::to_string(matrix.rows()) + " x " +
                                              std::to_string(matrix.columns()));
  }
  const Index first_singular = invert_entries();
  if (first_singular < matrix.rows()) {
    throw Error(ErrorKind::singular, "Jacobi: the diagonal entry of row " +
                                         std::to_string(first_singular) +
                                         " (counted from 0) is missing or singular");
  }
}

template <class S>
Index DefinedJacobi<S>::invert_entries() {
  const EntryDefinition& definition = matrix_.definition();
  if constexpr (has_cuda) {
    if (const cuda::Product* product = matrix_.product_on_gpu()) {
      on_gpu_ = std::make_shared<cuda::Diagonal>(*product, definition.size(),
                                                 static_cast<int>(sizeof(S)), matrix_.device());
      return on_gpu_->invert(matrix_.device().stream());
    }
  }
  inverses_ = Array<S>(
      static_cast<std::size_t>(matrix_.rows()) * static_cast<std::size_t>(definition.size()),
      matrix_.device());
  std::atomic<Index> first_singular = matrix_.rows();
  const int team = team_size(matrix_.device().stream(), matrix_.rows());
  parallel_shares(team, matrix_.rows(), 0, [&](auto&& for_each) {
    std::vector<S> registers;
    for_each([&](Index row) {
      const S* const entry = matrix_.diagonal(row);
      S* const inverse = inverses_.data() + Offset(row) * definition.size();
      if (entry != nullptr) invert(definition, entry, inverse, registers);
      if (entry == nullptr || is_singular(definition, entry, inverse)) {
        lower(first_singular, row);
      }
    });
  });
  return first_singular;
}

template <class S>
void DefinedJacobi<S>::queue_refresh([[maybe_unused]] Index* singular_row,
                                     [[maybe_unused]] const Stream& stream) {
  if constexpr (has_cuda) on_gpu_->queue_inversion(singular_row, stream);
}

template <class S>
std::optional<FieldShape> DefinedJacobi<S>::shape() const {
  return FieldShape{matrix_.rows(), matrix_.row_components(), matrix_.row_basis(),
                    on_gpu_ ? std::optional(matrix_.vector_layout()) : std::nullopt,
                    matrix_.device().stream().gpu};
}

template <class S>
void DefinedJacobi<S>::check_fit(const FieldView<const S>& r, const FieldView<S>& z) const {
  detail::check_operand(r, matrix_.rows(), matrix_.row_components(), *matrix_.row_basis(),
                        "Jacobi");
  check_same_shape(r, z, "Jacobi");
}

template <class S>
void DefinedJacobi<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                             const Stream& stream) const {
  check_fit(r, z);
  if constexpr (has_cuda) {
    if (on_gpu_) return on_gpu_->apply(r.data, z.data, stream, nullptr, false);
  }
  using Batch = detail::EntryBatch<S>;
  const EntryDefinition& definition = matrix_.definition();
  const int K = definition.size(), V = definition.vector_size();
  detail::for_each_product_group(groups_of(r.size), r.scalars(), {}, stream, [&](Index group) {
    const Offset end = std::min<Offset>(r.size, Offset(group + 1) * rows_of_group);
    Batch batch{};
    for (Offset first = Offset(group) * rows_of_group; first < end; first += Batch::width) {
      const int filled = static_cast<int>(std::min<Offset>(Batch::width, end - first));
      for (int w = 0; w < filled; ++w) {
        batch.set_entry(w, inverses_.data() + (first + w) * K, K);
        batch.set_vector(w, r.data + (first + w) * r.entry_stride, r.component_stride, V);
      }
      batch.multiply(definition);
      for (int w = 0; w < filled; ++w) {
        S* const to = z.data + (first + w) * z.entry_stride;
        for (int i = 0; i < V; ++i) to[i * z.component_stride] = batch.y[i][w];
      }
    }
  });
}

template bool is_singular(const EntryDefinition&, const float*, const float*);
template bool is_singular(const EntryDefinition&, const double*, const double*);
template class DefinedJacobi<float>;
template class DefinedJacobi<double>;

}  // namespace heddle
