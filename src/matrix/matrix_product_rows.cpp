#include "heddle/detail/matrix_product_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/matrix_product.hpp"
#include "heddle/tools/memory_error.hpp"
#include "number_products.hpp"
#include "stored_rows.hpp"

namespace heddle::detail {

namespace {

std::string text_of_size(Index rows, Index columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

/// The columns of a row of the product, numbered as they are met.
class MetColumns {
 public:
  /// The columns of one row. A local object, which compilers keep in registers.
  struct Row {
    Index* number;  // number of each column that was met; -1 for others
    Index* met;
    Index count = 0;

    /// The number of a column. By masks, because a branch would go both ways equally often.
    HEDDLE_INLINE Index meet(Index column) {
      const Index known = number[column], is_new = known >> 31;  // all bits, or none
      const Index result = known ^ ((known ^ count) & is_new);
      number[column] = result;
      met[count] = column;
      count -= is_new;
      return result;
    }
  };

  explicit MetColumns(Index columns)
      : number_(static_cast<std::size_t>(columns), -1), sorter_(columns) {}

  /// Begins a row of at most `terms` terms.
  Row begin(Offset terms) {
    const std::size_t size = std::min(static_cast<std::size_t>(terms), number_.size()) + 1;
    if (met_.size() < size) met_.resize(size), rank_.resize(size);
    return {number_.data(), met_.data()};
  }
  /// Ends a row and puts its columns in ascending order. The result maps each column's number to
  /// its place.
  const Index* put_sorted(const Row& row, Index* to) {
    constexpr std::size_t few = 64;
    const std::span<const Index> met(met_.data(), static_cast<std::size_t>(row.count));
    if (met.size() > few) {
      sorter_.sort(met, to);
      for (Index k = 0; k < row.count; ++k) {
        Index& number = number_[static_cast<std::size_t>(to[k])];
        rank_[static_cast<std::size_t>(std::exchange(number, -1))] = k;
      }
      return rank_.data();
    }
    // Counting the smaller ones takes no branches either.
    for (std::size_t k = 0; k < met.size(); ++k) {
      Index less = 0;
      for (const Index other : met) less += other < met[k] ? 1 : 0;
      to[less] = met[k];
      rank_[k] = less;
      number_[static_cast<std::size_t>(met[k])] = -1;
    }
    return rank_.data();
  }

 private:
  std::vector<Index> number_;
  ColumnSorter sorter_;
  std::vector<Index> met_, rank_;
};

/// The findings of a thread, for chunks of rows one after the other. In large pages, because
/// growing vectors touch many.
struct alignas(64) FoundRows {
  std::pmr::vector<Index> column{default_memory()};
  std::pmr::vector<std::uint8_t> place{default_memory()};
};
/// The places where the findings for a chunk begin.
struct FoundChunk {
  int thread = 0;
  std::size_t column = 0, place = 0;
};
/// Calls `put(from, first, last)` for the rows [first, last) of each chunk.
template <class Put>
void put_chunks(int team, std::size_t rows, const std::vector<FoundChunk>& chunks, const Put& put) {
  constexpr auto length = static_cast<std::size_t>(product_rows_at_once);
  parallel_for(team, chunks.size(), [&](std::size_t k) {
    const std::size_t first = k * length, last = std::min(first + length, rows);
    if (first < last) put(chunks[k], first, last);
  });
}

/// Replaces places, all below 256, by their `rank`.
void rename_places(std::span<std::uint8_t> places, const Index* rank) {
  for (std::uint8_t& place : places) place = static_cast<std::uint8_t>(rank[place]);
}

/// Meets the columns of a row's terms; `take(number)` gets the number of each. Returns the number
/// of columns. A separate function, because GCC keeps its pointers on the stack within another.
template <class Take>
[[gnu::noinline]] Index meet_terms(std::span<const Index> middles, OffsetsView begins,
                                   const Index* column, MetColumns::Row met, Take take) {
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const Offset middle = middles[i];
    for (Offset j = begins[middle], end = begins[middle + 1]; j < end; ++j) {
      take(met.meet(column[j]));
    }
  }
  return met.count;
}

/// Adds the columns of a row of C, and lists the places of its terms if `lists_terms`.
void find_row(const PatternView& a, const PatternView& b, Index row, bool lists_terms,
              MetColumns& columns, FoundRows& found) {
  const Offset begin = a.offsets[row], end = a.offsets[Offset(row) + 1];
  Offset terms = 0;
  for (Offset i = begin; i < end; ++i) {
    const Offset middle = a.column[i];
    terms += b.offsets[middle + 1] - b.offsets[middle];
  }
  MetColumns::Row met = columns.begin(terms);
  const auto meet = [&, middles = std::span(a.column + begin, a.column + end)](auto take) {
    met.count = meet_terms(middles, b.offsets, b.column, met, take);
  };
  const std::size_t listed = found.place.size(), known = found.column.size();
  if (lists_terms) {
    found.place.resize(listed + static_cast<std::size_t>(terms));
    meet([place = found.place.data() + listed](Index number) mutable {
      *place++ = static_cast<std::uint8_t>(number);
    });
  } else {
    meet([](Index) {});
  }
  found.column.resize(known + static_cast<std::size_t>(met.count));
  const Index* const rank = columns.put_sorted(met, found.column.data() + known);
  if (lists_terms) rename_places(std::span(found.place).subspan(listed), rank);
}

/// Returns the length of the longest row.
Index find_product(const PatternView& a, const PatternView& b, const Stream& host,
                   Array<Offset>& offsets, Array<Index>& column, TermPlaces* terms) {
  const auto rows = static_cast<std::size_t>(a.rows);
  constexpr auto chunk = static_cast<Index>(product_rows_at_once);
  offsets = Array<Offset>(rows + 1);
  if (terms != nullptr) terms->first = Array<Offset>(rows + 1);
  std::vector<FoundChunk> chunks(rows / chunk + 1);
  const int team = team_with_columns(team_size(host, a.entries() * 8LL), a.entries(), b.columns);
  std::vector<FoundRows> found(static_cast<std::size_t>(team));
  numbered_shares(team, a.rows, product_rows_at_once, [&](int thread, auto&& for_each) {
    MetColumns met(b.columns);
    FoundRows& own = found[static_cast<std::size_t>(thread)];
    own.column.reserve(static_cast<std::size_t>(a.entries() / team));
    for_each([&](Index row) {
      const std::size_t columns = own.column.size(), places = own.place.size();
      if (row % chunk == 0) {
        chunks[static_cast<std::size_t>(row / chunk)] = {thread, columns, places};
      }
      find_row(a, b, row, terms != nullptr, met, own);
      const auto next = static_cast<std::size_t>(row) + 1;
      offsets[next] = static_cast<Offset>(own.column.size() - columns);
      if (terms != nullptr) terms->first[next] = static_cast<Offset>(own.place.size() - places);
    });
  });
  const auto longest = static_cast<Index>(*std::max_element(offsets.begin(), offsets.end()));
  sum_up(offsets);
  const auto entries = static_cast<std::size_t>(offsets[rows]);
  UnsetArray<Index> columns(entries);
  if (terms != nullptr) {
    sum_up(terms->first);
    terms->place = UnsetArray<std::uint8_t>(static_cast<std::size_t>(terms->first[rows]));
  }
  put_chunks(team, rows, chunks, [&](const FoundChunk& from, std::size_t first, std::size_t last) {
    const FoundRows& of_thread = found[static_cast<std::size_t>(from.thread)];
    const Offset to = offsets[first], count = offsets[last] - to;
    std::copy_n(of_thread.column.begin() + static_cast<Offset>(from.column), count,
                columns.begin() + to);
    if (terms == nullptr) return;
    const Offset begin = terms->first[first];
    std::copy_n(of_thread.place.begin() + static_cast<Offset>(from.place),
                terms->first[last] - begin, terms->place.begin() + begin);
  });
  column = std::move(columns).into_array();
  return longest;
}

/// Like `find_product`, with the numbers of the product.
Index find_numbers(const PatternView& a, const PatternView& b, const Stream& host,
                   Array<Offset>& offsets, Array<Index>& column, ProductNumbers& numbers) {
  const auto rows = static_cast<std::size_t>(a.rows);
  constexpr auto chunk = static_cast<Index>(product_rows_at_once);
  offsets = Array<Offset>(rows + 1);
  std::vector<FoundChunk> chunks(rows / chunk + 1);
  const int team = team_with_columns(team_size(host, a.entries() * 8LL), a.entries(), b.columns);
  const Offset longest_of_b = parallel_reduce(
      team, b.rows, Offset(0),
      [&](Index row, Offset& longest) {
        longest = std::max(longest, b.offsets[Offset(row) + 1] - b.offsets[row]);
      },
      [](Offset& longest, Offset other) { longest = std::max(longest, other); });
  const NumberRowsOfProduct::Factor left{a.offsets, a.column, numbers.left},
      right{b.offsets, b.column, numbers.right};
  std::vector<std::optional<NumberRowsOfProduct>> found(static_cast<std::size_t>(team));
  numbered_shares(team, a.rows, product_rows_at_once, [&](int thread, auto&& for_each) {
    auto& own = found[static_cast<std::size_t>(thread)];
    own.emplace(b.columns, longest_of_b, static_cast<std::size_t>(a.entries() / team),
                numbers.is_sorted);
    for_each([&](Index row) {
      if (row % chunk == 0) {
        chunks[static_cast<std::size_t>(row / chunk)] = {thread, own->entries(), 0};
      }
      offsets[static_cast<std::size_t>(row) + 1] = own->add_row(left, right, row);
    });
  });
  const auto longest = static_cast<Index>(*std::max_element(offsets.begin(), offsets.end()));
  sum_up(offsets);
  const auto entries = static_cast<std::size_t>(offsets[rows]);
  UnsetArray<Index> columns(entries);
  numbers.result = UnsetArray<double>(entries);
  put_chunks(team, rows, chunks, [&](const FoundChunk& from, std::size_t first, std::size_t last) {
    const NumberRowsOfProduct& of_thread = *found[static_cast<std::size_t>(from.thread)];
    const Offset to = offsets[first], count = offsets[last] - to;
    std::copy_n(of_thread.column() + from.column, count, columns.begin() + to);
    std::copy_n(of_thread.sums() + from.column, count, numbers.result.begin() + to);
  });
  column = std::move(columns).into_array();
  return longest;
}

/// Calls `find`, which takes several numbers for each column of B and each thread.
template <class Find>
Index find_or_refuse(const PatternView& a, const PatternView& b, const Find& find) {
  check_factors(a, b);
  return or_refuse_memory("numbers of a team", static_cast<std::size_t>(b.columns),
                          sizeof(Index) * 5, find);
}

}  // namespace

void product_pattern(const PatternView& a, const PatternView& b, const Stream& host,
                     Array<Offset>& offsets, Array<Index>& column) {
  product_pattern(a, b, host, offsets, column, nullptr);
}

Index product_pattern(const PatternView& a, const PatternView& b, const Stream& host,
                      Array<Offset>& offsets, Array<Index>& column, TermPlaces* terms) {
  return find_or_refuse(a, b, [&] { return find_product(a, b, host, offsets, column, terms); });
}

Index multiply_numbers(const PatternView& a, const PatternView& b, const Stream& host,
                       Array<Offset>& offsets, Array<Index>& column, ProductNumbers& numbers) {
  return find_or_refuse(a, b, [&] { return find_numbers(a, b, host, offsets, column, numbers); });
}

namespace {

/// Like `adjoint_pattern`, by `parts` threads, each of which transposes an equal part of the rows.
/// `before`: for each part and each column, the entries of the parts before it.
void turn_by_parts(const PatternView& a, int parts, Array<Offset>& offsets,
                   UnsetArray<Index>& column, UnsetArray<Offset>& place) {
  const auto columns = static_cast<std::size_t>(a.columns);
  std::vector<Index> before(static_cast<std::size_t>(parts) * columns);
  const auto for_each_entry = [&](int part, const auto& body) {
    const auto bound = [&](int k) { return static_cast<Index>(Offset(a.rows) * k / parts); };
    Index* const counts = before.data() + static_cast<std::size_t>(part) * columns;
    for (Index row = bound(part); row < bound(part + 1); ++row) {
      for (Offset i = a.offsets[row]; i < a.offsets[Offset(row) + 1]; ++i) {
        body(row, i, a.column[i], counts[a.column[i]]);
      }
    }
  };
  parallel_for(parts, parts, 1, [&](int part) {
    for_each_entry(part, [](Index, Offset, Index, Index& count) { ++count; });
  });
  parallel_for(parts, a.columns, [&](Index c) {
    Index sum = 0;
    for (std::size_t k = static_cast<std::size_t>(c); k < before.size(); k += columns) {
      sum += std::exchange(before[k], sum);
    }
    offsets[static_cast<std::size_t>(c) + 1] = sum;
  });
  sum_up(offsets);
  parallel_for(parts, parts, 1, [&](int part) {
    for_each_entry(part, [&](Index row, Offset i, Index c, Index& next) {
      const Offset to = offsets[static_cast<std::size_t>(c)] + next++;
      column[static_cast<std::size_t>(to)] = row;
      place[static_cast<std::size_t>(i)] = to;
    });
  });
}

}  // namespace

void adjoint_pattern(const PatternView& a, const Stream& host, Array<Offset>& offsets,
                     Array<Index>& column, Array<Offset>& place) {
  const auto entries = static_cast<std::size_t>(a.entries());
  offsets = Array<Offset>(static_cast<std::size_t>(a.columns) + 1);
  UnsetArray<Index> rows(entries);
  UnsetArray<Offset> places(entries);
  const int team = team_with_columns(team_size(host, a.entries() * 4LL), a.entries(), a.columns);
  or_refuse_memory("numbers of a team",
                   static_cast<std::size_t>(team) * static_cast<std::size_t>(a.columns),
                   sizeof(Index), [&] { turn_by_parts(a, team, offsets, rows, places); });
  column = std::move(rows).into_array();
  place = std::move(places).into_array();
}

void adjoint_pattern(const PatternView& a, Array<Offset>& offsets, Array<Index>& column,
                     Array<Offset>& place) {
  adjoint_pattern(a, Device::cpu(1).stream(), offsets, column, place);
}

void check_factors(const PatternView& a, const PatternView& b) {
  if (a.columns == b.rows) return;
  throw Error(ErrorKind::size_mismatch, "a product of " + text_of_size(a.rows, a.columns) +
                                            " and " + text_of_size(b.rows, b.columns) +
                                            " entries: the inner sizes differ");
}

void check_same_size(const MatrixSize& given, const MatrixSize& made, const char* what) {
  if (given == made) return;
  const auto text = [](const MatrixSize& size) {
    return text_of_size(size.rows, size.columns) + " with " + std::to_string(size.entries) +
           " entries";
  };
  throw Error(ErrorKind::size_mismatch,
              std::string(what) + " is " + text(given) + ", but the pattern is " + text(made));
}

}  // namespace heddle::detail
