// Gauss-Seidel's iteration over rows that ranks share: one rank's part of each colour.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "distributed/device_product.hpp"
#include "distributed/exchange/halo.hpp"
#include "distributed/exchange/row_runs.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/distributed_operator.hpp"
#include "solvers/multigrid/coloured_rows.hpp"

namespace heddle::detail {

/// The rows of this rank as `ColouredOperators`: its places by colour, followed by the rows of
/// other ranks that it reads. After each colour the ranks exchange what that colour has changed, so
/// that a sweep has the bits of one process. On GPUs the whole halo moves each time, since starting
/// a copy takes longer than most halos do.
template <class S>
class RankColours {
 public:
  /// `rows`: this rank's rows of D^-1 (A - D), entries in the order of the places of all rows.
  /// `colour`: that of each of its rows, below `count`. Without values yet. Collective.
  RankColours(const DistributedOperator<S>& matrix, const EntryTableHandle<S>& entry,
              const RankRows& rows, std::vector<long long> colour, int count, const Plan& plan,
              const Device& device)
      : ranks_(matrix.ranks()),
        partition_(matrix.partition()),
        first_row_(partition_.first_row(ranks_.rank())),
        count_(static_cast<std::size_t>(count)),
        width_(static_cast<std::size_t>(matrix.row_components())),
        colour_(std::move(colour)) {
    guard(ranks_, [&] {
      halo_ = make_halo(ranks_, partition_, columns_of_others(rows));
      exchange_colours();
    });
    const auto jacobi = matrix.jacobi();
    together(ranks_, [&] {
      sort_by_colour(halo_.receives, halo_colour_, halo_.columns, place_in_halo_);
      std::vector<Index> ignored;
      sort_by_colour(halo_.sends, sent_colour_, halo_.sent_rows, ignored);
      Array<Index> row = find_places();
      for (Index& sent : halo_.sent_rows) sent = place_[static_cast<std::size_t>(sent)];
      operators_ = std::make_shared<ColouredOperators<S>>(matrix, jacobi, row, begin_,
                                                          checked_index(halo_columns_.size()));
      make_operators(entry, rows, row, plan, device);
      if (!device.on_gpu()) make_messages();
      operators_->exchange = [this](std::size_t of, const Stream& stream) { exchange(of, stream); };
    });
    if constexpr (has_cuda) {
      if (!device.on_gpu()) return;
      guard(ranks_, [&] {
        on_gpu_ = cuda::make_device_product(ranks_, halo_, {}, width_ * sizeof(S), device);
      });
    }
  }
  RankColours(const RankColours&) = delete;
  RankColours& operator=(const RankColours&) = delete;

  /// Takes the values of this rank's entries, in the order of its rows.
  void update_values(std::span<const std::byte> values) {
    for (std::size_t k = 0; k < count_; ++k) {
      SlicedOperator<S>& part = *operators_->of_colour[k];
      const auto bytes = static_cast<std::size_t>(part.entry().bytes());
      std::vector<std::byte> own;
      own.reserve(entries_[k].size() * bytes);
      for (const Offset entry : entries_[k]) {
        const auto from = values.subspan(static_cast<std::size_t>(entry) * bytes, bytes);
        own.insert(own.end(), from.begin(), from.end());
      }
      part.update_values(own);
    }
    operators_->jacobi->refresh();
  }

  const std::shared_ptr<ColouredOperators<S>>& operators() const { return operators_; }
  long long memory() const {
    const ColouredOperators<S>& all = *operators_;
    std::size_t scalars = all.scaled.scalars.size() + all.right.size() + all.result.size() +
                          all.image.size() + halo_.sent_rows.size() * width_;
    auto bytes = static_cast<long long>(scalars * sizeof(S));
    for (const auto& part : all.of_colour) bytes += part->memory().total();
    return bytes;
  }

 private:
  /// The messages of one colour, on the CPU.
  struct Messages {
    RowRuns rows;
    Array<S> sent;
    std::vector<Message<const std::byte>> sends;
    std::vector<Message<std::byte>> receives;
  };

