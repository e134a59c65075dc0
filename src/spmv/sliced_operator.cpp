#include "heddle/detail/sliced_operator.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/narrow_values.hpp"
#include "matrix/adjoint_values.hpp"

namespace heddle::detail {

void refuse_moved_from() {
  throw Error(ErrorKind::usage, "this operator was moved from: it no longer has a matrix");
}

namespace {

template <class S>
inline constexpr bool may_be_on_gpu = has_cuda && !std::is_same_v<S, long double>;

/// Runs one product on a GPU and waits for its sum.
template <class S>
sum_t<S> sum_of(const cuda::Product& product, cuda::Product::Call call, Reduction<S>& reduction,
                const Stream& stream) {
  // Joined ranks leave kernels no place for a sum over all rows (`DeviceSums::results`).
  if (reduction.device().stream().share != nullptr) {
    throw Error(ErrorKind::usage, "a reduction that joins ranks is used with a matrix of one rank");
  }
  call.sums = reduction.space(product.partials());
  product.launch(call, stream);
  return reduction.finish(1)[0];
}

/// Checks of a GPU, in addition to sizes and bases.
template <class S>
void check_on_gpu(const cuda::Product& product, const FieldView<S>& field, const char* name) {
  if (field.size == 0) return;
  product.check_operand(
      field.data,
      product.plan().layout.vector == VectorLayout::aos ? field.is_aos() : field.is_soa(), name);
}

template <class S>
cuda::Product::Call call_on(const cuda::Product& product, const FieldView<const S>& x,
                            const FieldView<S>& y, const char* name_of_y) {
  check_on_gpu(product, x, "x");
  check_on_gpu(product, y, name_of_y);
  cuda::Product::Call call;
  call.x = x.data;
  call.y = y.data;
  return call;
}

/// `name` is x, with `side` column, or y, with `side` row.
template <class S>
void check_field(const FieldView<S>& field, Index rows, int components, const Basis& basis,
                 const std::string& side, const std::string& name) {
  field.check();
  if (field.size != rows || field.components != components) {
    throw Error(ErrorKind::size_mismatch,
                "a matrix of " + std::to_string(rows) + " " + side + "s of " +
                    std::to_string(components) + " components is used with " + name + " of " +
                    std::to_string(field.size) + " rows of " + std::to_string(field.components));
  }
  if (field.basis ? !same_basis(*field.basis, basis) : !basis.is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                name + " is not in the matrix's " + side + " basis; `permute` takes it there");
  }
}
template <class S>
void check_x(const SlicedOperator<S>& A, const FieldView<const S>& x) {
  check_field(x, A.columns(), A.column_components(), *A.column_basis(), "column", "x");
}
template <class S, class U>
void check_y(const SlicedOperator<S>& A, const FieldView<U>& y) {
  check_field(y, A.rows(), A.row_components(), *A.row_basis(), "row", "y");
}

template <class S>
Array<std::byte> storage_for_values(const EntryTable<S>& entry, const SlicedPattern& pattern,
                                    const Device& device) {
  return Array<std::byte>(static_cast<std::size_t>(entry.bytes_of(pattern.slots)), device);
}

template <class S>
std::shared_ptr<const SlicedPattern> build(const EntryTable<S>& entry, const PatternView& matrix,
                                           const Plan& plan, const Device& device,
                                           std::shared_ptr<const Basis> row_basis,
                                           std::shared_ptr<const Basis> column_basis,
                                           const std::optional<long long>& memory_limit) {
  check_sizes(matrix);
  check_min_memory(matrix, plan, entry.bytes(), device, memory_limit);
  check_pattern(matrix, device);
  if (!row_basis) row_basis = Basis::make(matrix, plan, device);
  if (!column_basis) {
    column_basis = matrix.rows == matrix.columns ? row_basis : Basis::natural(matrix.columns);
  }
  return SlicedPattern::build(matrix, plan, std::move(row_basis), std::move(column_basis),
                              entry.bytes(plan), device, memory_limit);
}

}  // namespace

template <class S>
SlicedOperator<S>::SlicedOperator(EntryTableHandle<S> entry, const PatternView& matrix,
                                  ComponentOrder order, const Plan& plan, const Device& device,
                                  std::shared_ptr<const Basis> row_basis,
                                  std::shared_ptr<const Basis> column_basis,
                                  const std::optional<long long>& memory_limit)
    : SlicedOperator(entry,
                     build(*entry, matrix, plan, device, std::move(row_basis),
                           std::move(column_basis), memory_limit),
                     order, plan, device) {}

template <class S>
SlicedOperator<S>::SlicedOperator(EntryTableHandle<S> entry,
                                  std::shared_ptr<const SlicedPattern> pattern,
                                  ComponentOrder order, const Plan& plan, const Device& device)
    : device_(device), state_(std::make_shared<State>()), schedule_(std::make_shared<Schedule>()) {
  schedule_->plan = plan;
  state_->values = storage_for_values(*entry, *pattern, device);
  state_->entry = std::move(entry);
  state_->order = order;
  state_->pattern = std::move(pattern);
  make_product();
  make_narrow();
}

