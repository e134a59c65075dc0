// A rank's part of a distributed matrix: rows, their x, and the exchange.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device_product.hpp"
#include "distributed/exchange/exchange_task.hpp"
#include "distributed/exchange/halo.hpp"
#include "distributed/exchange/row_runs.hpp"
#include "distributed_adjoint.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/tools/team.hpp"
#include "row_parts.hpp"
#include "shared_rows.hpp"
#include "solvers/gpu_loops/ranks_in_loop.hpp"

namespace heddle {

template <class S>
struct DistributedOperator<S>::State final : cuda::RankProduct {
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  State(Communicator& communicator, const Partition& partition_of_all,
        detail::EntryTableHandle<S> table, ExchangeMode exchange, const Device& of_rank,
        BoundaryStorage boundary_storage, const Plan& of_rows_in_storage)
      : ranks(communicator),
        partition(partition_of_all),
        entry(std::move(table)),
        mode(exchange),
        device(of_rank),
        splits(boundary_storage == BoundaryStorage::split),
        plan(of_rows_in_storage) {}

  /// A part of the rows in sliced storage, and room for the sums of its groups.
  struct Part {
    detail::RowPart rows;
    std::optional<detail::SlicedOperator<S>> matrix;
    std::optional<Reduction<S>> sums;
  };

  /// Rows in the order of a basis, or else the part's own; then a part without rows has no matrix.
  void make_part(Part& part, detail::RowPart rows, const Plan& plan,
                 const std::shared_ptr<const Basis>& basis_of_rows = nullptr) {
    part.rows = std::move(rows);
    const auto of_rows = basis_of_rows ? basis_of_rows : Basis::natural(part.rows.rows);
    const auto of_columns = basis_of_rows ? basis_of_rows : Basis::natural(part.rows.columns);
    if (part.rows.rows == 0 && !basis_of_rows) return;
    part.matrix.emplace(entry, part.rows.pattern(), row_major, plan, device, of_rows, of_columns);
    part.sums.emplace(part.rows.rows, device);
    part.rows.column = {};
  }

  void update(std::span<const std::byte> values) {
    const auto bytes = static_cast<std::size_t>(entry->bytes());
    for (Part* part : {&interior, &boundary, &diagonal}) {
      if (part->matrix) part->matrix->update_values(part->rows.values_of(values, bytes));
    }
  }

  std::size_t of_rows(Offset rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(components());
  }
  int components() const { return entry->sizes.vector_components; }

  void make_messages() {
    const auto bytes_of = [this](auto& array, Offset first, Offset count) {
      return std::span(array.data() + of_rows(first), of_rows(count));
    };
    const auto copied = static_cast<Offset>(copied_rows.size());
    for (const detail::HaloPart& part : halo.receives) {
      receives.push_back({part.rank, std::as_writable_bytes(
                                         bytes_of(boundary_x, copied + part.first, part.count))});
    }
    for (const detail::HaloPart& part : halo.sends) {
      sends.push_back({part.rank, std::as_bytes(bytes_of(sent, part.first, part.count))});
    }
  }

  void exchange() {
    const auto start = Clock::now();
    ranks.begin_exchange(sends, receives);
    ranks.end_exchange();
    times.exchange += seconds_since(start);
  }

