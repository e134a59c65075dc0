#include "heddle/runtime/defined_operator.hpp"

#include <algorithm>

#include "defined_entry_text.hpp"
#include "entry_batch.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/place_values.hpp"
#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/product_on_gpu.hpp"
#include "heddle/detail/reschedule.hpp"

namespace heddle {

namespace {

/// Names the first key of the plan that would move rows or components.
void check_layout(const Plan& plan) {
  check_plan(plan);
  const Plan csr;
  const char* const key = plan.lanes != csr.lanes                       ? "C"
                          : plan.sort_window != csr.sort_window         ? "sigma"
                          : plan.threads_per_row != csr.threads_per_row ? "T"
                          : plan.threshold != csr.threshold             ? "threshold"
                          : plan.order != csr.order                     ? "order"
                          : plan.inner != csr.inner                     ? "inner"
                          : plan.vector != csr.vector                   ? "vector"
                                                                        : nullptr;
  if (key == nullptr) return;
  throw Error(ErrorKind::bad_plan,
              std::string("plan: on the CPU, entries from a definition are stored as CSR in the "
                          "user's order, all components together; leave out ") +
                  key + " (keys that do not move entries, such as schedule and prefetch-x, work)");
}

/// What a row product reads.
template <class S>
struct Rows {
  const EntryDefinition* definition;
  const Offset* offsets;
  const Index* column;
  const S* values;
  Index prefetch_x;
  Offset prefetch_matrix;  // in scalars
};

/// Rows [begin, end), computed in T: entries of consecutive rows fill batches together, and each
/// row adds up its own in order, so that no row depends on where a batch began.
template <class T, class S, class Finish>
HEDDLE_INLINE Finish product_rows(const Rows<S>& A, const FieldView<const S>& x, Index begin,
                                  Index end, Finish finish) {
  using Batch = detail::EntryBatch<T>;
  const int K = A.definition->size(), V = A.definition->vector_size();
  Batch batch{};
  detail::DefinedSum<T> sum{V, {}};
  Index row = begin;
  const auto finish_row = [&] {
    finish(row, sum);
    std::fill(sum.component, sum.component + V, T(0));
  };
  const Offset last = A.offsets[end];
  for (Offset first = A.offsets[begin]; first < last; first += Batch::width) {
    const int filled = static_cast<int>(std::min<Offset>(Batch::width, last - first));
    for (int w = 0; w < filled; ++w) {
      const S* const entry = A.values + (first + w) * K;
      __builtin_prefetch(x.data + A.column[first + w + A.prefetch_x] * x.entry_stride);
      __builtin_prefetch(entry + A.prefetch_matrix);
      batch.set_entry(w, entry, K);
      batch.set_vector(w, x.data + A.column[first + w] * x.entry_stride, x.component_stride, V);
    }
    batch.multiply(*A.definition);
    for (int w = 0; w < filled; ++w) {
      for (; first + w == A.offsets[row + 1]; ++row) finish_row();
      for (int i = 0; i < V; ++i) sum.component[i] += batch.y[i][w];
    }
  }
  for (; row < end; ++row) finish_row();
  return finish;
}

template <class T, class S, class Finish>
Finish product_rows_baseline(const Rows<S>& A, const FieldView<const S>& x, Index begin, Index end,
                             Finish finish) {
  return product_rows<T>(A, x, begin, end, finish);
}
template <class T, class S, class Finish>
__attribute__((target("avx2,fma"), flatten)) Finish product_rows_avx2(const Rows<S>& A,
                                                                      const FieldView<const S>& x,
                                                                      Index begin, Index end,
                                                                      Finish finish) {
  return product_rows<T>(A, x, begin, end, finish);
}

}  // namespace

template <class S>
DefinedOperator<S>::DefinedOperator(const DefinedMatrix<S>& matrix, const Plan& plan,
                                    const Device& device)
    : plan_(plan) {
  if (plan.stored == StoredScalar::single && !std::is_same_v<S, float>) {
    throw Error(
        ErrorKind::bad_plan,
        "plan: stored=float is not for entries from a definition; leave stored out, or take "
        "single precision");
  }
  auto state = std::make_shared<State>();
  state->definition = matrix.definition();
  state->device = device;
  state->rows = matrix.rows();
  state->columns = matrix.columns();
  state->entries = matrix.entries();
  if (device.on_gpu()) {
    store_slices(*state, matrix);
  } else {
    store_rows(*state, matrix);
  }
  state_ = std::move(state);
  make_product();
}

template <class S>
DefinedOperator<S> DefinedOperator<S>::scheduled(const Plan& plan) const {
  check_reschedule(plan_, plan);
  DefinedOperator same = *this;
  same.plan_ = plan;
  same.make_product();
  return same;
}

template <class S>
void DefinedOperator<S>::make_product() {
  if constexpr (has_cuda) {
    if (!state().device.on_gpu()) return;
    const EntryDefinition& definition = *state().definition;
    const int K = definition.size(), V = definition.vector_size(), scalar_bytes = sizeof(S);
    const cuda::EntryShape shape{K, scalar_bytes, V, V, scalar_bytes, ring_size(definition.ring)};
    product_ = std::make_shared<cuda::Product>(
        text_of<S>(definition), text_of<S, sum_t<S>>(definition), shape, state().pattern, plan_,
        state().values.data(), state().device);
  }
}

template <class S>
void DefinedOperator<S>::store_rows(State& state, const DefinedMatrix<S>& matrix) const {
  check_layout(plan_);
  const Device& device = state.device;
  // The arrays are kept as they come, so that no value map is needed.
  Plan kept = plan_;
  kept.columns = ColumnOrder::given;
  state.memory = memory_use(matrix.pattern(), kept, matrix.entry_bytes(), device);
  check_memory(state.memory, device.available_memory(), matrix.pattern(), matrix.entry_bytes(),
               device);
  state.row_basis = Basis::natural(matrix.rows());
  state.column_basis =
      matrix.rows() == matrix.columns() ? state.row_basis : Basis::natural(matrix.columns());
  state.offsets = Array<Offset>(matrix.offsets().span(), device);
  state.values = Array<S>(matrix.values().span(), device);
  const auto entries = static_cast<std::size_t>(matrix.entries());
  state.column = Array<Index>(entries + SlicedPattern::column_slack, device);
  std::copy_n(matrix.column().data(), entries, state.column.data());
}

template <class S>
void DefinedOperator<S>::store_slices(State& state, const DefinedMatrix<S>& matrix) const {
  if constexpr (has_cuda) {
    const Device& device = state.device;
    const int K = state.definition->size(), scalar_bytes = sizeof(S);
    cuda::check_plan_for_gpu(plan_);
    check_least_memory(matrix.pattern(), plan_, matrix.entry_bytes(), device, {});
    state.row_basis = Basis::make(matrix.pattern(), plan_, device);
    state.column_basis =
        matrix.rows() == matrix.columns() ? state.row_basis : Basis::natural(matrix.columns());
    state.pattern = SlicedPattern::build(matrix.pattern(), plan_, state.row_basis,
                                         state.column_basis, matrix.entry_bytes(), device);
    state.memory = state.pattern->memory;
    state.values = Array<S>(static_cast<std::size_t>(state.pattern->slots * K), device);
    place_values_on_gpu(*state.pattern, plan_.inner, {K, scalar_bytes},
                        std::as_bytes(matrix.values().span()),
                        std::as_writable_bytes(state.values.span()), device.stream());
  }
}

template <class S>
const S* DefinedOperator<S>::diagonal(Index row) const {
  const Index* const begin = state().column.data() + state().offsets[static_cast<std::size_t>(row)];
  const Index* const end =
      state().column.data() + state().offsets[static_cast<std::size_t>(row) + 1];
  const Index* const at = std::find(begin, end, row);
  if (at == end) return nullptr;
  return state().values.data() + (at - state().column.data()) * definition().size();
}

template <class S>
long long DefinedOperator<S>::compulsory_bytes() const {
  const auto scalar = static_cast<long long>(sizeof(S));
  return state().entries * (definition().size() * scalar + static_cast<long long>(sizeof(Index))) +
         (rows() + 1LL) * static_cast<long long>(sizeof(Offset)) +
         (static_cast<long long>(rows()) + columns()) * row_components() * scalar;
}

template <class S>
long long DefinedOperator<S>::bytes_of_product() const {
  return memory().product() + (static_cast<long long>(rows()) + columns()) * row_components() *
                                  static_cast<long long>(sizeof(S));
}

template <class S>
template <class U>
void DefinedOperator<S>::check(const FieldView<U>& field, Index rows,
                               const std::shared_ptr<const Basis>& basis, const char* name) const {
  field.check();
  if (field.size != rows || field.components != row_components()) {
    throw Error(ErrorKind::size_mismatch, "a matrix of entries " + definition().name + " needs " +
                                              name + " of " + std::to_string(rows) + " rows of " +
                                              std::to_string(row_components()) +
                                              " components, not " + std::to_string(field.size) +
                                              " of " + std::to_string(field.components));
  }
  if (field.basis ? !same_basis(*field.basis, *basis) : !basis->is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                std::string(name) + " is not in the matrix's basis; `permute` takes it there");
  }
}

