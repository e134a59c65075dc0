#include "heddle/distributed_operator.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "distributed_state.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/transfer.hpp"

namespace heddle {

namespace {

/// Throws the same `Error` on all ranks unless they have the same number.
void check_agree(Communicator& ranks, long long mine, ErrorKind kind, const std::string& what) {
  const std::vector<long long> all = gather(ranks, mine);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw Error(kind, "ranks disagree about " + what + ": rank 0 and rank " + std::to_string(r));
  }
}

std::string text_of(const Partition& partition) {
  std::string text;
  for (int r = 0; r < partition.ranks(); ++r) {
    const long long rows = partition.rows_of(r);
    text += std::to_string(rows) + ": ";
    for (long long row = 0; row < rows && !partition.is_of_ranges(); row += rows_of_group) {
      text += std::to_string(partition.place_of_group(r, row / rows_of_group)) + " ";
    }
  }
  return text;
}

long long hash_of(const std::string& text) {
  return static_cast<long long>(std::hash<std::string>()(text));
}

void check_is_distributed(const Plan& plan) {
  if (distributed_plan(plan) == plan) return;
  throw Error(ErrorKind::bad_plan,
              "plan: ranks need rows in their own order or sorted within 256 (sigma) with their "
              "entries as given (columns), slices of one "
              "shape, fields of type aos and no narrower copy: " +
                  to_string(distributed_plan(plan)) + ", not " + to_string(plan));
}

}  // namespace

Plan distributed_plan(Plan plan) {
  Layout& layout = plan.layout;
  layout.order = RowOrder::natural;
  const bool sorts_more =
      layout.sort_window == Layout::all_rows || layout.sort_window > rows_of_group;
  layout.sort_window =
      sorts_more
          ? rows_of_group
          : static_cast<Index>(std::bit_floor(static_cast<std::uint32_t>(layout.sort_window)));
  // Sorted by column, entries would follow the sort of rows, which a rank knows only for its own.
  if (layout.sort_window != 1) layout.columns = ColumnOrder::given;
  layout.threshold = 0;
  layout.basis = BasisUse::permuted;
  layout.vector = VectorLayout::aos;
  layout.stored = StoredScalar::own;
  return plan;
}

