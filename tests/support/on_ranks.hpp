// Matrices whose rows ranks share, for tests: a rank's part of a matrix that every rank has.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/distributed_operator.hpp"
#include "heddle/error.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test {

/// Ranges that begin at random groups, some of them empty.
inline Partition random_partition(Index rows, int ranks, Generator& generator) {
  const int groups = groups_of(rows);
  std::vector<long long> first{0};
  for (int r = 1; r < ranks; ++r) {
    first.push_back(
        std::min<long long>(rows, 256LL * random_between(0, std::max(groups, 0), generator)));
  }
  std::sort(first.begin(), first.end());
  first.push_back(rows);
  return Partition(std::move(first));
}

/// A rank's rows, as `distribute` takes them.
template <class E>
struct PartOfRank {
  RankRows rows;
  std::vector<E> values;
};
template <class E>
PartOfRank<E> rows_of_rank(const CsrMatrix<E>& matrix, const Partition& partition, int rank) {
  PartOfRank<E> part;
  const long long end = partition.first_row(rank + 1);
  for (long long number = partition.first_row(rank); number < end; ++number) {
    const long long row = partition.row(number);
    for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
      part.rows.columns.push_back(matrix.column()[k]);
      part.values.push_back(matrix.entry(k));
    }
    part.rows.offsets.push_back(static_cast<Offset>(part.values.size()));
  }
  return part;
}

template <class E>
std::shared_ptr<DistributedOperator<vector_scalar_t<E>>> part_of(
    const CsrMatrix<E>& matrix, const Partition& partition, Communicator& ranks,
    const Plan& plan = {}, ExchangeMode mode = ExchangeMode::task,
    const Device& device = Device::cpu(1), BoundaryStorage boundary = BoundaryStorage::whole) {
  const PartOfRank<E> part = rows_of_rank(matrix, partition, ranks.rank());
  return distribute<E>(ranks, partition, part.rows, std::span<const E>(part.values), plan, mode,
                       device, boundary);
}

/// The error that `make` reports for the matrix on each of three ranks, which then go on together.
template <class E, class Make>
std::string error_of_three_ranks(const CsrMatrix<E>& matrix, const Make& make) {
  std::vector<std::string> errors(3);
  run_on_ranks(3, [&](Communicator& ranks) {
    const auto A = part_of(matrix, Partition::even(matrix.rows(), 3), ranks);
    try {
      make(*A);
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
    gather(ranks, 0);
  });
  EXPECT_EQ(errors[1], errors[0]);
  EXPECT_EQ(errors[2], errors[0]);
  return errors[0];
}

/// Assigns groups of rows to random ranks, some of which get none.
inline Partition random_owners(Index rows, int ranks, Generator& generator) {
  std::vector<int> owners(static_cast<std::size_t>(groups_of(rows)));
  for (int& owner : owners) owner = random_between(0, ranks - 1, generator);
  return Partition::by_owner(rows, ranks, owners);
}

/// A different kind of partition for 2, for 3 and for other numbers of ranks.
inline Partition some_partition(Index rows, int ranks, Generator& generator) {
  if (ranks == 2) return random_owners(rows, ranks, generator);
  if (ranks == 3) return random_partition(rows, ranks, generator);
  return Partition::even(rows, ranks);
}

/// Copies this rank's rows out of a field in the order of all rows, and back.
template <class S>
std::vector<S> take_rows(const std::vector<S>& all, int width, const Partition& partition,
                         int rank) {
  std::vector<S> own;
  for (long long i = 0; i < partition.rows_of(rank); ++i) {
    const auto row = all.begin() + partition.row(partition.first_row(rank) + i) * width;
    own.insert(own.end(), row, row + width);
  }
  return own;
}
template <class S>
void put_rows(const std::vector<S>& own, int width, const Partition& partition, int rank,
              std::vector<S>& all) {
  for (long long i = 0; i < partition.rows_of(rank); ++i) {
    std::copy_n(own.begin() + i * width, width,
                all.begin() + partition.row(partition.first_row(rank) + i) * width);
  }
}

/// This rank's rows of a field in the order of all rows, for a partition of ranges.
template <class S>
FieldView<S> rows_of(const FieldView<S>& all, const Partition& partition, int rank) {
  return {all.data + partition.first_row(rank) * all.components, partition.rows_of(rank),
          all.components};
}

}  // namespace heddle::test
