#include "user_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "base/memory_limits.hpp"
#include "base/readable.hpp"
#include "heddle/tools/team.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

/// An array that the host can read: itself, or a copy of one on a GPU.
template <class T>
class OnHost {
 public:
  explicit OnHost(const Array<T>& array) : data_(array.data()) {
    if (!array.device().on_gpu() || array.empty()) return;
    kept_ = array.to_host();
    data_ = kept_.data();
  }
  /// Null for an empty array.
  const T* data() const { return data_; }

 private:
  const T* data_;
  std::vector<T> kept_;
};

/// Adds the columns of `rows` to `reached`, sorted and once each.
void add_rows(const UserRows& rows, std::span<const Index> added, std::vector<Index>& reached) {
  for (const Index row : added) {
    const std::span<const Index> columns = rows.row(row);
    reached.insert(reached.end(), columns.begin(), columns.end());
  }
  std::sort(reached.begin(), reached.end());
  reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
}

struct PowerScratch {
  std::vector<Index> reached, before, news;
};

/// Row `row` of A^power, in `scratch.reached`.
void reach(const UserRows& rows, Index row, int power, bool lower, PowerScratch& scratch) {
  auto& [reached, before, news] = scratch;
  reached.assign(1, row);
  news = reached;
  for (int step = 0; step < power; ++step) {
    before = reached;
    add_rows(rows, news, reached);
    news.clear();
    std::set_difference(reached.begin(), reached.end(), before.begin(), before.end(),
                        std::back_inserter(news));
  }
  if (lower) reached.erase(std::upper_bound(reached.begin(), reached.end(), row), reached.end());
}

void sum_up(Array<Offset>& offsets) {
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
}

/// Rows differ in length.
constexpr Offset rows_at_once = 64;

/// Products of scalars, up to a small factor: some ten seconds for one row, and minutes for all
/// that a thread has.
constexpr double most_work_of_row = 1e11, most_work_of_thread = 2e12;

double work_of_row(double entries, const PatternUse& use) {
  return std::pow(entries * use.numbers, 3) * use.ring * use.ring;
}

/// What counted rows add up to.
struct PatternTotals {
  std::atomic<double> work{0};
  std::atomic<Offset> entries{0};
  std::atomic<bool> has_long_row{false};
};

/// Throws `Error` for what a pattern costs.
class PatternLimits {
 public:
  PatternLimits(const PatternUse& use, const Stream& host)
      : use_(use), threads_(std::max(host.threads, 1)), available_(available_host_memory()) {}

  bool are_exceeded(const PatternTotals& totals) const {
    return totals.has_long_row || takes_too_long(totals) || needed(totals) > available_;
  }
  void add_row(Offset entries, PatternTotals& totals) const {
    const double work = work_of_row(static_cast<double>(entries), use_);
    totals.work += work;
    totals.entries += entries;
    if (work > most_work_of_row) totals.has_long_row = true;
  }
  /// The words do not depend on which rows were counted first.
  void check(const PatternTotals& totals) const {
    const std::string who = use_.who;
    if (totals.has_long_row) {
      const auto longest = static_cast<long long>(
          std::cbrt(most_work_of_row / (double(use_.ring) * use_.ring)) / use_.numbers);
      throw Error(ErrorKind::unsupported,
                  who + ": a row of the pattern has more than " + std::to_string(longest) +
                      " entries, whose dense system takes too long" + advice);
    }
    if (takes_too_long(totals)) {
      throw Error(ErrorKind::unsupported, who +
                                              ": the dense systems of the rows take too long on " +
                                              std::to_string(threads_) + " threads" + advice);
    }
    if (needed(totals) > available_) {
      throw Error(ErrorKind::memory,
                  who + ": the pattern and its operators need more of the host's memory than the " +
                      readable_bytes(available_) + " that are available" + advice);
    }
  }

 private:
  static constexpr const char* advice = "; take a lower power, or jacobi";

  bool takes_too_long(const PatternTotals& totals) const {
    return totals.work > most_work_of_thread * threads_;
  }
  double needed(const PatternTotals& totals) const {
    return static_cast<double>(totals.entries) *
           static_cast<double>(use_.bytes + static_cast<long long>(sizeof(Index)));
  }

  PatternUse use_;
  int threads_;
  long long available_;
};

}  // namespace