template <class S>
template <class T, class Finish>
void DefinedOperator<S>::product(const FieldView<const S>& x, const Finish& finish,
                                 Reduction<S>* reduction, const Stream& stream) const {
  const Rows<S> A{
      state().definition.get(), state().offsets.data(),
      state().column.data(),    state().values.data(),
      plan().prefetch_x,        plan().prefetch_matrix / static_cast<Offset>(sizeof(S))};
  const auto run =
      detail::has_avx2() ? product_rows_avx2<T, S, Finish> : product_rows_baseline<T, S, Finish>;
  detail::for_each_product_group(
      groups_of(rows()), state().entries, plan(), stream, [&](Index group) {
        const Index begin = group * rows_of_group;
        const auto end =
            static_cast<Index>(std::min<Offset>(rows(), Offset(begin) + rows_of_group));
        const Finish of_group = run(A, x, begin, end, finish);
        if (reduction != nullptr) reduction->partials(group)[0] = of_group.partial();
      });
}

template <class S>
void DefinedOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                               const Stream& stream) const {
  check(x, columns(), column_basis(), "x");
  check(y, rows(), row_basis(), "y");
  check_apart(x, y, "x", "y");
  if constexpr (has_cuda) {
    if (product_) {
      return detail::apply_on_gpu<S>(*product_, alpha, x, beta, y, stream);
    }
  }
  const detail::StoreScaled<S> store{alpha, beta, y.data, y.entry_stride, y.component_stride};
  product<S>(x, store, nullptr, stream);
}

