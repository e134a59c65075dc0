#include "read_by_first.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "distributed/exchange/root_exchange.hpp"
#include "distributed/whole_matrix.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::cli {

namespace {

/// Offsets, columns and values of scalars, in the form that a matrix takes.
template <class S>
detail::CsrArrays<S> arrays_of(const RankRows& rows, std::span<const std::byte> bytes,
                               Index columns) {
  detail::CsrArrays<S> arrays{static_cast<Index>(rows.offsets.size() - 1), columns,
                              Array<Offset>(rows.offsets.size()), Array<Index>(rows.columns.size()),
                              Array<S>(bytes.size() / sizeof(S))};
  std::copy(rows.offsets.begin(), rows.offsets.end(), arrays.offsets.data());
  std::transform(rows.columns.begin(), rows.columns.end(), arrays.column.data(),
                 [](long long column) { return static_cast<Index>(column); });
  if (!bytes.empty()) std::memcpy(arrays.values.data(), bytes.data(), bytes.size());
  return arrays;
}

AnyMatrix matrix_of(const RankRows& rows, std::span<const std::byte> values, Index columns,
                    const AnyEntry& entry, Precision precision) {
  if (const auto& definition = entry.definition()) {
    const auto make = [&]<class S>(S) {
      return AnyMatrix(DefinedMatrix<S>(definition, arrays_of<S>(rows, values, columns)));
    };
    return precision == Precision::single_precision ? make(float()) : make(double());
  }
  return visit_entry(entry.kind(), precision, [&]<class E>() {
    return AnyMatrix(CsrMatrix<E>(arrays_of<stored_scalar_t<E>>(rows, values, columns)));
  });
}

}  // namespace

Partition partition_of_first(Communicator& ranks, const std::optional<Partition>& mine) {
  std::vector<long long> rows, first_rows;
  std::vector<int> owners;
  if (ranks.rank() == 0) {
    rows = {mine->rows(), mine->is_of_ranges() ? 1 : 0};
    for (int r = 0; r <= mine->ranks(); ++r) {
      first_rows.push_back(r < mine->ranks() ? mine->first_row(r) : mine->rows());
    }
    for (long long row = 0; row < mine->rows() && !mine->is_of_ranges(); row += rows_of_group) {
      owners.push_back(mine->owner(row));
    }
  }
  rows = detail::broadcast_from_root(ranks, rows);
  first_rows = detail::broadcast_from_root(ranks, first_rows);
  owners = detail::broadcast_from_root(ranks, owners);
  if (rows[1] != 0) return Partition(std::move(first_rows));
  return Partition::by_owner(rows[0], static_cast<int>(first_rows.size()) - 1, owners);
}

AnyMatrix rows_of_first(Communicator& ranks, const Partition& partition, const AnyMatrix* whole,
                        const AnyEntry& entry, Precision precision) {
  PatternView pattern;
  if (whole != nullptr) pattern = whole->pattern();
  const PatternView* const known = whole != nullptr ? &pattern : nullptr;
  const RankRows rows = detail::rows_from_root(ranks, partition, known);
  const int bytes =
      detail::broadcast_from_root(ranks, std::vector{whole != nullptr ? whole->entry_bytes() : 0})
          .front();
  const auto values = detail::values_from_root(
      ranks, partition, known, whole != nullptr ? whole->values() : std::span<const std::byte>(),
      static_cast<std::size_t>(bytes));
  std::optional<AnyMatrix> own;
  together(ranks, [&] {
    own.emplace(matrix_of(rows, values, checked_index(partition.rows()), entry, precision));
  });
  return std::move(*own);
}

}  // namespace heddle::cli