  bool is_own(long long number) const {
    return number >= first_row_ && number < partition_.first_row(ranks_.rank() + 1);
  }

  std::vector<long long> columns_of_others(const RankRows& rows) {
    for (const long long column : rows.columns) {
      const long long number = partition_.number(column);
      if (!is_own(number)) halo_columns_.push_back(number);
    }
    std::sort(halo_columns_.begin(), halo_columns_.end());
    halo_columns_.erase(std::unique(halo_columns_.begin(), halo_columns_.end()),
                        halo_columns_.end());
    return halo_columns_;
  }

  /// Exchanges the colours of the rows in the halo, and of the rows that are sent.
  void exchange_colours() {
    halo_colour_.resize(halo_.columns.size());
    for (const Index row : halo_.sent_rows) {
      sent_colour_.push_back(colour_[static_cast<std::size_t>(row)]);
    }
    std::vector<Message<const std::byte>> sends;
    sends.reserve(halo_.sends.size());
    std::vector<Message<std::byte>> receives;
    receives.reserve(halo_.receives.size());
    const auto part_of = [](std::vector<long long>& colours, const HaloPart& part) {
      return std::span(colours).subspan(static_cast<std::size_t>(part.first),
                                        static_cast<std::size_t>(part.count));
    };
    for (const HaloPart& part : halo_.sends) {
      sends.push_back({part.rank, std::as_bytes(part_of(sent_colour_, part))});
    }
    for (const HaloPart& part : halo_.receives) {
      receives.push_back({part.rank, std::as_writable_bytes(part_of(halo_colour_, part))});
    }
    ranks_.begin_exchange(sends, receives);
    ranks_.end_exchange();
  }

  /// Sorts rows of a rank by colour, on both sides of a message. `place`: where each row has gone.
  template <class Row>
  static void sort_by_colour(const std::vector<HaloPart>& parts, std::vector<long long>& colours,
                             std::vector<Row>& rows, std::vector<Index>& place) {
    std::vector<Index> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    for (const HaloPart& part : parts) {
      std::stable_sort(order.begin() + part.first, order.begin() + part.first + part.count,
                       [&](Index a, Index b) {
                         return colours[static_cast<std::size_t>(a)] <
                                colours[static_cast<std::size_t>(b)];
                       });
    }
    std::vector<long long> sorted_colours;
    std::vector<Row> sorted_rows;
    place.resize(rows.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto from = static_cast<std::size_t>(order[k]);
      sorted_colours.push_back(colours[from]);
      sorted_rows.push_back(rows[from]);
      place[from] = static_cast<Index>(k);
    }
    colours = std::move(sorted_colours);
    rows = std::move(sorted_rows);
  }

