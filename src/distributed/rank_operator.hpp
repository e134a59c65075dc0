// Operators that ranks use next to their matrix: interpolations, restrictions, and inverses.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device_product.hpp"
#include "distributed/exchange/halo.hpp"
#include "distributed/exchange/row_runs.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/distributed_operator.hpp"

namespace heddle::detail {

/// This rank's rows of a matrix whose rows are shared like those of one operator, and its columns
/// like those of another. Each row is multiplied whole, with its entries as they are given: a
/// product has the same bits for any number of ranks. Products are collective.
template <class S>
class RankOperator final : public LinearOperator<S> {
 public:
  /// `rows`: this rank's rows among those of `of_rows`. `given_up`: that of `RankSums`, for
  /// products that may be captured; or null. Without values yet. Collective.
  RankOperator(const DistributedOperator<S>& of_rows, const DistributedOperator<S>& of_columns,
               const EntryTableHandle<S>& entry, const RankRows& rows, const Plan& plan,
               const Device& device, const int* given_up = nullptr)
      : ranks_(of_rows.ranks()),
        device_(device),
        column_basis_(of_columns.row_basis()),
        width_(entry->sizes.vector_components) {
    const Partition& partition = of_columns.partition();
    std::vector<Index> columns;
    guard(ranks_, [&] {
      columns = find_columns(partition, rows);
      halo_ = make_halo(ranks_, partition, std::move(halo_columns_));
    });
    together(ranks_, [&] {
      for (Index& row : halo_.sent_rows) row = column_basis_->position(row);
      if (is_alone()) {  // it reads x where that lies
        for (Index& column : columns) column = copied_rows_[static_cast<std::size_t>(column)];
        copied_rows_.clear();
      }
      const auto read = static_cast<Offset>(copied_rows_.size() + halo_.columns.size());
      const auto of_x = Basis::natural(is_alone() ? column_basis_->size() : checked_index(read));
      const PatternView pattern{of_rows.rows(), of_x->size(), OffsetsView(rows.offsets.data()),
                                columns.data()};
      matrix_ = std::make_shared<SlicedOperator<S>>(entry, pattern, ComponentOrder::row_major, plan,
                                                    device, of_rows.row_basis(), of_x);
      x_ = Array<S>(scalars(read), device);
      if (!device.on_gpu()) make_messages();
    });
    if constexpr (has_cuda) {
      if (!device.on_gpu()) return;
      guard(ranks_, [&] {
        bool exchange_all = false;
        if (given_up != nullptr) {
          const std::vector<long long> alone = gather(ranks_, is_alone() ? 1 : 0);
          const auto count = std::count(alone.begin(), alone.end(), 1);
          exchange_all = count == 0;
          may_be_captured_ = exchange_all || count == std::ssize(alone);
        }
        on_gpu_ = cuda::make_device_product(ranks_, halo_, copied_rows_, scalars(1) * sizeof(S),
                                            device, exchange_all ? given_up : nullptr);
      });
    }
  }

  /// True if a graph of this rank may hold `apply`, as those of all others then do.
  bool may_be_captured() const { return may_be_captured_; }
  /// Takes the values of this rank's entries, in the given order.
  void update_values(std::span<const std::byte> values) { matrix_->update_values(values); }
  long long memory() const {
    return matrix_->memory().total() +
           static_cast<long long>((x_.size() + sent_.size()) * sizeof(S));
  }

  Index rows() const override { return matrix_->rows(); }
  Index columns() const override { return column_basis_->size(); }
  int row_components() const override { return matrix_->row_components(); }
  int column_components() const override { return width_; }
  std::shared_ptr<const Basis> row_basis() const override { return matrix_->row_basis(); }
  std::shared_ptr<const Basis> column_basis() const override { return column_basis_; }
  Device device() const override { return device_; }
  Ring ring() const override { return matrix_->ring(); }
  long long bytes_of_product() const override {
    return matrix_->bytes_of_product() + static_cast<long long>(2 * x_.size() * sizeof(S));
  }

