// Which method solves, and why: as named, or for what the matrix is.
#pragma once

#include <string>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

struct MethodChoice {
  Method method = Method::conjugate_gradient;
  std::string reason;
  bool is_free = false;  // nobody has named it

  /// After a solve: true where conjugate gradient turns out not to be for this matrix and nobody
  /// has named it. The choice is BiCGStab then.
  bool gives_way(const Report& report);
};

/// The methods, as help tells of them.
std::string methods_in_words();

/// Throws `Error` (usage) unless `text` is auto or names a method.
void check_method(const std::string& text);

/// Whether that method restarts after so many iterations.
bool restarts(const std::string& text);

/// With auto, conjugate gradient for Hermitian matrices, else BiCGStab; looks at all entries.
MethodChoice choose_method(const std::string& text, const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::cli
