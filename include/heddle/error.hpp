// The one exception of the library, for bad input and missing resources, thrown before any
// iteration.
#pragma once

#include <stdexcept>
#include <string>

#include "heddle/export.hpp"

namespace heddle {

/// Kinds that a caller may want to distinguish; the command line maps `memory` and `internal` to
/// exit status 3.
enum class ErrorKind {
  usage,           // an argument or a combination of arguments that has no meaning
  malformed_file,  // a fault in a file, with file:line
  size_mismatch,   // operands that do not fit
  out_of_range,    // a column, row or component that does not exist
  not_finite,      // NaN or Inf where a number is needed
  singular,        // a preconditioner that cannot be made, its row named
  unsupported,     // an entry or operator that a method cannot take
  bad_plan,        // a plan or profile that does not parse or does not fit
  no_device,       // a GPU, its driver or compiler is missing
  memory,          // a layout that does not fit, with what each part needs
  io,              // a file that cannot be opened, read or written
  internal         // a broken invariant of the library
};

class HEDDLE_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

namespace detail {

[[noreturn]] inline void malformed_file(const std::string& what) {
  throw Error(ErrorKind::malformed_file, what);
}

}  // namespace detail

}  // namespace heddle
