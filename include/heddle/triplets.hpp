// Assembly: triplets in any order to a matrix of compressed sparse rows, and again for new values.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/csr.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

/// `value` at (`row`, `column`), counted from 0.
template <class E>
struct HEDDLE_EXPORT Triplet {
  Index row;
  Index column;
  E value;
};

namespace detail {

/// One index of every triplet, `stride` bytes apart.
struct HEDDLE_EXPORT StridedIndices {
  const void* data;
  std::size_t stride;

  Index operator[](std::size_t i) const {
    Index index;
    std::memcpy(&index, static_cast<const char*>(data) + i * stride, sizeof(Index));
    return index;
  }
};

/// A pattern, and the triplets of each of its entries: entry i is the sum of triplets
/// triplet[first[i]], ..., triplet[first[i + 1] - 1], which increase.
struct HEDDLE_EXPORT OrderedTriplets {
  Array<Offset> offsets;
  Array<Index> column;
  Array<std::uint32_t> first;
  Array<std::uint32_t> triplet;
};

/// Throws `Error` if an index is out of range, and names the first such triplet.
HEDDLE_EXPORT OrderedTriplets order_triplets(Index rows, Index columns, std::size_t count,
                                             StridedIndices row, StridedIndices column,
                                             const Device& device);

/// Throws `Error` if two triplets share a place, and names them: their entries cannot be added.
HEDDLE_EXPORT void refuse_duplicates(const OrderedTriplets& ordered, Index rows);

}  // namespace detail

/// Maps each triplet's value to an entry of the assembled matrix. It sums triplets of the same
/// place in the order given, so that the same triplets yield the same bits with any number of
/// threads.
template <class E>
class HEDDLE_EXPORT ValueMap {
 public:
  using scalar = stored_scalar_t<E>;

  ValueMap() = default;
  ValueMap(Array<std::uint32_t> first, Array<std::uint32_t> triplet)
      : first_(std::move(first)), triplet_(std::move(triplet)) {}

  std::size_t triplets() const { return triplet_.size(); }
  std::size_t entries() const { return first_.empty() ? 0 : first_.size() - 1; }

  /// Sums new values for an unchanged pattern into `csr_values`; there are E::components scalars
  /// per triplet and per entry. Allocates nothing. Throws `Error` if a size does not fit.
  void apply(std::span<const scalar> triplet_values, std::span<scalar> csr_values,
             const Stream& stream = Device::cpu().stream()) const {
    require("triplets", triplets(), triplet_values.size());
    require("entries", entries(), csr_values.size());
    const PackedValues<E> values{triplet_values.data()};
    sum([&](std::size_t i) { return values(static_cast<Offset>(i), 0); }, csr_values, stream);
  }
  /// The same from triplets; does not check their rows and columns again.
  void apply(std::span<const Triplet<E>> given, std::span<scalar> csr_values,
             const Stream& stream = Device::cpu().stream()) const {
    require("triplets", triplets(), given.size() * E::components);
    require("entries", entries(), csr_values.size());
    sum([&](std::size_t i) -> const E& { return given[i].value; }, csr_values, stream);
  }

 private:
  static void require(const char* what, std::size_t expected, std::size_t scalars) {
    if (scalars == expected * E::components) return;
    throw Error(ErrorKind::size_mismatch, "the value map has " + std::to_string(expected) + " " +
                                              what + " of " + std::to_string(E::components) +
                                              " scalars each, but was given " +
                                              std::to_string(scalars) + " scalars");
  }
  template <class Value>
  void sum(const Value& value, std::span<scalar> csr_values, const Stream& stream) const {
    const auto count = static_cast<Offset>(entries());
    const int team = team_size(stream, static_cast<Offset>(triplets()));
    parallel_for(team, count, [&](Offset i) {
      E total = value(triplet_[first_[i]]);
      // An encoded entry has no duplicates: see `assemble`.
      if constexpr (std::is_same_v<E, arithmetic_t<E>>) {
        for (std::uint32_t j = first_[i] + 1; j < first_[i + 1]; ++j) {
          total = add(total, value(triplet_[j]));
        }
      }
      for (int k = 0; k < E::components; ++k) {
        csr_values[static_cast<std::size_t>(i) * E::components + k] = total.component[k];
      }
    });
  }

  Array<std::uint32_t> first_;
  Array<std::uint32_t> triplet_;
};

template <class E>
struct HEDDLE_EXPORT Assembled {
  CsrMatrix<E> matrix;
  ValueMap<E> map;
};

namespace detail {

/// `given`: the triplets or their scalars, in the form that `ValueMap::apply` takes.
template <class E, class Given>
Assembled<E> assemble_from(Index rows, Index columns, std::size_t count, StridedIndices row,
                           StridedIndices column, const Given& given, const Device& device) {
  static_assert(check_entry<E>());
  OrderedTriplets ordered = order_triplets(rows, columns, count, row, column, device);
  if constexpr (!std::is_same_v<E, arithmetic_t<E>>) refuse_duplicates(ordered, rows);
  Array<stored_scalar_t<E>> values(ordered.column.size() * E::components, device);
  Assembled<E> assembled{CsrMatrix<E>(rows, columns, std::move(ordered.offsets),
                                      std::move(ordered.column), std::move(values)),
                         ValueMap<E>(std::move(ordered.first), std::move(ordered.triplet))};
  assembled.map.apply(given, assembled.matrix.values().span(), device.stream());
  return assembled;
}

}  // namespace detail

/// A rows x columns matrix with sorted columns. It sums triplets of the same place in the order
/// given, by the entry's `add`. Entries stored in another type than they compute in have no sum,
/// and their duplicates are refused. Throws `Error` if an index is out of range.
template <class E, std::integral N, std::integral M>
Assembled<E> assemble(N rows, M columns, std::span<const Triplet<E>> triplets,
                      const Device& device = Device::cpu()) {
  // Without triplets there is no address to take.
  const Triplet<E>* first = triplets.data();
  const detail::StridedIndices row{first ? &first->row : nullptr, sizeof(Triplet<E>)};
  const detail::StridedIndices column{first ? &first->column : nullptr, sizeof(Triplet<E>)};
  return detail::assemble_from<E>(checked_index(rows), checked_index(columns), triplets.size(), row,
                                  column, triplets, device);
}

/// The same from separate arrays: row and column of each triplet, E::components scalars per
/// triplet.
template <class E, std::integral N, std::integral M>
Assembled<E> assemble(N rows, M columns, std::span<const Index> row, std::span<const Index> column,
                      std::span<const stored_scalar_t<E>> values,
                      const Device& device = Device::cpu()) {
  if (row.size() != column.size() || values.size() != row.size() * E::components) {
    throw Error(ErrorKind::size_mismatch, "triplets have " + std::to_string(row.size()) +
                                              " rows, " + std::to_string(column.size()) +
                                              " columns and " + std::to_string(values.size()) +
                                              " scalars, " + std::to_string(E::components) +
                                              " of which make an entry");
  }
  return detail::assemble_from<E>(checked_index(rows), checked_index(columns), row.size(),
                                  {row.data(), sizeof(Index)}, {column.data(), sizeof(Index)},
                                  values, device);
}

}  // namespace heddle
