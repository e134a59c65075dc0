// The right-hand side of a solve, and fields that come from files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

struct FieldsOfFile {
  std::vector<AnyField> fields;
  std::string text;  // for reports: the file, and how it was read
};

/// The fields that a matrix multiplies, or those that it produces.
struct FieldsWanted {
  AnyEntry entry;
  Precision precision;
  Index rows;
  bool are_of_columns = false;
};
FieldsWanted rows_of(const AnyMatrix& matrix);
FieldsWanted rows_of(const AnyLinearOperator& matrix);
FieldsWanted columns_of(const AnyLinearOperator& matrix);

/// The fields of a file that an option names, in the shapes of `io::FieldLayout`. Throws `Error`
/// that names both.
FieldsOfFile read_fields(const std::string& option, const std::string& path,
                         const FieldsWanted& wanted, std::optional<int> count, const Device& device,
                         Progress* progress);

struct RightHandSide {
  std::vector<AnyField> b;
  std::vector<AnyField> exact;  // the solutions, if they are known
  std::string text;             // for reports
  double read_seconds = 0;
};

/// The right-hand sides in a file that --rhs names.
RightHandSide right_hand_side_of_file(const std::string& rhs, std::optional<int> count,
                                      const FieldsWanted& wanted, const Device& device,
                                      Progress* progress);

/// Describes the systems with random solutions of `count` seeds, for reports.
std::string random_system_in_words(double shift, std::uint64_t seed, int count);

/// Sets the number 1 in every row of a field of zeros.
void fill_ones(AnyField& field, const AnyEntry& entry);

/// |x - exact| / |exact|, or |x - exact| if the solution is 0.
double relative_error(const AnyField& x, const AnyField& exact);

/// Writes fields side by side, in the format that the ending of the path names.
void write_fields(const std::string& path, const std::vector<AnyField>& fields,
                  const AnyEntry& entry, Progress* progress);

}  // namespace heddle::cli
