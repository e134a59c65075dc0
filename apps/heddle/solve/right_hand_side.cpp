#include "right_hand_side.hpp"

#include <cmath>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/read.hpp"
#include "io/field_layout.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

/// Scalars that a number takes in a field; the number 1 has 1 in the first of them.
int scalars_of_number(const AnyEntry& entry) {
  if (entry.definition()) return entry.definition()->vector_size();
  switch (entry.kind()) {
    case EntryKind::complex:
    case EntryKind::complex_block3:
      return 2;
    case EntryKind::quaternion:
      return 4;
    case EntryKind::dual_quaternion:
      return 8;
    default:
      return 1;
  }
}

/// Refuses a table whose shape no field has.
[[noreturn]] void refuse_table(const std::string& option, const std::string& path,
                               const ScalarField& table, const FieldsWanted& wanted, int count) {
  const io::FieldRow row = io::field_row_of(wanted.entry);
  const Index rows = detail::naming_file(
      path, [&] { return detail::rows_of_field(table, row.components, row.ring); });
  throw Error(
      ErrorKind::size_mismatch,
      option + " " + path + " has " + std::to_string(rows) + " rows" +
          (row.components > 1 ? " of " + std::to_string(row.components) + " real numbers each"
                              : "") +
          ", the matrix has " + std::to_string(wanted.rows) +
          (wanted.are_of_columns ? " columns" : "") +
          (count > 1 ? ", and the number of fields is " + std::to_string(count) : ""));
}

}  // namespace

FieldsWanted rows_of(const AnyMatrix& matrix) {
  return {matrix.entry(), matrix.precision(), matrix.rows()};
}
FieldsWanted rows_of(const AnyLinearOperator& matrix) {
  return {matrix.entry(), matrix.precision(), matrix.rows()};
}
FieldsWanted columns_of(const AnyLinearOperator& matrix) {
  return {matrix.entry(), matrix.precision(), matrix.columns(), matrix.rows() != matrix.columns()};
}

FieldsOfFile read_fields(const std::string& option, const std::string& path,
                         const FieldsWanted& wanted, std::optional<int> count, const Device& device,
                         Progress* progress) {
  const ScalarField table = read_scalar_field(path, Device::cpu(device.threads()), progress);
  const io::FieldRow row = io::field_row_of(wanted.entry);
  const auto found = detail::naming_file(
      path, [&] { return io::FieldLayout::find(table, wanted.rows, row, count); });
  if (!found) refuse_table(option, path, table, wanted, count.value_or(1));
  const io::FieldLayout& layout = *found;
  constexpr int most = 1000;
  if (layout.count() > most) {
    throw Error(ErrorKind::size_mismatch,
                option + " " + path + " has " + std::to_string(layout.count()) +
                    " columns, but at most " + std::to_string(most) + " are solved side by side");
  }
  FieldsOfFile read{{}, path + (layout.are_real_parts() ? " (real numbers, as real parts)" : "")};
  for (int k = 0; k < layout.count(); ++k) {
    AnyField& field =
        read.fields.emplace_back(wanted.rows, row.components, wanted.precision, device);
    for (Offset i = 0; i < wanted.rows; ++i) {
      for (int c = 0; c < row.components; ++c) {
        field.set(i * row.components + c, layout.get(table, k, i, c));
      }
    }
  }
  return read;
}

void write_fields(const std::string& path, const std::vector<AnyField>& fields,
                  const AnyEntry& entry, Progress* progress) {
  if (fields.size() == 1) return fields.front().write(path, entry, progress);
  const Offset rows = fields.front().rows(), width = fields.front().components();
  const auto count = static_cast<Offset>(fields.size());
  const bool is_complex = io::has_complex_fields(entry);
  Array<double> values(static_cast<std::size_t>(rows * count * width));
  for (Offset i = 0; i < rows; ++i) {
    for (Offset k = 0; k < count; ++k) {
      for (Offset c = 0; c < width; ++c) {
        values[static_cast<std::size_t>((i * count + k) * width + c)] =
            fields[static_cast<std::size_t>(k)].get(i * width + c);
      }
    }
  }
  write_scalar_field(path, {rows, count * width / (is_complex ? 2 : 1), is_complex, values.data()},
                     progress);
}

RightHandSide right_hand_side_of_file(const std::string& rhs, std::optional<int> count,
                                      const FieldsWanted& wanted, const Device& device,
                                      Progress* progress) {
  Stopwatch reading;
  FieldsOfFile read = read_fields("--rhs", rhs, wanted, count, device, progress);
  return {std::move(read.fields), {}, read.text, reading.seconds()};
}

std::string random_system_in_words(double shift, std::uint64_t seed, int count) {
  return std::string(shift != 0 ? "(A + sigma I)" : "A") + " x* with x* uniform in [-1, 1), seed " +
         std::to_string(seed) +
         (count > 1 ? " to " + std::to_string(seed + static_cast<std::uint64_t>(count) - 1) : "");
}

void fill_ones(AnyField& field, const AnyEntry& entry) {
  const Offset scalars = Offset(field.rows()) * field.components();
  const int step = scalars_of_number(entry);
  for (Offset i = 0; i < scalars; i += step) field.set(i, 1);
}

double relative_error(const AnyField& x, const AnyField& exact) {
  double difference = 0;
  double size = 0;
  const Offset scalars = Offset(x.rows()) * x.components();
  for (Offset i = 0; i < scalars; ++i) {
    difference += (x.get(i) - exact.get(i)) * (x.get(i) - exact.get(i));
    size += exact.get(i) * exact.get(i);
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

}  // namespace heddle::cli