template <class S>
DistributedOperator<S>::DistributedOperator(Communicator& ranks, const Partition& partition,
                                            detail::EntryTableHandle<S> entry, const RankRows& rows,
                                            std::span<const std::byte> values, const Plan& plan,
                                            ExchangeMode mode, const Device& device,
                                            BoundaryStorage boundary)
    : state_(std::make_unique<State>(ranks, partition, std::move(entry), mode, device, boundary,
                                     plan)) {
  State& state = *state_;
  detail::RowParts parts;
  together(ranks, [&] {
    if (state.entry->sizes.result_components != state.entry->sizes.vector_components) {
      throw Error(ErrorKind::unsupported, "ranks can share only matrices of square entries");
    }
    check_is_distributed(plan);
    if (partition.ranks() != ranks.size()) {
      throw Error(ErrorKind::usage, "the partition is for " + std::to_string(partition.ranks()) +
                                        " ranks, but there are " + std::to_string(ranks.size()));
    }
    parts = detail::split_rows(partition, ranks.rank(), rows,
                               plan.layout.columns == ColumnOrder::sorted, plan.layout.sort_window,
                               boundary);
    if (values.size() != rows.columns.size() * static_cast<std::size_t>(state.entry->bytes())) {
      throw Error(ErrorKind::size_mismatch,
                  "rank " + std::to_string(ranks.rank()) + " has " +
                      std::to_string(rows.columns.size()) + " entries of " +
                      std::to_string(state.entry->bytes()) + " bytes, but its values have " +
                      std::to_string(values.size()) + " bytes");
    }
  });
  check_agree(ranks, hash_of(text_of(partition)), ErrorKind::size_mismatch,
              "the partition of rows");
  check_agree(ranks, hash_of(state.entry->text.type) + state.entry->bytes(),
              ErrorKind::size_mismatch, "the entries");
  check_agree(ranks, hash_of(to_full_string(plan)), ErrorKind::usage, "the plan");
  check_agree(ranks, static_cast<long long>(mode), ErrorKind::usage, "the mode of exchange");
  check_agree(ranks, static_cast<long long>(boundary), ErrorKind::usage,
              "how rows of the boundary are stored");
  check_agree(ranks, device.on_gpu() ? 1 : 0, ErrorKind::usage, "whether they work on GPUs");
  check_agree(ranks, static_cast<long long>(transfer_of(ranks)), ErrorKind::usage,
              "the transfer between GPUs");
  // Exchanges of lists come between steps that may fail on one rank.
  guard(ranks,
        [&] { state.halo = detail::make_halo(ranks, partition, std::move(parts.halo_columns)); });
  together(ranks, [&] {
    state.recurrence = plan.loop.recurrence;
    state.basis = parts.basis;
    state.interior_rows = parts.interior_rows;
    state.entries = rows.columns.size();
    state.copied_rows = std::move(parts.copied_rows);
    for (Index& row : state.halo.sent_rows) row = state.basis->position(row);
    state.shared =
        std::make_unique<detail::SharedRows>(ranks, partition, std::move(parts.places), device);
    Plan of_parts = plan;
    of_parts.layout.columns = ColumnOrder::given;
    of_parts.layout.sort_window = 1;
    state.make_part(state.interior, std::move(parts.interior), of_parts);
    state.make_part(state.boundary, std::move(parts.boundary), of_parts);
    state.make_part(state.diagonal, std::move(parts.diagonal), of_parts, state.basis);
    state.boundary_x = Array<S>(
        state.of_rows(static_cast<Offset>(state.copied_rows.size() + state.halo.columns.size())),
        device);
    if (!device.on_gpu()) {
      state.copied_runs = detail::RowRuns(state.copied_rows);
      state.sent_runs = detail::RowRuns(state.halo.sent_rows);
      state.sent = Array<S>(state.of_rows(static_cast<Offset>(state.halo.sent_rows.size())));
      state.make_messages();
      if (mode == ExchangeMode::task) state.task = std::make_unique<detail::ExchangeTask>();
    }
    state.update(values);
  });
  if constexpr (has_cuda) {
    if (!device.on_gpu()) return;
    guard(ranks, [&] {
      const std::vector<long long> exchange =
          gather(ranks, state.halo.columns.empty() && state.halo.sent_rows.empty() ? 0 : 1);
      state.all_exchange = std::find(exchange.begin(), exchange.end(), 0) == exchange.end();
      state.shared->connect(device, this, state);
      const int* const given_up = state.may_be_captured() ? state.shared->given_up() : nullptr;
      state.on_gpu = cuda::make_device_product(ranks, state.halo, state.copied_rows,
                                               state.of_rows(1) * sizeof(S), device, given_up);
    });
  }
}

template <class S>
DistributedOperator<S>::~DistributedOperator() = default;

template <class S>
void DistributedOperator<S>::update_values(std::span<const std::byte> values) {
  const std::size_t bytes = state_->entries * static_cast<std::size_t>(state_->entry->bytes());
  if (values.size() != bytes) {
    throw Error(ErrorKind::size_mismatch, "the new values have " + std::to_string(values.size()) +
                                              " bytes, the entries of the rank " +
                                              std::to_string(bytes));
  }
  state_->update(values);
  if (state_->adjoint) state_->adjoint->update_values(values);
}

template <class S>
void DistributedOperator<S>::keep_adjoint(const RankRows& rows, std::span<const std::byte> values) {
  State& state = *state_;
  Plan plan = state.plan;
  plan.loop.form = LoopForm::stepped;  // no graph holds its product
  const detail::DistributedForm form{plan, state.mode, state.device, boundary(), state.entries};
  state.adjoint = std::make_shared<detail::DistributedAdjoint<S>>(*this, state.ranks, state.entry,
                                                                  rows, values, form);
}