template <class S>
sum_t<S> DefinedOperator<S>::apply_dot(const FieldView<const S>& x, const FieldView<S>& y,
                                       Reduction<S>& reduction, const Stream& stream) const {
  if (x.entry_stride != y.entry_stride || x.component_stride != y.component_stride ||
      row_basis() != column_basis()) {
    return LinearOperator<S>::apply_dot(x, y, reduction, stream);
  }
  check(x, columns(), column_basis(), "x");
  check(y, rows(), row_basis(), "y");
  check_apart(x, y, "x", "y");
  if constexpr (has_cuda) {
    if (product_) {
      return detail::apply_dot_on_gpu<S>(*product_, x, y, reduction, stream);
    }
  }
  const detail::StoreAndDot<S> store{y.data, x.data, y.entry_stride, y.component_stride};
  product<S>(x, store, &reduction, stream);
  return reduction.finish(1)[0];
}

template <class S>
sum_t<S> DefinedOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                      const FieldView<S>& r, Reduction<S>& reduction,
                                      const Stream& stream) const {
  check(x, columns(), column_basis(), "x");
  check(b, rows(), row_basis(), "b");
  check(r, rows(), row_basis(), "r");
  check_apart(x, r, "x", "r");
  if (b.data != r.data) check_apart(b, r, "b", "r");
  if (b.entry_stride != r.entry_stride || b.component_stride != r.component_stride) {
    throw Error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first");
  }
  if constexpr (has_cuda) {
    if (product_) {
      return detail::residual_on_gpu<S>(*product_, b, x, r, reduction, stream);
    }
  }
  const detail::StoreResidual<S> store{r.data, b.data, r.entry_stride, r.component_stride};
  product<sum_t<S>>(x, store, &reduction, stream);
  return reduction.finish(1)[0];
}

template class DefinedOperator<float>;
template class DefinedOperator<double>;

}  // namespace heddle