StoredRows stored_rows(const SlicedPattern& pattern, const Stream& host) {
  const OnHost offset(pattern.offset);
  const OnHost first_row(pattern.first_row), length(pattern.row_length), column(pattern.column),
      target(pattern.target);
  const OnHost threads(pattern.threads);
  const SlicesView slices{pattern.C,     pattern.T,        pattern.slices(),
                          offset.data(), first_row.data(), threads.data()};
  const Index n = pattern.rows;
  const auto row_of = [&](Index stored) {
    return pattern.row_basis->user_row(target.data() != nullptr ? target.data()[stored] : stored);
  };
  const auto length_of = [&](Index stored) {
    return length.data() != nullptr
               ? length.data()[stored]
               : static_cast<Index>(offset.data()[stored + 1] - offset.data()[stored]);
  };
  const auto entries = static_cast<std::size_t>(pattern.entries);
  StoredRows rows;
  rows.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  rows.column = Array<Index>(entries);
  rows.slot = Array<Offset>(entries);
  for (Index stored = 0; stored < n; ++stored) {
    rows.offsets[static_cast<std::size_t>(row_of(stored)) + 1] = length_of(stored);
  }
  sum_up(rows.offsets);
  parallel_shares(team_size(host, pattern.entries), n, rows_at_once, [&](auto&& for_each) {
    std::vector<std::pair<Index, Offset>> order;
    for_each([&](Index stored) {
      const SlicesView::RowPlace place = slices.place_of(stored);
      const Index count = length_of(stored);
      order.clear();
      for (Index j = 0; j < count; ++j) {
        const Offset slot = slot_of(place.offset, slices.C, place.T, place.r, j);
        order.emplace_back(pattern.column_basis->user_row(column.data()[slot]), slot);
      }
      std::sort(order.begin(), order.end());
      auto to = static_cast<std::size_t>(rows.begin(row_of(stored)));
      for (const auto& [user_column, slot] : order) {
        rows.column[to] = user_column;
        rows.slot[to++] = slot;
      }
    });
  });
  return rows;
}

template <class S, class D>
void read_values(const SlicedOperator<S>& matrix, const StoredRows& rows, Array<D>& values,
                 const Stream& host) {
  const SlicedPattern& pattern = matrix.pattern();
  const int K = matrix.entry().sizes.components, bytes = matrix.entry().sizes.stored_bytes;
  const std::span<const std::byte> stored = matrix.stored_values();
  std::vector<std::byte> copied;
  const std::byte* from = stored.data();
  if (matrix.device().on_gpu()) {
    copied.resize(stored.size());
    copy_bytes(copied.data(), stored.data(), stored.size(), matrix.device().stream());
    from = copied.data();
  }
  const SlotRule rule = slot_rule(matrix.plan().layout.inner, K, pattern.C, pattern.slots, bytes);
  parallel_for(team_size(host, rows.entries() * K), rows.entries(), [&](Offset i) {
    const Offset slot = rows.slot[static_cast<std::size_t>(i)];
    const Offset lane = slot % pattern.C;
    for (int k = 0; k < K; ++k) {
      values[static_cast<std::size_t>(i * K + k)] =
          get_stored<D>(from, bytes, rule(slot - lane, static_cast<int>(lane), k));
    }
  });
}

UserRows power_rows(const UserRows& rows, int power, bool lower, const PatternUse& use,
                    const Stream& host) {
  const Index n = rows.rows();
  const int team = team_size(host, rows.entries() * power * power);
  UserRows powers;
  powers.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  const PatternLimits limits(use, host);
  PatternTotals totals;
  const auto for_each_row = [&](const auto& body) {
    parallel_shares(team, n, rows_at_once, [&](auto&& for_each) {
      PowerScratch scratch;
      // Backwards: the last rows are the longest ones where only what is below the diagonal counts.
      for_each([&](Index behind) {
        if (limits.are_exceeded(totals)) return;
        const Index row = n - 1 - behind;
        reach(rows, row, power, lower, scratch);
        body(row, scratch.reached);
      });
    });
  };
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    const auto entries = static_cast<Offset>(reached.size());
    powers.offsets[static_cast<std::size_t>(row) + 1] = entries;
    limits.add_row(entries, totals);
  });
  limits.check(totals);
  sum_up(powers.offsets);
  powers.column = Array<Index>(static_cast<std::size_t>(powers.entries()));
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    std::copy(reached.begin(), reached.end(), powers.column.data() + powers.begin(row));
  });
  return powers;
}

Index first_row_without_diagonal(const UserRows& rows) {
  for (Index row = 0; row < rows.rows(); ++row) {
    const std::span<const Index> columns = rows.row(row);
    if (!std::binary_search(columns.begin(), columns.end(), row)) return row;
  }
  return rows.rows();
}

UserRows transposed(const UserRows& rows, Array<Offset>& place) {
  const Index n = rows.rows();
  const auto entries = static_cast<std::size_t>(rows.entries());
  UserRows turned;
  turned.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  turned.column = Array<Index>(entries);
  place = Array<Offset>(entries);
  for (const Index column : rows.column) ++turned.offsets[static_cast<std::size_t>(column) + 1];
  sum_up(turned.offsets);
  std::vector<Offset> next(turned.offsets.begin(), turned.offsets.end());
  for (Index row = 0; row < n; ++row) {
    for (Offset i = rows.begin(row); i < rows.begin(row + 1); ++i) {
      const auto column = static_cast<std::size_t>(rows.column[static_cast<std::size_t>(i)]);
      const Offset to = next[column]++;
      turned.column[static_cast<std::size_t>(to)] = row;
      place[static_cast<std::size_t>(i)] = to;
    }
  }
  return turned;
}

template void read_values(const SlicedOperator<float>&, const StoredRows&, Array<double>&,
                          const Stream&);
template void read_values(const SlicedOperator<double>&, const StoredRows&, Array<double>&,
                          const Stream&);
template void read_values(const SlicedOperator<long double>&, const StoredRows&,
                          Array<long double>&, const Stream&);

}  // namespace heddle::detail