  /// x and y in the bases of the two operators.
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    check_operand(x, columns(), width_, *column_basis_, "x");
    // Checked here, so that ranks that exchange nothing refuse exactly what the others do.
    if (!x.is_aos()) throw Error(ErrorKind::size_mismatch, "x: rows must lie one after the other");
    check_apart(x, y, "x", "y");
    if (is_alone()) {
      const FieldView<const S> own(x.data, x.size, width_);  // the matrix knows no basis of it
      return matrix_->apply(alpha, own, beta, y, stream);
    }
    const FieldView<const S> read(x_.data(), matrix_->columns(), width_);
    if (on_gpu_) {
      return on_gpu_->run(
          ExchangeMode::vector, false, x.data, x_.data(), stream, [](const Stream&) {},
          [&](const Stream& on) { matrix_->apply(alpha, read, beta, y, on); });
    }
    sent_runs_.gather(x.data, scalars(1), sent_.data(), stream);
    copied_runs_.gather(x.data, scalars(1), x_.data(), stream);
    ranks_.begin_exchange(sends_, receives_);
    ranks_.end_exchange();
    matrix_->apply(alpha, read, beta, y, stream);
  }

 private:
  /// True if it exchanges nothing with other ranks.
  bool is_alone() const { return halo_.sends.empty() && halo_.receives.empty(); }
  std::size_t scalars(Offset rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width_);
  }

  /// For each entry its place in `x_`: own rows that are read, in the order of their basis, then
  /// those of other ranks, in the order of their numbers.
  std::vector<Index> find_columns(const Partition& partition, const RankRows& rows) {
    const long long first = partition.first_row(ranks_.rank());
    const long long end = partition.first_row(ranks_.rank() + 1);
    const auto is_own = [&](long long number) { return number >= first && number < end; };
    const auto position_of = [&](long long number) {
      return column_basis_->position(static_cast<Index>(number - first));
    };
    for (const long long column : rows.columns) {
      const long long number = partition.number(column);
      if (is_own(number)) {
        copied_rows_.push_back(position_of(number));
      } else {
        halo_columns_.push_back(number);
      }
    }
    const auto make_unique = [](auto& numbers) {
      std::sort(numbers.begin(), numbers.end());
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    };
    make_unique(copied_rows_);
    make_unique(halo_columns_);
    const auto place_in = [](const auto& numbers, const auto& number) {
      return std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin();
    };
    std::vector<Index> places;
    places.reserve(rows.columns.size());
    for (const long long column : rows.columns) {
      const long long number = partition.number(column);
      const auto place = is_own(number)
                             ? place_in(copied_rows_, position_of(number))
                             : std::ssize(copied_rows_) + place_in(halo_columns_, number);
      places.push_back(checked_index(place));
    }
    return places;
  }

  void make_messages() {
    copied_runs_ = RowRuns(copied_rows_);
    sent_runs_ = RowRuns(halo_.sent_rows);
    sent_ = Array<S>(scalars(static_cast<Offset>(halo_.sent_rows.size())), device_);
    const auto rows_of = [this](Array<S>& array, std::size_t first, const HaloPart& part) {
      return std::span(array.data() + first + scalars(part.first), scalars(part.count));
    };
    const std::size_t own = scalars(static_cast<Offset>(copied_rows_.size()));
    for (const HaloPart& part : halo_.receives) {
      receives_.push_back({part.rank, std::as_writable_bytes(rows_of(x_, own, part))});
    }
    for (const HaloPart& part : halo_.sends) {
      sends_.push_back({part.rank, std::as_bytes(rows_of(sent_, 0, part))});
    }
  }

  Communicator& ranks_;
  Device device_;
  std::shared_ptr<const Basis> column_basis_;
  int width_;
  bool may_be_captured_ = false;
  std::vector<Index> copied_rows_;
  RowRuns copied_runs_, sent_runs_;      // on the CPU
  std::vector<long long> halo_columns_;  // until `halo_` has them
  Halo halo_;
  std::shared_ptr<SlicedOperator<S>> matrix_;
  mutable Array<S> x_, sent_;
  std::vector<Message<const std::byte>> sends_;
  std::vector<Message<std::byte>> receives_;
  std::shared_ptr<cuda::DeviceProduct> on_gpu_;  // null on the CPU
};

}  // namespace heddle::detail