  /// Calls `multiply(part, x)` for both parts, with the x that each reads.
  template <class Multiply>
  void run(const FieldView<const S>& x, const Stream& stream, const Multiply& multiply) {
    const auto start = Clock::now();
    const auto width = static_cast<std::size_t>(components());
    sent_runs.gather(x.data, width, sent.data(), stream);
    const auto multiply_interior = [&] {
      if (interior.matrix) multiply(interior, x);
      copied_runs.gather(x.data, width, boundary_x.data(), stream);
    };
    const bool exchanges = ranks.size() > 1 && (!sends.empty() || !receives.empty());
    if (!exchanges) {
      multiply_interior();
    } else if (mode == ExchangeMode::vector) {
      const auto called = Clock::now();
      exchange();
      times.waiting += seconds_since(called);
      multiply_interior();
    } else if (mode == ExchangeMode::naive) {
      const auto called = Clock::now();
      ranks.begin_exchange(sends, receives);
      const double begun = seconds_since(called);
      try {
        multiply_interior();
      } catch (...) {
        ranks.end_exchange();
        throw;
      }
      const auto ended = Clock::now();
      ranks.end_exchange();
      times.waiting += begun + seconds_since(ended);
      times.exchange += begun + seconds_since(ended);
    } else {
      const std::function<void()> work = [this] { exchange(); };
      task->start(work);
      try {
        multiply_interior();
      } catch (...) {
        task->wait_quietly();
        throw;
      }
      const auto called = Clock::now();
      task->wait();
      times.waiting += seconds_since(called);
    }
    if (boundary.matrix) {
      multiply(boundary,
               FieldView<const S>(boundary_x.data(), boundary.rows.columns, components()));
    }
    times.product += seconds_since(start);
  }

  /// On a GPU: if blocks or slices end within the last group, the interior leaves sums after that
  /// group too.
  bool may_overlap() const {
    const Plan& plan = diagonal.matrix->plan();
    const Index lanes = plan.layout.lanes;  // all_rows: whole groups
    return !splits && rows_of_group % plan.gpu.block_size == 0 &&
           (lanes == Layout::all_rows || rows_of_group % lanes == 0);
  }
  /// Same on a GPU, whose stream orders kernels and copies.
  template <class Multiply>
  void run_on_gpu(ExchangeMode how, const FieldView<const S>& x, const Stream& stream,
                  const Multiply& multiply) {
    const auto multiply_interior = [&](const Stream& on) {
      // The fields are the operator's; the part knows no basis.
      if (interior.matrix) multiply(interior, FieldView<const S>(x.data, x.size, x.components), on);
    };
    on_gpu->run(
        how, may_overlap(), x.data, boundary_x.data(), stream, multiply_interior,
        [&](const Stream& on) {
          if (!boundary.matrix) return;
          multiply(boundary,
                   FieldView<const S>(boundary_x.data(), boundary.rows.columns, components()), on);
        });
  }

  /// The factor of what is there before a part's product: the remote part of split rows is added.
  S factor_of_sum(const Part& part, S beta) const {
    return splits && &part == &boundary ? S(1) : beta;
  }

  FieldView<const S> minuend(const Part& part, const FieldView<const S>& b,
                             const FieldView<S>& r) const {
    return splits && &part == &boundary ? FieldView<const S>(r) : b;
  }

  /// False under a dynamic schedule, whose counters are those of the stream, and if a rank is
  /// without neighbours.
  bool may_be_captured() const override {
    return all_exchange && plan.loop.form != LoopForm::stepped &&
           plan.schedule.kind != ScheduleKind::dynamic;
  }
  bool sums_once() const override { return plan.loop.single_reduction; }
  /// If each row has one thread, groups of threads are groups of rows. Split rows are complete only
  /// after both parts.
  int parts() const override {
    if (splits) return 0;
    const Plan& plan = diagonal.matrix->plan();
    return plan.layout.threads_per_row == 1 ? device::parts_of_group(plan.gpu.block_size) : 0;
  }
  static cuda::Product::Call call_in_loop(const cuda::LoopProduct& multiplies) {
    cuda::Product::Call call;
    call.epilogue = multiplies.epilogue;
    call.ring = multiplies.ring;
    call.in_loop = true;
    return call;
  }
  void prepare(const cuda::LoopProduct& multiplies) override {
    if constexpr (has_cuda) {
      for (const Part* part : {&interior, &boundary}) {
        if (part->matrix) part->matrix->product_on_gpu()->prepare(call_in_loop(multiplies));
      }
    }
  }
  void queue(const cuda::LoopProduct& multiplies, const device::ProductOperands& operands,
             const Stream& stream) override {
    if constexpr (has_cuda) {
      const int numbers = device::sums_of(multiplies.epilogue, multiplies.ring);
      const FieldView<const S> x(static_cast<const S*>(operands.x), basis->size(), components());
      run_on_gpu(mode, x, stream,
                 [&](const Part& part, const FieldView<const S>& of_part, const Stream& on) {
                   const auto first = of_rows(part.rows.first_row);
                   device::ProductOperands own = operands;
                   own.x = of_part.data;
                   own.y = static_cast<S*>(operands.y) + first;
                   own.with = static_cast<const S*>(operands.with) + first;
                   own.partials = operands.partials +
                                  Offset(part.rows.first_row / rows_of_group) * parts() * numbers;
                   cuda::Product::Call call = call_in_loop(multiplies);
                   call.systems = {&own, 1};
                   part.matrix->product_on_gpu()->launch(call, on);
                 });
    }
  }

