// Assembly over ranks: triplets on any rank, sent to the ranks whose rows they are in.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/partition.hpp"
#include "heddle/triplets.hpp"

namespace heddle {

/// `value` at (`row`, `column`), counted from 0 among the rows and columns of all ranks.
template <class E>
struct HEDDLE_EXPORT RankTriplet {
  long long row;
  long long column;
  E value;
};

namespace detail {

/// The place of a triplet.
struct TripletPlace {
  long long row;
  long long column;

  bool operator==(const TripletPlace&) const = default;
};

/// The triplets that go to each rank, and those that come from there.
class HEDDLE_EXPORT TripletExchange {
 public:
  /// Collective. Throws one `Error` (out_of_range) on all ranks for a place outside the matrix.
  TripletExchange(Communicator& ranks, const Partition& partition,
                  std::vector<TripletPlace> places);

  std::size_t given() const { return order_.size(); }
  /// Places in this rank's rows: those of rank 0 first, in each rank's own order.
  const std::vector<TripletPlace>& received() const { return received_; }

  /// The values of the received triplets, `bytes` each, from the values of the given ones, which
  /// start at `first` and are `stride` bytes apart. Collective.
  std::vector<std::byte> send(const std::byte* first, std::size_t stride, std::size_t bytes) const;

 private:
  Communicator& ranks_;
  std::vector<std::size_t> order_;      // order of the given triplets, by the rank that they go to
  std::vector<std::size_t> to_, from_;  // numbers of triplets that go to, and come from, each rank
  std::vector<TripletPlace> received_;
};

/// The rows of a rank that have these places, and the triplets that each of their entries is the
/// sum of.
HEDDLE_EXPORT OrderedTriplets order_for_rank(const Partition& partition, int rank,
                                             const std::vector<TripletPlace>& places,
                                             RankRows& rows);

}  // namespace detail

/// This rank's rows of a matrix, from triplets of all ranks. Triplets of one place are added in the
/// order of the ranks that have them, then of each rank's list: if ranks have parts of one list,
/// rank after rank, the sums have the same bits for any number of ranks. A rank keeps its triplets'
/// places and its rows, but nothing of the other ranks'.
template <class E>
  requires std::is_same_v<E, arithmetic_t<E>>
class RankAssembly {
 public:
  /// Collective. Throws one `Error` (out_of_range) on all ranks for a place outside the matrix. A
  /// message from one rank to another takes less than 2^31 bytes under MPI.
  RankAssembly(Communicator& ranks, const Partition& partition,
               std::span<const RankTriplet<E>> triplets)
      : ranks_(ranks), exchange_(ranks, partition, places_of(triplets)) {
    together(ranks, [&] { order(partition); });
    update_values(triplets);
  }

  /// Columns of a row ascend.
  const RankRows& rows() const { return rows_; }
  /// The rows' entries, in the form that `distribute` and `DistributedOperator::update_values`
  /// take.
  std::span<const E> values() const { return values_; }

  /// Sets new values of the same triplets; their places are not read again. Collective. Throws one
  /// `Error` (size_mismatch) on all ranks for another number of triplets.
  void update_values(std::span<const RankTriplet<E>> triplets) {
    together(ranks_, [&] {
      if (triplets.size() == exchange_.given()) return;
      throw Error(ErrorKind::size_mismatch,
                  "rank " + std::to_string(ranks_.rank()) + " has assembled " +
                      std::to_string(exchange_.given()) + " triplets, but was given values of " +
                      std::to_string(triplets.size()));
    });
    const auto* const first =
        triplets.empty() ? nullptr : reinterpret_cast<const std::byte*>(&triplets.front().value);
    const std::vector<std::byte> received =
        exchange_.send(first, sizeof(RankTriplet<E>), sizeof(E));
    using S = stored_scalar_t<E>;
    std::vector<S> scalars(received.size() / sizeof(S));
    if (!received.empty()) std::memcpy(scalars.data(), received.data(), received.size());
    std::span<S> sums(reinterpret_cast<S*>(values_.data()), values_.size() * E::components);
    map_.apply(std::span<const S>(scalars), sums);
  }

 private:
  static_assert(sizeof(E) == sizeof(stored_scalar_t<E>) * E::components);

  static std::vector<detail::TripletPlace> places_of(std::span<const RankTriplet<E>> triplets) {
    std::vector<detail::TripletPlace> places;
    places.reserve(triplets.size());
    for (const RankTriplet<E>& triplet : triplets) places.push_back({triplet.row, triplet.column});
    return places;
  }

  void order(const Partition& partition) {
    detail::OrderedTriplets ordered =
        detail::order_for_rank(partition, ranks_.rank(), exchange_.received(), rows_);
    values_.resize(rows_.columns.size());
    map_ = ValueMap<E>(std::move(ordered.first), std::move(ordered.triplet));
  }

  Communicator& ranks_;
  detail::TripletExchange exchange_;
  RankRows rows_;
  std::vector<E> values_;
  ValueMap<E> map_;
};

}  // namespace heddle
