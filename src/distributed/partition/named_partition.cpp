#include "named_partition.hpp"

#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/names.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

std::vector<long long> first_rows_in(const std::string& text) {
  std::vector<long long> rows;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    long long row = 0;
    const auto [after, error] = std::from_chars(at, end, row);
    const bool is_good = error == std::errc() && (after == end || *after == ',');
    if (!is_good) {
      throw Error(ErrorKind::usage, "partition: " + text +
                                        " is not entries, rows, metis, scotch, or first rows "
                                        "separated by commas");
    }
    rows.push_back(row);
    if (after == end) return rows;
    at = after + 1;
  }
}

}  // namespace

bool names_any_ranks(const std::string& text) {
  if (is_same_name(text, "entries") || is_same_name(text, "rows") || is_same_name(text, "metis") ||
      is_same_name(text, "scotch"))
    return true;
  (void)first_rows_in(text);
  return false;
}

Partition named_partition(const std::string& text, const PatternView& pattern, int ranks) {
  if (is_same_name(text, "metis")) return Partition::by_metis(pattern, ranks);
  if (is_same_name(text, "scotch")) return Partition::by_scotch(pattern, ranks);
  if (is_same_name(text, "entries")) return Partition::by_entries(pattern, ranks);
  return named_partition(text, pattern.rows, {}, ranks);
}

Partition named_partition(const std::string& text, long long rows,
                          std::span<const long long> entries_of_groups, int ranks) {
  if (is_same_name(text, "rows")) return Partition::even(rows, ranks);
  if (is_same_name(text, "entries")) return Partition::by_weight(rows, ranks, entries_of_groups);
  std::vector<long long> first_rows = first_rows_in(text);
  if (static_cast<int>(first_rows.size()) != ranks) {
    throw Error(ErrorKind::usage, "partition: " + text + " is for " +
                                      std::to_string(first_rows.size()) + " ranks, not for " +
                                      std::to_string(ranks));
  }
  first_rows.push_back(rows);
  return Partition(std::move(first_rows));
}

}  // namespace heddle::detail
