#include "right_hand_side.hpp"

#include <cmath>
#include <utility>

#include "heddle/error.hpp"
#include "matrix_options.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

/// Scalars of one number in a field: the first of them is 1 in the number 1.
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

}  // namespace

std::vector<AnyField> read_fields_for(const AnyLinearOperator& matrix, const std::string& option,
                                      const std::string& path, Index rows, int count,
                                      const Device& device, Progress* progress) {
  AnyField all = AnyField::read(path, matrix.entry(), matrix.precision(), device, progress);
  if (Offset(all.rows()) != Offset(rows) * count) {
    throw Error(
        ErrorKind::size_mismatch,
        option + " " + path + " has " + std::to_string(all.rows()) + " rows" +
            (all.components() > 1 ? " of " + std::to_string(all.components()) + " real numbers each"
                                  : "") +
            ", the matrix has " + std::to_string(rows) + (rows != matrix.rows() ? " columns" : "") +
            (count > 1 ? ", and fields are " + std::to_string(count) : ""));
  }
  std::vector<AnyField> fields;
  if (count == 1) {
    fields.push_back(std::move(all));
    return fields;
  }
  const Offset scalars = Offset(rows) * all.components();
  for (int k = 0; k < count; ++k) {
    AnyField& field = fields.emplace_back(rows, all.components(), all.precision(), device);
    for (Offset i = 0; i < scalars; ++i) field.set(i, all.get(k * scalars + i));
  }
  return fields;
}

AnyField joined(const std::vector<AnyField>& fields, const Device& device) {
  const AnyField& first = fields.front();
  const Offset rows = Offset(first.rows()) * static_cast<Offset>(fields.size());
  AnyField all(checked_index(rows), first.components(), first.precision(), device);
  Offset next = 0;
  for (const AnyField& field : fields) {
    const Offset scalars = Offset(field.rows()) * field.components();
    for (Offset i = 0; i < scalars; ++i) all.set(next++, field.get(i));
  }
  return all;
}

std::string random_system_in_words(double shift, std::uint64_t seed, int count) {
  return std::string(shift != 0 ? "(A + sigma I)" : "A") + " x* with x* uniform in [-1, 1), seed " +
         std::to_string(seed) +
         (count > 1 ? " to " + std::to_string(seed + static_cast<std::uint64_t>(count) - 1) : "");
}

RightHandSide right_hand_side(const std::string& rhs, int count, std::uint64_t seed,
                              const AnyLinearOperator& A, double shift, const Device& device,
                              Progress* progress) {
  if (!rhs.empty() && rhs != "ones") {
    Stopwatch reading;
    std::vector<AnyField> b = read_fields_for(A, "--rhs", rhs, A.rows(), count, device, progress);
    return {std::move(b), {}, rhs, reading.seconds()};
  }
  RightHandSide made{{}, {}, "ones", 0};
  const int scalars = scalars_of_number(A.entry());
  for (int k = 0; k < count; ++k) {
    AnyField& b = made.b.emplace_back(A.row_field());
    const Offset end = Offset(b.rows()) * b.components();
    if (!rhs.empty()) {
      for (Offset i = 0; i < end; i += scalars) b.set(i, 1);
      continue;
    }
    AnyField& exact = made.exact.emplace_back(A.column_field());
    fill_random(exact, seed + static_cast<std::uint64_t>(k));
    A.apply(exact, b);
    for (Offset i = 0; shift != 0 && i < end; ++i) b.set(i, b.get(i) + shift * exact.get(i));
  }
  if (rhs.empty()) made.text = random_system_in_words(shift, seed, count);
  return made;
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