template <class S>
const detail::SlicedOperator<S>& DistributedOperator<S>::diagonal() const {
  return *state_->diagonal.matrix;
}

template <class S>
detail::SlicedOperator<S> DistributedOperator<S>::sliced() const {
  throw Error(ErrorKind::unsupported, "no rank has all entries of a matrix that ranks share");
}

template <class S>
std::shared_ptr<Preconditioner<S>> DistributedOperator<S>::jacobi() const {
  std::shared_ptr<Preconditioner<S>> made;
  Communicator& ranks = state_->ranks;
  together(ranks, [&] {
    try {
      made = std::make_shared<detail::SlicedJacobi<S>>(diagonal());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::singular) throw;
      const long long first = partition().row(partition().first_row(ranks.rank()));
      throw Error(error.kind(), "rank " + std::to_string(ranks.rank()) + ", whose rows begin at " +
                                    std::to_string(first) + ": " + error.what());
    }
  });
  return made;
}

template <class S>
Communicator& DistributedOperator<S>::ranks() const {
  return state_->ranks;
}
template <class S>
const Partition& DistributedOperator<S>::partition() const {
  return state_->partition;
}
template <class S>
ExchangeMode DistributedOperator<S>::mode() const {
  return state_->mode;
}
template <class S>
BoundaryStorage DistributedOperator<S>::boundary() const {
  return state_->splits ? BoundaryStorage::split : BoundaryStorage::whole;
}
template <class S>
Index DistributedOperator<S>::interior_rows() const {
  return state_->interior_rows;
}
template <class S>
Index DistributedOperator<S>::halo() const {
  return static_cast<Index>(state_->halo.columns.size());
}
template <class S>
int DistributedOperator<S>::neighbours() const {
  return static_cast<int>(state_->halo.receives.size());
}
template <class S>
RankTimes DistributedOperator<S>::times() const {
  RankTimes times = state_->times;
  times.sums = state_->shared->seconds();
  if (state_->on_gpu) state_->on_gpu->add_times(times);
  return times;
}
template <class S>
long long DistributedOperator<S>::memory() const {
  auto bytes =
      static_cast<long long>((state_->boundary_x.size() + state_->sent.size()) * sizeof(S));
  if (state_->on_gpu) bytes += state_->on_gpu->memory();
  bytes += state_->shared->memory();
  if (state_->adjoint) bytes += state_->adjoint->stored().memory();
  for (const auto* part : {&state_->interior, &state_->boundary, &state_->diagonal}) {
    if (!part->matrix) continue;
    bytes += part->matrix->memory().total() +
             static_cast<long long>(part->rows.entry.size() * sizeof(Offset));
  }
  return bytes;
}

template <class S>
Index DistributedOperator<S>::rows() const {
  return state_->basis->size();
}
template <class S>
int DistributedOperator<S>::row_components() const {
  return state_->components();
}
template <class S>
std::shared_ptr<const Basis> DistributedOperator<S>::row_basis() const {
  return state_->basis;
}
template <class S>
Device DistributedOperator<S>::device() const {
  return state_->device.sharing(state_->shared.get());
}
template <class S>
Ring DistributedOperator<S>::ring() const {
  return state_->entry->ring;
}
template <class S>
Recurrence DistributedOperator<S>::recurrence() const {
  return state_->recurrence;
}
template <class S>
bool DistributedOperator<S>::has_adjoint() const {
  return state_->entry->has_adjoint;
}
template <class S>
std::shared_ptr<const LinearOperator<S>> DistributedOperator<S>::adjoint() const {
  if (state_->adjoint) return state_->adjoint;
  throw Error(ErrorKind::unsupported,
              "a matrix whose rows several ranks share has no product with its adjoint unless it "
              "keeps the adjoint: call keep_adjoint");
}
template <class S>
long long DistributedOperator<S>::bytes_of_product() const {
  const auto moved = state_->boundary_x.size() +
                     state_->of_rows(static_cast<Offset>(state_->halo.sent_rows.size()));
  auto bytes = static_cast<long long>(2 * moved * sizeof(S));
  for (const auto* part : {&state_->interior, &state_->boundary}) {
    if (part->matrix) bytes += part->matrix->bytes_of_product();
  }
  return bytes;
}