  /// Same with a sum over each group's rows. `store_of(part, x)` makes the store of a part.
  template <class StoreOf>
  sum_t<S> sum(typename detail::EntryTable<S>::Multiply multiply, const FieldView<const S>& x,
               Reduction<S>& reduction, const Stream& stream, const StoreOf& store_of) {
    check(reduction);
    run(x, stream, [&](Part& part, const FieldView<const S>& of_part) {
      const detail::RowStore<S> store = store_of(part, of_part);
      multiply(*part.matrix, {&of_part, 1}, {&store, 1}, &*part.sums, stream);
      const Index first = part.rows.first_row / rows_of_group;
      for (Index g = 0; g < part.sums->groups(); ++g) {
        *reduction.partials(first + g) = *part.sums->partials(g);
      }
    });
    return reduction.finish(1)[0];
  }
  void check(const Reduction<S>& reduction) const {
    if (reduction.device().stream().share == shared.get()) return;
    throw Error(ErrorKind::usage,
                "the reduction joins no ranks: make it with the distributed operator's device");
  }

  /// A solver of an operator around this one with another device would sum only one rank's rows.
  void check(const Stream& stream) const {
    if (stream.share == shared.get()) return;
    throw Error(ErrorKind::usage,
                "the stream names no ranks: use that of the distributed operator's device(), "
                "which an operator around it also returns");
  }

  /// A field of this rank's rows, in the basis. Its data from some row on are a part's field.
  template <class U>
  void check(const FieldView<U>& field, const char* what) const {
    field.check();
    if (field.size != basis->size() || field.components != components() || !field.is_aos()) {
      throw Error(ErrorKind::size_mismatch, std::string(what) + ": this rank has " +
                                                std::to_string(basis->size()) + " rows of " +
                                                std::to_string(components()) +
                                                " components, one row after "
                                                "the other");
    }
    if (field.basis ? !same_basis(*field.basis, *basis) : !basis->is_natural()) {
      throw Error(ErrorKind::size_mismatch,
                  std::string(what) + " is not in the operator's basis; `permute` takes it there");
    }
  }
  template <class U>
  U* from(const FieldView<U>& field, const Part& part) const {
    return field.data + of_rows(part.rows.first_row);
  }
  template <class U>
  FieldView<U> rows_of(const FieldView<U>& field, const Part& part) const {
    return {from(field, part), part.rows.rows, components()};
  }

  Communicator& ranks;
  Partition partition;
  detail::EntryTableHandle<S> entry;
  ExchangeMode mode;
  Device device;  // for parts, whose sums are not joined
  bool splits;
  Plan plan;
  Index interior_rows = 0;
  Recurrence recurrence = Recurrence::ring;
  std::shared_ptr<const Basis> basis;
  std::unique_ptr<detail::SharedRows> shared;
  Part interior, boundary, diagonal;
  std::vector<Index> copied_rows;
  detail::RowRuns copied_runs, sent_runs;  // in the basis; on the CPU
  detail::Halo halo;
  std::size_t entries = 0;
  bool all_exchange = false;  // each rank with another; on GPUs
  Array<S> boundary_x, sent;
  std::vector<Message<const std::byte>> sends;
  std::vector<Message<std::byte>> receives;
  std::unique_ptr<detail::ExchangeTask> task;
  std::shared_ptr<cuda::DeviceProduct> on_gpu;  // null on the CPU
  RankTimes times;
  std::shared_ptr<detail::DistributedAdjoint<S>> adjoint;  // null unless it is kept
};

}  // namespace heddle
