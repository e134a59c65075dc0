// Bodies of `Operator<E>`: compiled once for the built-in entries, by the user for their own.
#pragma once

#include "heddle/config.hpp"
#include "heddle/detail/diagonal_search.hpp"
#include "heddle/detail/place_values.hpp"
#include "heddle/detail/product_on_gpu.hpp"
#include "heddle/detail/reschedule.hpp"
#include "heddle/operator.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

namespace detail {

/// Component k of a value in the user's array, whose blocks may be stored by columns.
template <class E>
constexpr int component_in(ComponentOrder order, int k) {
  using A = arithmetic_t<E>;
  if constexpr (requires { A::block_rows; }) {
    if (order == ComponentOrder::column_major) {
      constexpr int size = A::components / (A::block_rows * A::block_columns);
      return transposed_component(k, A::block_rows, A::block_columns, size);
    }
  }
  return k;
}

template <class E>
EntryShape entry_shape(ComponentOrder order) {
  using A = arithmetic_t<E>;
  EntryShape shape{E::components, sizeof(stored_scalar_t<E>)};
  if constexpr (requires { A::block_rows; }) {
    if (order == ComponentOrder::column_major) {
      shape.block_rows = A::block_rows;
      shape.block_columns = A::block_columns;
    }
  }
  return shape;
}

template <class E>
void place_values(const SlicedPattern& pattern, InnerLayout inner, ComponentOrder order,
                  std::span<const stored_scalar_t<E>> from, std::span<stored_scalar_t<E>> to,
                  const Stream& stream) {
  constexpr int K = E::components;
  check_placed_bytes(pattern, entry_shape<E>(order), from.size_bytes(), to.size_bytes());
  if constexpr (has_cuda) {
    if (stream.on_gpu()) {
      return place_values_on_gpu(pattern, inner, entry_shape<E>(order), std::as_bytes(from),
                                 std::as_writable_bytes(to), stream);
    }
  }
  const auto formula = slot_formula<K>(inner, pattern.C, pattern.slots, sizeof(stored_scalar_t<E>));
  parallel_for(team_size(stream, pattern.entries), pattern.slots, [&](Offset slot) {
    const Offset entry = pattern.entry_of_slot[slot];
    if (entry == EntryMap::padding) return;
    const int lane = static_cast<int>(slot % pattern.C);
    for (int k = 0; k < K; ++k) {
      to.data()[formula(slot - lane, lane, k)] = from.data()[entry * K + component_in<E>(order, k)];
    }
  });
}

/// Entries that a GPU can run: their text is known, and it has their scalars.
template <class E>
inline constexpr bool runs_on_gpu =
    has_cuda && has_entry_text<E> && !std::is_same_v<vector_scalar_t<E>, long double>;

}  // namespace detail

