#include "right_hand_side.hpp"

#include <cmath>

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

AnyField read_field_for(const AnyOperator& matrix, const std::string& option,
                        const std::string& path, Index rows, const Device& device,
                        Progress* progress) {
  AnyField field = AnyField::read(path, matrix.entry(), matrix.precision(), device, progress);
  if (field.rows() != rows) {
    throw Error(ErrorKind::size_mismatch,
                option + " " + path + " has " + std::to_string(field.rows()) + " rows" +
                    (field.components() > 1
                         ? " of " + std::to_string(field.components()) + " real numbers each"
                         : "") +
                    ", the matrix has " + std::to_string(rows) +
                    (rows != matrix.rows() ? " columns" : ""));
  }
  return field;
}

RightHandSide right_hand_side(const std::string& rhs, std::uint64_t seed, const AnyOperator& A,
                              double shift, const Device& device, Progress* progress) {
  if (!rhs.empty() && rhs != "ones") {
    Stopwatch reading;
    AnyField b = read_field_for(A, "--rhs", rhs, A.rows(), device, progress);
    return {std::move(b), {}, rhs, reading.seconds()};
  }
  RightHandSide made{A.row_field(), {}, "ones", 0};
  if (rhs.empty()) {
    made.exact = A.column_field();
    fill_random(*made.exact, seed);
    A.apply(*made.exact, made.b);
    for (Offset i = 0; shift != 0 && i < Offset(made.b.rows()) * made.b.components(); ++i) {
      made.b.set(i, made.b.get(i) + shift * made.exact->get(i));
    }
    made.text = std::string(shift != 0 ? "(A + sigma I)" : "A") +
                " x* with x* uniform in [-1, 1), seed " + std::to_string(seed);
    return made;
  }
  const int scalars = scalars_of_number(A.entry());
  for (Offset i = 0; i < Offset(made.b.rows()) * made.b.components(); i += scalars)
    made.b.set(i, 1);
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
