#include "field_layout.hpp"

#include <algorithm>
#include <string>

#include "heddle/error.hpp"
#include "heddle/read.hpp"

namespace heddle::io {

FieldRow field_row_of(const AnyEntry& entry) {
  if (const auto& definition = entry.definition()) {
    return {definition->vector_size(), definition->ring};
  }
  return visit_entry(entry.kind(), Precision::double_precision, [&]<class E>() -> FieldRow {
    return {vector_entry_t<E>::components, arithmetic_t<E>::ring};
  });
}

bool has_complex_fields(const AnyEntry& entry) {
  return !entry.definition() &&
         (entry.kind() == EntryKind::complex || entry.kind() == EntryKind::complex_block3);
}

FieldLayout::FieldLayout(Order order, Offset rows, int count, const FieldRow& row, bool is_complex,
                         bool are_real_parts)
    : order_(order),
      rows_(rows),
      count_(count),
      parts_(is_complex || are_real_parts ? 2 : 1),
      numbers_(row.components / parts_),
      are_real_parts_(are_real_parts) {}

std::pair<Offset, Offset> FieldLayout::shape() const {
  if (order_ == Order::side_by_side) return {rows_, Offset(numbers_) * count_};
  if (order_ == Order::columns) return {numbers_ * rows_, count_};
  if (order_ == Order::one_column) return {Offset(numbers_) * count_ * rows_, 1};
  return {count_ * rows_, numbers_};
}

std::vector<FieldLayout> FieldLayout::possible(const ScalarField& table, Index rows,
                                               const FieldRow& row, std::optional<int> count) {
  std::vector<FieldLayout> found;
  const auto add = [&](Order order, Offset fields, bool are_real_parts) {
    constexpr Offset most = 1000000;
    if (fields < 1 || fields > most || (count && fields != *count)) return;
    const FieldLayout layout(order, rows, static_cast<int>(fields), row, table.is_complex,
                             are_real_parts);
    if (layout.shape() == std::pair(table.rows, table.columns)) found.push_back(layout);
  };
  const bool has_real_parts =
      !table.is_complex && row.ring == Ring::complex && row.components % 2 == 0;
  for (const bool are_real_parts : {false, true}) {
    if (are_real_parts && !has_real_parts) continue;
    const int numbers = row.components / (table.is_complex || are_real_parts ? 2 : 1);
    add(Order::side_by_side, table.columns / numbers, are_real_parts);
    if (numbers > 1) add(Order::columns, table.columns, are_real_parts);
    // Without `count` these shapes are not meant, but they keep a square of numbers from being
    // taken as columns.
    const Offset fields = count ? *count : numbers;
    if (fields > 1) add(Order::one_after_another, fields, are_real_parts);
    if (fields > 1 && count && numbers > 1) add(Order::one_column, fields, are_real_parts);
  }
  return found;
}

std::optional<FieldLayout> FieldLayout::find(const ScalarField& table, Index rows,
                                             const FieldRow& row, std::optional<int> count) {
  if (table.is_complex && !(row.ring == Ring::complex && row.components % 2 == 0)) {
    (void)::heddle::detail::rows_of_field(table, row.components, row.ring);  // throws the error
  }
  const std::vector<FieldLayout> found = possible(table, rows, row, count);
  if (found.empty()) return std::nullopt;
  const auto one = std::find_if(found.begin(), found.end(), [](const FieldLayout& layout) {
    return layout.count_ == 1 && !layout.are_real_parts_;
  });
  if (one != found.end()) return *one;
  if (found.size() == 1) return found.front();
  const std::string table_in_words = "a " + std::to_string(table.rows) + " x " +
                                     std::to_string(table.columns) + " table may hold ";
  if (found.front().count_ != found.back().count_) {
    throw Error(ErrorKind::size_mismatch, table_in_words + std::to_string(found.front().count_) +
                                              " fields or " + std::to_string(found.back().count_) +
                                              " of real parts; give the number of fields");
  }
  const FieldLayout& any = found.front();
  throw Error(ErrorKind::size_mismatch,
              table_in_words + std::to_string(any.count_) +
                  " fields one after the other, or one in each column; write them side by side, " +
                  std::to_string(rows) + " x " + std::to_string(any.numbers_ * any.count_));
}

double FieldLayout::get(const ScalarField& table, int k, Offset row, int c) const {
  const int number = c / parts_, part = c % parts_;
  if (are_real_parts_ && part > 0) return 0;
  Offset at_row = row, at_column = Offset(k) * numbers_ + number;
  if (order_ == Order::columns) {
    at_row = row * numbers_ + number;
    at_column = k;
  } else if (order_ == Order::one_after_another) {
    at_row = k * rows_ + row;
    at_column = number;
  } else if (order_ == Order::one_column) {
    at_row = (k * rows_ + row) * numbers_ + number;
    at_column = 0;
  }
  const Offset place = at_row * table.columns + at_column;
  return table.values[static_cast<std::size_t>(table.is_complex ? 2 * place + part : place)];
}

}  // namespace heddle::io