template <class S>
void DistributedOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta,
                                   const FieldView<S>& y, const Stream& stream) const {
  State& state = *state_;
  state.check(stream);
  state.check(x, "x");
  state.check(y, "y");
  check_apart(x, y, "x", "y");
  if (state.on_gpu) {
    return state.run_on_gpu(state.mode, x, stream,
                            [&](auto& part, const FieldView<const S>& of_part, const Stream& on) {
                              part.matrix->apply(alpha, of_part, state.factor_of_sum(part, beta),
                                                 state.rows_of(y, part), on);
                            });
  }
  state.run(x, stream, [&](auto& part, const FieldView<const S>& of_part) {
    const auto store =
        detail::RowStore<S>::scaled(alpha, state.factor_of_sum(part, beta), state.rows_of(y, part));
    state.entry->multiply(*part.matrix, {&of_part, 1}, {&store, 1}, nullptr, stream);
  });
}

template <class S>
sum_t<S> DistributedOperator<S>::apply_dot(const FieldView<const S>& x, const FieldView<S>& y,
                                           Reduction<S>& reduction, const Stream& stream) const {
  State& state = *state_;
  state.check(x, "x");
  state.check(y, "y");
  check_apart(x, y, "x", "y");
  if (state.on_gpu || state.splits) {
    return LinearOperator<S>::apply_dot(x, y, reduction, stream);
  }
  // Both parts begin their columns with their own rows.
  return state.sum(state.entry->multiply, x, reduction, stream,
                   [&](const auto& part, const FieldView<const S>& of_part) {
                     return detail::RowStore<S>::dotted(state.rows_of(y, part), of_part);
                   });
}

template <class S>
sum_t<S> DistributedOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                          const FieldView<S>& r, Reduction<S>& reduction,
                                          const Stream& stream) const {
  State& state = *state_;
  state.check(b, "b");
  state.check(x, "x");
  state.check(r, "r");
  check_apart(x, r, "x", "r");
  if (b.data != r.data) check_apart(b, r, "b", "r");
  if (state.on_gpu) {
    // Parts sum by themselves, in another tree than that of all ranks. The host waits for the sum
    // of the interior: copies that run along with it must be queued before.
    const ExchangeMode how = state.mode == ExchangeMode::task ? ExchangeMode::naive : state.mode;
    state.run_on_gpu(how, x, stream,
                     [&](auto& part, const FieldView<const S>& of_part, const Stream& on) {
                       part.matrix->residual(state.rows_of(state.minuend(part, b, r), part),
                                             of_part, state.rows_of(r, part), *part.sums, on);
                     });
    return real_dot<S>(r, r, reduction, stream);
  }
  if (state.splits) {
    state.run(x, stream, [&](auto& part, const FieldView<const S>& of_part) {
      const auto store = detail::RowStore<S>::residual(
          state.rows_of(r, part), state.rows_of(state.minuend(part, b, r), part));
      state.entry->residual(*part.matrix, {&of_part, 1}, {&store, 1}, &*part.sums, stream);
    });
    return real_dot<S>(r, r, reduction, stream);
  }
  return state.sum(state.entry->residual, x, reduction, stream,
                   [&](const auto& part, const FieldView<const S>&) {
                     return detail::RowStore<S>::residual(state.rows_of(r, part),
                                                          state.rows_of(b, part));
                   });
}

template class DistributedOperator<float>;
template class DistributedOperator<double>;

}  // namespace heddle