template <class S>
SlicedOperator<S> SlicedOperator<S>::on(const Device& device) const {
  if (device.stream().gpu != device_.stream().gpu) {
    throw Error(ErrorKind::usage,
                "a matrix stays where it was built; to use another GPU or the CPU, build it there");
  }
  device_.synchronize();
  SlicedOperator same = *this;
  same.device_ = device;
  return same;
}

template <class S>
SlicedOperator<S> SlicedOperator<S>::scheduled(const Plan& plan) const {
  check_plan(plan);
  const Layout& stored = this->plan().layout;
  if (stored != plan.layout) {
    throw Error(ErrorKind::bad_plan, "plan: a matrix stored as " +
                                         to_string(Plan{.layout = stored}) + " cannot run as " +
                                         to_string(Plan{.layout = plan.layout}) +
                                         "; another layout requires rebuilding it");
  }
  SlicedOperator same = *this;
  same.schedule_ = std::make_shared<Schedule>();
  same.schedule_->plan = plan;
  same.make_product();
  if (schedule().narrow) {
    Plan of_copy = plan;
    of_copy.layout.stored = StoredScalar::own;
    same.schedule_->narrow =
        std::make_shared<SlicedOperator>(schedule().narrow->scheduled(of_copy));
  }
  return same;
}

template <class S>
void SlicedOperator<S>::make_product() {
  if (!device_.on_gpu()) return;
  if (entry().text.type.empty()) {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
  if constexpr (has_cuda) {
    schedule().product =
        std::make_shared<cuda::Product>(entry().text, entry().exact, entry().sizes, state().pattern,
                                        plan(), state().values.data(), device_);
  }
}

template <class S>
void SlicedOperator<S>::update_values(std::span<const std::byte> values, ComponentOrder order) {
  if (schedule().narrow) check_can_narrow(device_.stream());
  if (schedule().narrow && is_exact(plan().layout.stored)) {
    place_listed_values(values, order);
    ++state().generation;
    if (state().adjoint) update_adjoint();
  } else {
    place_values(values, order, device_.stream());
    values_changed();  // the operator holds the new values even if the copy is refused
  }
}

template <class S>
void SlicedOperator<S>::place_values(std::span<const std::byte> values, ComponentOrder order,
                                     const Stream& stream) const {
  const EntryShape shape = entry().stored(order);
  if constexpr (has_cuda) {
    if (stream.on_gpu()) {
      check_placed_bytes(pattern(), shape, values.size(), stored_values().size());
      return place_values_on_gpu(pattern(), plan().layout.inner, shape, values, stored_values(),
                                 stream);
    }
  }
  // In compressed rows the slots hold the entries as they are given.
  const SlicedPattern& slots = pattern();
  if (slots.entry_of_slot.is_identity() && slots.slots == slots.entries && shape.block_rows == 1 &&
      keeps_entries_whole(slot_rule(plan().layout.inner, shape.components, slots.C, slots.slots,
                                    shape.scalar_bytes))) {
    check_placed_bytes(slots, shape, values.size(), stored_values().size());
    return copy_bytes(stored_values().data(), values.data(), values.size(), stream);
  }
  entry().place(slots, plan().layout.inner, shape, values, stored_values(), stream);
}

template <class S>
void SlicedOperator<S>::values_changed() {
  ++state().generation;
  if (state().adjoint) update_adjoint();
  // The values are in place, and the caller that wrote them cannot take them back. The exact copy
  // is therefore not used until it holds them.
  state().is_refused = schedule().narrow && is_exact(plan().layout.stored);
  try {
    narrow_own_values();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_plan || !state().is_refused) throw;
  }
}

template <class S>
long long SlicedOperator<S>::bytes_of_fields() const {
  return (static_cast<long long>(rows()) * row_components() +
          static_cast<long long>(columns()) * column_components()) *
         static_cast<long long>(sizeof(S));
}

template <class S>
long long SlicedOperator<S>::compulsory_bytes() const {
  return pattern().entries * (iterated().entry().bytes() + static_cast<long long>(sizeof(Index))) +
         (rows() + 1LL) * static_cast<long long>(sizeof(Offset)) + bytes_of_fields();
}

template <class S>
long long SlicedOperator<S>::bytes_of_product() const {
  return memory().product() - memory().values + pattern().slots * entry().bytes() +
         bytes_of_fields();
}

template <class S>
void SlicedOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                              const Stream& stream) const {
  check_x(*this, x);
  check_y(*this, y);
  check_apart(x, y, "x", "y");
  if constexpr (may_be_on_gpu<S>) {
    if (const cuda::Product* product = product_on_gpu()) {
      auto call = call_on(*product, x, y, "y");
      call.alpha = static_cast<double>(alpha);
      call.beta = static_cast<double>(beta);
      return product->launch(call, stream);
    }
  }
  const auto store = RowStore<S>::scaled(alpha, beta, y);
  entry().multiply(*this, {&x, 1}, {&store, 1}, nullptr, stream);
}

