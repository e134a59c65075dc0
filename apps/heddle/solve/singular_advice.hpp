// Advice on the command line if a preconditioner finds an entry without an inverse.
#pragma once

#include <string>

#include "heddle/error.hpp"

namespace heddle::cli {

/// The value of --preconditioner if none is named.
inline constexpr const char* automatic = "auto";

/// To be called only in a handler of `error`, which it rethrows.
[[noreturn]] inline void throw_with_advice(const Error& error) {
  if (error.kind() != ErrorKind::singular) throw;
  throw Error(error.kind(), std::string(error.what()) + "; use --preconditioner none");
}

}  // namespace heddle::cli
