// Matrices whose rows ranks share, for tests: a rank's part of a matrix that all have.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "heddle/distributed_operator.hpp"
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

template <class E>
std::shared_ptr<DistributedOperator<vector_scalar_t<E>>> part_of(
    const CsrMatrix<E>& matrix, const Partition& partition, Communicator& ranks,
    const Plan& plan = {}, ExchangeMode mode = ExchangeMode::task,
    const Device& device = Device::cpu(1)) {
  const long long begin = partition.first_row(ranks.rank());
  const long long end = partition.first_row(ranks.rank() + 1);
  RankRows rows;
  const Offset before = matrix.offsets()[begin];
  for (long long row = begin; row < end; ++row) {
    rows.offsets.push_back(matrix.offsets()[row + 1] - before);
  }
  std::vector<E> values;
  for (Offset k = before; k < before + rows.offsets.back(); ++k) {
    rows.columns.push_back(matrix.column()[k]);
    values.push_back(matrix.entry(k));
  }
  return distribute<E>(ranks, partition, rows, values, plan, mode, device);
}

/// This rank's rows of a field in the order of all rows.
template <class S>
FieldView<S> rows_of(const FieldView<S>& all, const Partition& partition, int rank) {
  return {all.data + partition.first_row(rank) * all.components, partition.rows_of(rank),
          all.components};
}

}  // namespace heddle::test