template <class E>
void Operator<E>::make_product() {
  if (!device_.on_gpu()) return;
  if constexpr (detail::runs_on_gpu<E>) {
    using P = typename detail::promoted<E>::type;
    static_assert(has_entry_text<P>,
                  "heddle entry: residuals of floats compute in double; HEDDLE_ENTRY also has to "
                  "name the entry over double");
    const cuda::EntryShape shape{E::components,       sizeof(stored),
                                 column_components(), row_components(),
                                 sizeof(scalar),      ring_size(arithmetic_t<E>::ring)};
    schedule_->product = std::make_shared<cuda::Product>(
        detail::entry_text_of<E>::text(), detail::entry_text_of<P>::text(), shape, state_->pattern,
        schedule_->plan, state_->values.data(), device_);
  } else {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
}

template <class E>
Operator<E>::Operator(const CsrView<E>& matrix, const Plan& plan,
                      std::shared_ptr<const Basis> row_basis,
                      std::shared_ptr<const Basis> column_basis,
                      const std::optional<long long>& memory_limit)
    : state_(std::make_shared<State>()), schedule_(std::make_shared<Schedule>()) {
  device_ = matrix.device;
  schedule_->plan = plan;
  state_->order = matrix.order;
  const PatternView pattern = matrix.pattern();
  check_sizes(pattern);
  check_least_memory(pattern, plan, sizeof(E), matrix.device, memory_limit);
  check_pattern(pattern, matrix.device);
  if (!row_basis) row_basis = Basis::make(pattern, plan, matrix.device);
  if (!column_basis) {
    column_basis = matrix.rows == matrix.columns ? row_basis : Basis::natural(matrix.columns);
  }
  state_->pattern =
      SlicedPattern::build(pattern, plan, std::move(row_basis), std::move(column_basis),
                           entry_bytes(plan), matrix.device, memory_limit);
  state_->values = Array<stored>(static_cast<std::size_t>(state_->pattern->slots) * E::components,
                                 matrix.device);
  make_product();
  make_narrow();
  update_values(
      {matrix.values, static_cast<std::size_t>(state_->pattern->entries) * E::components});
}

template <class E>
Operator<E>::Operator(std::shared_ptr<const SlicedPattern> pattern, const Plan& plan,
                      ComponentOrder order, const Device& device)
    : state_(std::make_shared<State>()), schedule_(std::make_shared<Schedule>()) {
  device_ = device;
  schedule_->plan = plan;
  state_->order = order;
  state_->pattern = std::move(pattern);
  state_->values =
      Array<stored>(static_cast<std::size_t>(state_->pattern->slots) * E::components, device);
  make_product();
  make_narrow();
}

template <class E>
Operator<E>::Operator(const Operator& other, const EntryValues<E>& values)
    : Operator(other.state().pattern, other.plan(), other.state().order, other.device_) {
  update_values(values);
}

template <class E>
Operator<E> Operator<E>::on(const Device& device) const {
  if (device.stream().gpu != device_.stream().gpu) {
    throw Error(ErrorKind::usage,
                "a matrix stays where it was built; for another GPU, or the CPU, build it there");
  }
  device_.synchronize();
  Operator same = *this;
  same.device_ = device;
  return same;
}

template <class E>
Operator<E> Operator<E>::scheduled(const Plan& plan) const {
  check_reschedule(this->plan(), plan);
  Operator same = *this;
  same.schedule_ = std::make_shared<Schedule>();
  same.schedule_->plan = plan;
  same.make_product();
  if constexpr (detail::can_narrow<E>) {
    if (schedule().narrow) {
      Plan of_copy = plan;
      of_copy.stored = StoredScalar::own;
      same.schedule_->narrow = std::make_shared<Narrow>(schedule().narrow->scheduled(of_copy));
    }
  }
  return same;
}

template <class E>
void Operator<E>::make_narrow() {
  if (schedule().plan.stored == StoredScalar::own) return;
  if constexpr (detail::can_narrow<E>) {
    Plan plan = schedule().plan;
    plan.stored = StoredScalar::own;
    schedule().narrow =
        std::shared_ptr<Narrow>(new Narrow(state().pattern, plan, state().order, device_));
  } else if constexpr (!std::is_same_v<stored, float>) {
    throw Error(ErrorKind::bad_plan,
                "plan: stored=float needs an entry that is the numbers it computes with, and this "
                "one is encoded; leave stored out");
  }
}

template <class E>
void Operator<E>::narrow() {
  if constexpr (detail::can_narrow<E>) {
    if (!schedule().narrow) return;
    narrow_values(pattern(), plan().inner, E::components, state().values.data(),
                  schedule().narrow->state().values.data(), device_.stream());
  }
}

template <class E>
void Operator<E>::diagonal(arithmetic_t<E>* entries) const {
  const detail::DiagonalSearch search = detail::diagonal_search(pattern());
  const EntryWriter<E> values(pattern(), plan().inner, state().values.data());
  parallel_for(team_size(device().stream(), rows()), rows(), [&](Index stored) {
    const Offset slot = search.slot_among(stored, 0, 1);
    entries[search.row_of(stored)] = slot < 0 ? arithmetic_t<E>::zero() : load(values.load(slot));
  });
}

template <class E>
void Operator<E>::check_x(const FieldView<const scalar>& x) const {
  x.check();
  if (x.size != columns() || x.components != column_components()) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(columns()) +
                                              " columns of " + std::to_string(column_components()) +
                                              " components meets x of " + std::to_string(x.size) +
                                              " rows of " + std::to_string(x.components));
  }
  if (x.basis ? !same_basis(*x.basis, *column_basis()) : !column_basis()->is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                "x is not in the matrix's column basis; `permute` takes it there");
  }
}

