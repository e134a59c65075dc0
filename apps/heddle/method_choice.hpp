// Which method solves, and why: as named, or for what the matrix is.
#pragma once

#include <string>
#include <string_view>

#include "heddle/method_info.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

/// The --solver that is none of the table: `Lsmr`.
inline constexpr std::string_view least_squares_name = "lsmr";

struct MethodChoice {
  const MethodInfo* method = &method_table().front();
  std::string reason;
  bool is_free = false;  // nobody has named it

  /// After a solve: true where the method turns out not to be for this matrix and nobody has named
  /// it. The choice is then another.
  bool gives_way(const Report& report);
};

/// The methods, as help tells of them.
std::string methods_in_words();

/// Throws `Error` (usage) unless `text` is auto or names a method.
void check_method(const std::string& text);

/// Whether that method restarts after so many iterations.
bool restarts(const std::string& text);

/// With auto, FGMRES for a preconditioner that varies, the first method of the table for Hermitian
/// matrices, COCR for complex symmetric ones, else, or where the preconditioner is not of that
/// kind, the first one for all; looks at all entries.
MethodChoice choose_method(const std::string& text, const AnyMatrix& matrix,
                           const PreconditionerInfo& preconditioner, const Device& device);

}  // namespace heddle::cli