template <class S>
sum_t<S> SlicedOperator<S>::apply_dot(const FieldView<const S>& x, const FieldView<S>& y,
                                      Reduction<S>& reduction, const Stream& stream) const {
  if (x.entry_stride != y.entry_stride || x.component_stride != y.component_stride ||
      row_components() != column_components() || row_basis() != column_basis()) {
    return LinearOperator<S>::apply_dot(x, y, reduction, stream);
  }
  check_x(*this, x);
  check_y(*this, y);
  check_apart(x, y, "x", "y");
  if constexpr (may_be_on_gpu<S>) {
    if (const cuda::Product* product = product_on_gpu()) {
      auto call = call_on(*product, x, y, "y");
      call.epilogue = device::store_and_dot;
      call.with = x.data;
      return sum_of<S>(*product, call, reduction, stream);
    }
  }
  const auto store = RowStore<S>::dotted(y, x);
  entry().multiply(*this, {&x, 1}, {&store, 1}, &reduction, stream);
  return reduction.finish(1)[0];
}

namespace {

/// True if one walk can serve all fields.
template <class S>
bool have_same_layout(std::span<const FieldView<const S>> x, std::span<const FieldView<S>> y,
                      bool as_x) {
  const auto differ = [](const auto& a, const auto& b) {
    return a.entry_stride != b.entry_stride || a.component_stride != b.component_stride;
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (differ(x[k], x.front()) || differ(y[k], y.front())) return false;
  }
  return !as_x || !differ(x.front(), y.front());
}

}  // namespace

template <class S>
void SlicedOperator<S>::apply_all(std::span<const FieldView<const S>> x,
                                  std::span<const FieldView<S>> y, std::span<sum_t<S>> dots,
                                  Reduction<S>& reduction, const Stream& stream) const {
  const bool sums = !dots.empty();
  const bool fits =
      x.size() > 1 && x.size() <= std::size_t{Reduction<S>::width} &&
      have_same_layout(x, y, sums) &&
      (!sums || (row_components() == column_components() && row_basis() == column_basis()));
  if (!fits || device_.on_gpu()) {
    return LinearOperator<S>::apply_all(x, y, dots, reduction, stream);
  }
  std::array<RowStore<S>, Reduction<S>::width> stores;
  for (std::size_t k = 0; k < x.size(); ++k) {
    check_x(*this, x[k]);
    check_y(*this, y[k]);
    for (const FieldView<const S>& other : x) check_apart(other, y[k], "x", "y");
    stores[k] = sums ? RowStore<S>::dotted(y[k], x[k]) : RowStore<S>::scaled(S(1), S(0), y[k]);
  }
  entry().multiply(*this, x, {stores.data(), x.size()}, sums ? &reduction : nullptr, stream);
  if (!sums) return;
  const auto totals = reduction.finish(static_cast<int>(x.size()));
  std::copy_n(totals.begin(), x.size(), dots.begin());
}

template <class S>
sum_t<S> SlicedOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                     const FieldView<S>& r, Reduction<S>& reduction,
                                     const Stream& stream) const {
  check_x(*this, x);
  check_y(*this, b);
  check_y(*this, r);
  check_apart(x, r, "x", "r");
  if (b.data != r.data) check_apart(b, r, "b", "r");
  if (b.entry_stride != r.entry_stride || b.component_stride != r.component_stride) {
    throw Error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first");
  }
  if constexpr (may_be_on_gpu<S>) {
    if (const cuda::Product* product = product_on_gpu()) {
      check_on_gpu(*product, b, "b");
      auto call = call_on(*product, x, r, "r");
      call.epilogue = device::store_residual;
      call.with = b.data;
      return sum_of<S>(*product, call, reduction, stream);
    }
  }
  if (entry().residual == nullptr) {
    return LinearOperator<S>::residual(b, x, r, reduction, stream);
  }
  const auto store = RowStore<S>::residual(r, b);
  entry().residual(*this, {&x, 1}, {&store, 1}, &reduction, stream);
  return reduction.finish(1)[0];
}

template <class S>
std::shared_ptr<EntryTable<S>> new_entry_table(EntryTexts texts) {
  auto table = std::make_shared<EntryTable<S>>();
  table->text = std::move(texts.own);
  table->exact = std::move(texts.exact);
  return table;
}

template std::shared_ptr<EntryTable<float>> new_entry_table(EntryTexts);
template std::shared_ptr<EntryTable<double>> new_entry_table(EntryTexts);
HEDDLE_IN_LONG_DOUBLE(
    template std::shared_ptr<EntryTable<long double>> new_entry_table(EntryTexts);)
template class SlicedOperator<float>;
template class SlicedOperator<double>;
HEDDLE_IN_LONG_DOUBLE(template class SlicedOperator<long double>;)

}  // namespace heddle::detail
