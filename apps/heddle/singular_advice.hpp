// Words of the command line where a preconditioner meets an entry without inverse.
#pragma once

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

}  // namespace heddle::cli
