#include "heddle/detail/row_products.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/matrix_product.hpp"
#include "heddle/tools/memory_error.hpp"
#include "stored_rows.hpp"

namespace heddle::detail {

namespace {

std::string text_of_size(Index rows, Index columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

/// Different numbers, growing. Counting what is less takes no branches, which is faster for few.
void put_sorted(std::span<Index> numbers, Index* to) {
  constexpr std::size_t few = 64;
  if (numbers.size() > few) {
    std::sort(numbers.begin(), numbers.end());
    std::copy(numbers.begin(), numbers.end(), to);
    return;
  }
  for (const Index number : numbers) {
    Index less = 0;
    for (const Index other : numbers) less += other < number ? 1 : 0;
    to[less] = number;
  }
}

}  // namespace

void product_pattern(const PatternView& a, const PatternView& b, const Stream& host,
                     Array<Offset>& offsets, Array<Index>& column) {
  if (a.columns != b.rows) {
    throw Error(ErrorKind::size_mismatch, "a product of " + text_of_size(a.rows, a.columns) +
                                              " and " + text_of_size(b.rows, b.columns) +
                                              " entries");
  }
  offsets = Array<Offset>(static_cast<std::size_t>(a.rows) + 1);
  const int team = team_beside(team_size(host, a.entries() * 8LL), a.entries(), b.columns);
  const auto for_each_row = [&](const auto& body) {
    const std::size_t numbers =
        static_cast<std::size_t>(team) * static_cast<std::size_t>(b.columns);
    or_refuse_memory("numbers of a team", numbers, sizeof(Index), [&] {
      parallel_shares(team, a.rows, product_rows_at_once, [&](auto&& for_each) {
        std::vector<Index> reached_by(static_cast<std::size_t>(b.columns), -1), reached;
        for_each([&](Index row) {
          reached.clear();
          for (Offset i = a.offsets[row]; i < a.offsets[Offset(row) + 1]; ++i) {
            const Offset middle = a.column[i];
            for (Offset j = b.offsets[middle]; j < b.offsets[middle + 1]; ++j) {
              const Index to = b.column[j];
              if (std::exchange(reached_by[static_cast<std::size_t>(to)], row) == row) continue;
              reached.push_back(to);
            }
          }
          body(row, reached);
        });
      });
    });
  };
  for_each_row([&](Index row, const std::vector<Index>& reached) {
    offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(reached.size());
  });
  sum_up(offsets);
  column = Array<Index>(static_cast<std::size_t>(offsets[static_cast<std::size_t>(a.rows)]));
  for_each_row([&](Index row, std::vector<Index>& reached) {
    put_sorted(reached, column.data() + offsets[static_cast<std::size_t>(row)]);
  });
}

void adjoint_pattern(const PatternView& a, Array<Offset>& offsets, Array<Index>& column,
                     Array<Offset>& place) {
  const auto entries = static_cast<std::size_t>(a.entries());
  offsets = Array<Offset>(static_cast<std::size_t>(a.columns) + 1);
  column = Array<Index>(entries);
  place = Array<Offset>(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    ++offsets[static_cast<std::size_t>(a.column[i]) + 1];
  }
  sum_up(offsets);
  std::vector<Offset> next(offsets.begin(), offsets.end());
  for (Index row = 0; row < a.rows; ++row) {
    for (Offset i = a.offsets[row]; i < a.offsets[Offset(row) + 1]; ++i) {
      const Offset to = next[static_cast<std::size_t>(a.column[i])]++;
      column[static_cast<std::size_t>(to)] = row;
      place[static_cast<std::size_t>(i)] = to;
    }
  }
}

void check_same_size(const MatrixSize& given, const MatrixSize& made, const char* what) {
  if (given == made) return;
  const auto text = [](const MatrixSize& size) {
    return text_of_size(size.rows, size.columns) + " with " + std::to_string(size.entries) +
           " entries";
  };
  throw Error(ErrorKind::size_mismatch, std::string(what) + " is of " + text(given) +
                                            ", where the pattern is of " + text(made));
}

}  // namespace heddle::detail
