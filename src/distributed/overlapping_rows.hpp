// A rank's rows and those of other ranks that it needs whole, as a small square matrix; and rows of
// an adjoint.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "distributed/exchange/row_exchange.hpp"
#include "matrix/stored_rows.hpp"
#include "solvers/tiles/stored_scalars.hpp"
#include "solvers/tiles/user_rows.hpp"

namespace heddle::detail {

/// Values of entries: this rank has some of them, and others come from neighbours.
struct EntrySources {
  std::vector<Offset> place;  // for each entry: among this rank's, then among those received
  Offset own = 0;

  /// `own_values` and `received`: `bytes` bytes per entry.
  const std::byte* value(Offset entry, std::span<const std::byte> own_values,
                         std::span<const std::byte> received, std::size_t bytes) const {
    const Offset at = place[static_cast<std::size_t>(entry)];
    return at < own ? own_values.data() + static_cast<std::size_t>(at) * bytes
                    : received.data() + static_cast<std::size_t>(at - own) * bytes;
  }
};

/// Rows of a rank overlap those of its neighbours: all are numbered from 0 in the order of all
/// ranks' rows, and keep the columns that are among them.
class OverlappingRows {
 public:
  /// `ghosts`: rows of other ranks, as ranks number them, ascending.
  OverlappingRows(Communicator& ranks, const Partition& partition, std::vector<long long> ghosts);

  RowsOfRank rows_of_rank() const;
  /// Sets the rows that this rank knows; others are empty. `known` are some of the ghosts,
  /// `of_known` their rows.
  void set_rows(const RankRows& own, std::span<const long long> known, const RankRows& of_known);
  /// Requests the rows that `pattern` has for columns, and from then on their values. Collective.
  void fetch_rows(const RankRows& own, const UserRows& pattern);
  const UserRows& rows() const { return rows_; }

  /// The components, `count` scalars of `stored_bytes` each, of all entries, from those of this
  /// rank's. Collective.
  template <class D>
  Array<D> components(std::span<const std::byte> own, int count, int stored_bytes) const {
    const auto bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(stored_bytes);
    const std::vector<std::byte> received = exchange_->values(own, bytes);
    Array<D> all(sources_.place.size() * static_cast<std::size_t>(count));
    D* to = all.data();
    for (Offset e = 0; e < rows_.entries(); ++e) {
      const std::byte* const value = sources_.value(e, own, received, bytes);
      for (int k = 0; k < count; ++k) *to++ = get_stored<D>(value, stored_bytes, k);
    }
    return all;
  }

  /// This rank's rows of a matrix whose other rows are empty, columns counted among all rows.
  RankRows rows_among_all(const UserRows& rows) const;

 private:
  friend class AdjointRows;

  /// -1 for a row that is not among them.
  Index place_of(long long row) const;
  std::vector<Index> places_of_fetched() const;

  Communicator& ranks_;
  Partition partition_;
  std::vector<long long> ghosts_;
  std::vector<Index> own_places_, ghost_places_;
  UserRows rows_;
  EntrySources sources_;
  Halo halo_;  // for the requested rows
  std::optional<RowExchange> exchange_;
};

/// Numbers of the rows of other ranks that this rank's rows reach in `power` steps of the pattern,
/// and the rows of those that they reach in one step fewer. Collective.
struct ReachedRows {
  std::vector<long long> numbers;
  std::vector<long long> known;
  RankRows of_known;
};
ReachedRows reached_rows(Communicator& ranks, const Partition& partition, const RankRows& own,
                         int power);

/// This rank's rows of an adjoint, from entries of its own rows and those of its neighbours'.
class AdjointRows {
 public:
  /// `transposed`: the transpose of this rank's rows of the matrix, of which `overlap` has fetched
  /// the columns. Collective.
  AdjointRows(const OverlappingRows& overlap, const UserRows& transposed);

  /// The rows, until they are taken.
  RankRows take_rows() { return std::move(rows_); }
  /// The values, from those of `transposed`, `bytes` bytes each. Collective.
  std::vector<std::byte> values(std::span<const std::byte> transposed, std::size_t bytes) const;

 private:
  RowExchange exchange_;
  RankRows rows_;
  EntrySources sources_;
};

}  // namespace heddle::detail
