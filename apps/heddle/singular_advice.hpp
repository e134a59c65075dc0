// Words of the command line where a preconditioner meets an entry without inverse.
#pragma once

#include <cstdio>
#include <string>

#include "heddle/error.hpp"

namespace heddle::cli {

/// The --preconditioner where nobody names one.
inline constexpr const char* automatic = "auto";

/// Only in a handler of `error`, which it throws again.
[[noreturn]] inline void throw_with_advice(const Error& error) {
  if (error.kind() != ErrorKind::singular) throw;
  throw Error(error.kind(), std::string(error.what()) + "; use --preconditioner none");
}

/// A line of a report where nobody has named the preconditioner and Jacobi was not for the matrix.
inline void print_without_jacobi(const std::string& taken, const std::string& reason) {
  if (taken != "none") return;
  std::printf("jacobi     not taken: %s\n", reason.c_str());
}

}  // namespace heddle::cli
