#include "user_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "base/text/readable.hpp"
#include "heddle/tools/team.hpp"
#include "stored_scalars.hpp"

namespace heddle::detail {

namespace {

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

/// Rows differ in length.
constexpr Offset rows_at_once = 64;

/// Maximum number of products of scalars, up to a small factor: minutes for all rows of a thread,
/// or for a single one.
constexpr double max_work_of_thread = 2e12;

double work_of_row(double entries, const PatternUse& use) {
  return std::pow(entries * use.numbers, 3) * use.ring * use.ring;
}

/// Totals of the counted rows.
struct PatternTotals {
  std::atomic<double> work{0};
  std::atomic<Offset> entries{0};
  std::atomic<Index> long_row{-1};  // the last one that is more than a thread's work
};

/// Throws `Error` if a pattern costs too much.
class PatternLimits {
 public:
  PatternLimits(const PatternUse& use, const RowsOfRank& of_rank, const Stream& host)
      : use_(use),
        of_rank_(of_rank),
        threads_(std::max(host.threads, 1)),
        available_(available_host_memory() / of_rank.sharing_memory) {}

  /// True if `row` need not be counted any more.
  bool are_exceeded(Index row, const PatternTotals& totals) const {
    return row < totals.long_row || takes_too_long(totals) || needed(totals) > available_;
  }
  void add_row(Index row, Offset entries, PatternTotals& totals) const {
    const double work = work_of_row(static_cast<double>(entries), use_);
    totals.work += work;
    totals.entries += entries;
    if (work <= max_work_of_thread) return;
    for (Index last = totals.long_row;
         row > last && !totals.long_row.compare_exchange_weak(last, row);) {
    }
  }
  /// The message does not depend on which rows were counted first.
  void check(const PatternTotals& totals) const {
    const std::string who = use_.who;
    if (const Index row = totals.long_row; row >= 0) {
      const auto longest = static_cast<long long>(
          std::cbrt(max_work_of_thread / (double(use_.ring) * use_.ring)) / use_.numbers);
      throw Error(ErrorKind::unsupported,
                  who + ": row " + std::to_string(of_rank_.row_of_all(row)) +
                      " of the pattern (counted from 0) has more than " + std::to_string(longest) +
                      " entries, whose dense system would take many minutes" + advice);
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
  static constexpr const char* advice = "; use a lower power, or jacobi";

  bool takes_too_long(const PatternTotals& totals) const {
    return totals.work > max_work_of_thread * threads_;
  }
  double needed(const PatternTotals& totals) const {
    return static_cast<double>(totals.entries) *
           static_cast<double>(use_.bytes + static_cast<long long>(sizeof(Index)));
  }

  PatternUse use_;
  const RowsOfRank& of_rank_;
  int threads_;
  long long available_;
};

}  // namespace

template <class S>
const std::byte* readable_values(const SlicedOperator<S>& matrix, Array<std::byte>& copied) {
  const std::span<const std::byte> stored = matrix.stored_values();
  if (!matrix.device().on_gpu()) return stored.data();
  if (copied.size() < stored.size()) {
    copied = Array<std::byte>(stored.size(), Device::cpu(matrix.device().threads()));
  }
  copy_bytes(copied.data(), stored.data(), stored.size(), matrix.device().stream());
  return copied.data();
}

template <class S, class D>
void read_values(const SlicedOperator<S>& matrix, const StoredRows& rows, Array<D>& values,
                 const Stream& host) {
  const SlicedPattern& pattern = matrix.pattern();
  const int K = matrix.entry().sizes.components, bytes = matrix.entry().sizes.stored_bytes;
  Array<std::byte> copied;
  const std::byte* const from = readable_values(matrix, copied);
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
                    const RowsOfRank& of_rank, const Stream& host) {
  const Index n = rows.rows();
  const int team = team_size(host, rows.entries() * power * power);
  UserRows powers;
  powers.offsets = Array<Offset>(static_cast<std::size_t>(n) + 1);
  const PatternLimits limits(use, of_rank, host);
  PatternTotals totals;
  const auto for_each_row = [&](const auto& body) {
    parallel_shares(team, n, rows_at_once, [&](auto&& for_each) {
      PowerScratch scratch;
      // Backwards, since the last rows are the longest if only the part below the diagonal counts.
      for_each([&](Index later_rows) {
        const Index row = n - 1 - later_rows;
        if (!of_rank.owns(row) || limits.are_exceeded(row, totals)) return;
        reach(rows, row, power, lower, scratch);
        body(row, scratch.reached);
      });
    });
  };
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    const auto entries = static_cast<Offset>(reached.size());
    powers.offsets[static_cast<std::size_t>(row) + 1] = entries;
    limits.add_row(row, entries, totals);
  });
  limits.check(totals);
  sum_up(powers.offsets);
  powers.column = Array<Index>(static_cast<std::size_t>(powers.entries()));
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    std::copy(reached.begin(), reached.end(), powers.column.data() + powers.begin(row));
  });
  return powers;
}

Index first_row_without_diagonal(const UserRows& rows, const RowsOfRank& of_rank) {
  for (Index row = 0; row < rows.rows(); ++row) {
    if (!of_rank.owns(row)) continue;
    const std::span<const Index> columns = rows.row(row);
    if (!std::binary_search(columns.begin(), columns.end(), row)) return row;
  }
  return rows.rows();
}

template const std::byte* readable_values(const SlicedOperator<float>&, Array<std::byte>&);
template const std::byte* readable_values(const SlicedOperator<double>&, Array<std::byte>&);
HEDDLE_IN_LONG_DOUBLE(template const std::byte* readable_values(const SlicedOperator<long double>&,
                                                                Array<std::byte>&);)
template void read_values(const SlicedOperator<float>&, const StoredRows&, Array<double>&,
                          const Stream&);
template void read_values(const SlicedOperator<double>&, const StoredRows&, Array<double>&,
                          const Stream&);
HEDDLE_IN_LONG_DOUBLE(template void read_values(const SlicedOperator<long double>&,
                                                const StoredRows&, Array<long double>&,
                                                const Stream&);)

}  // namespace heddle::detail