  /// The rank's row at each place.
  Array<Index> find_places() {
    begin_.assign(count_ + 1, 0);
    for (const long long own : colour_) ++begin_[static_cast<std::size_t>(own) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<Index> next(begin_.begin(), begin_.end() - 1);
    Array<Index> row(colour_.size());
    for (const long long own : colour_) {
      const Index place = next[static_cast<std::size_t>(own)]++;
      row[static_cast<std::size_t>(place)] = static_cast<Index>(place_.size());
      place_.push_back(place);
    }
    return row;
  }

  /// The place of a column in `result`.
  Index place_of(long long column) const {
    const long long number = partition_.number(column);
    if (is_own(number)) return place_[static_cast<std::size_t>(number - first_row_)];
    const auto at = std::lower_bound(halo_columns_.begin(), halo_columns_.end(), number);
    return checked_index(std::ssize(place_) +
                         place_in_halo_[static_cast<std::size_t>(at - halo_columns_.begin())]);
  }

  void make_operators(const EntryTableHandle<S>& entry, const RankRows& rows,
                      const Array<Index>& row, const Plan& plan, const Device& device) {
    const auto read = checked_index(place_.size() + halo_columns_.size());
    const auto places = Basis::natural(read);
    entries_.resize(count_);
    for (std::size_t k = 0; k < count_; ++k) {
      std::vector<Offset> offsets{0};
      std::vector<Index> columns;
      for (Index at = begin_[k]; at < begin_[k + 1]; ++at) {
        const auto own = static_cast<std::size_t>(row[static_cast<std::size_t>(at)]);
        for (Offset e = rows.offsets[own]; e < rows.offsets[own + 1]; ++e) {
          columns.push_back(place_of(rows.columns[static_cast<std::size_t>(e)]));
          entries_[k].push_back(e);
        }
        offsets.push_back(static_cast<Offset>(columns.size()));
      }
      const Index own_rows = begin_[k + 1] - begin_[k];
      const PatternView pattern{own_rows, read, OffsetsView(offsets.data()), columns.data()};
      operators_->of_colour.push_back(
          std::make_shared<SlicedOperator<S>>(entry, pattern, ComponentOrder::row_major, plan,
                                              device, Basis::natural(own_rows), places));
    }
  }

  /// The rows of a colour in a part.
  static HaloPart part_of_colour(const HaloPart& part, const std::vector<long long>& colours,
                                 std::size_t colour) {
    const auto first = colours.begin() + part.first;
    const auto [begin, end] =
        std::equal_range(first, first + part.count, static_cast<long long>(colour));
    return {part.rank, checked_index(begin - colours.begin()), checked_index(end - begin)};
  }

  void make_messages() {
    messages_.resize(count_);
    S* const halo = operators_->result.data() + place_.size() * width_;
    for (std::size_t k = 0; k < count_; ++k) {
      Messages& messages = messages_[k];
      std::vector<Index> rows;
      std::vector<HaloPart> sends;
      for (const HaloPart& whole : halo_.sends) {
        const HaloPart part = part_of_colour(whole, sent_colour_, k);
        if (part.count == 0) continue;
        sends.push_back({part.rank, checked_index(rows.size()), part.count});
        const auto from = halo_.sent_rows.begin() + part.first;
        rows.insert(rows.end(), from, from + part.count);
      }
      messages.rows = RowRuns(rows);
      messages.sent = Array<S>(rows.size() * width_);
      const auto rows_of = [this](S* from, const HaloPart& part) {
        return std::span(from + static_cast<std::size_t>(part.first) * width_,
                         static_cast<std::size_t>(part.count) * width_);
      };
      for (const HaloPart& part : sends) {
        messages.sends.push_back({part.rank, std::as_bytes(rows_of(messages.sent.data(), part))});
      }
      for (const HaloPart& whole : halo_.receives) {
        const HaloPart part = part_of_colour(whole, halo_colour_, k);
        if (part.count == 0) continue;
        messages.receives.push_back({part.rank, std::as_writable_bytes(rows_of(halo, part))});
      }
    }
  }

  void exchange(std::size_t colour, const Stream& stream) {
    S* const result = operators_->result.data();
    if (on_gpu_) {
      if (halo_.sends.empty() && halo_.receives.empty()) return;
      const auto nothing = [](const Stream&) {};
      return on_gpu_->run(ExchangeMode::vector, false, result, result + place_.size() * width_,
                          stream, nothing, nothing);
    }
    Messages& messages = messages_[colour];
    if (messages.sends.empty() && messages.receives.empty()) return;
    messages.rows.gather(result, width_, messages.sent.data(), stream);
    ranks_.begin_exchange(messages.sends, messages.receives);
    ranks_.end_exchange();
  }

  Communicator& ranks_;
  const Partition& partition_;
  long long first_row_;
  std::size_t count_, width_;
  std::vector<long long> colour_;        // for own rows
  std::vector<Index> place_;             // for own rows
  std::vector<Index> begin_;             // where the places of each colour begin, and the end
  std::vector<long long> halo_columns_;  // by number
  std::vector<Index> place_in_halo_;     // for these
  Halo halo_;                            // rows of a rank by colour
  std::vector<long long> halo_colour_, sent_colour_;
  std::vector<std::vector<Offset>> entries_;  // for each colour, in the order of its operator
  std::shared_ptr<ColouredOperators<S>> operators_;
  std::vector<Messages> messages_;               // for each colour
  std::shared_ptr<cuda::DeviceProduct> on_gpu_;  // null on the CPU
};

}  // namespace heddle::detail