template <class E>
template <class U>
void Operator<E>::check_y(const FieldView<U>& y) const {
  y.check();
  if (y.size != rows() || y.components != row_components()) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(rows()) + " rows of " +
                                              std::to_string(row_components()) +
                                              " components meets y of " + std::to_string(y.size) +
                                              " rows of " + std::to_string(y.components));
  }
  if (y.basis ? !same_basis(*y.basis, *row_basis()) : !row_basis()->is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                "y is not in the matrix's row basis; `permute` takes it there");
  }
}

template <class E>
void Operator<E>::apply(scalar alpha, const FieldView<const scalar>& x, scalar beta,
                        const FieldView<scalar>& y, const Stream& stream) const {
  check_x(x);
  check_y(y);
  check_apart(x, y, "x", "y");
  if constexpr (detail::runs_on_gpu<E>) {
    if (schedule().product) {
      return detail::apply_on_gpu<scalar>(*schedule().product, alpha, x, beta, y, stream);
    }
  }
  const detail::StoreScaled<scalar> store{alpha, beta, y.data, y.entry_stride, y.component_stride};
  detail::product_cpu<E, scalar>(pattern(), state().values.data(), plan(), x, store, nullptr,
                                 stream);
}

template <class E>
sum_t<vector_scalar_t<E>> Operator<E>::apply_dot(const FieldView<const scalar>& x,
                                                 const FieldView<scalar>& y,
                                                 Reduction<scalar>& reduction,
                                                 const Stream& stream) const {
  if (x.entry_stride != y.entry_stride || x.component_stride != y.component_stride ||
      row_components() != column_components() || row_basis() != column_basis()) {
    return LinearOperator<scalar>::apply_dot(x, y, reduction, stream);
  }
  check_x(x);
  check_y(y);
  check_apart(x, y, "x", "y");
  if constexpr (detail::runs_on_gpu<E>) {
    if (schedule().product) {
      return detail::apply_dot_on_gpu<scalar>(*schedule().product, x, y, reduction, stream);
    }
  }
  const detail::StoreAndDot<scalar> store{y.data, x.data, y.entry_stride, y.component_stride};
  detail::product_cpu<E, scalar>(pattern(), state().values.data(), plan(), x, store, &reduction,
                                 stream);
  return reduction.finish(1)[0];
}

template <class E>
sum_t<vector_scalar_t<E>> Operator<E>::residual(const FieldView<const scalar>& b,
                                                const FieldView<const scalar>& x,
                                                const FieldView<scalar>& r,
                                                Reduction<scalar>& reduction,
                                                const Stream& stream) const {
  check_x(x);
  check_y(b);
  check_y(r);
  check_apart(x, r, "x", "r");
  if (b.data != r.data) check_apart(b, r, "b", "r");
  if (b.entry_stride != r.entry_stride || b.component_stride != r.component_stride) {
    throw Error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first");
  }
  if constexpr (detail::runs_on_gpu<E>) {
    if (schedule().product) {
      return detail::residual_on_gpu<scalar>(*schedule().product, b, x, r, reduction, stream);
    }
  }
  using P = typename detail::promoted<E>::type;
  const detail::StoreResidual<scalar> store{r.data, b.data, r.entry_stride, r.component_stride};
  detail::product_cpu<P, scalar>(pattern(), state().values.data(), plan(), x, store, &reduction,
                                 stream);
  return reduction.finish(1)[0];
}

}  // namespace heddle
