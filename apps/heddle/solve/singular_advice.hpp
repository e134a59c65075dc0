// Advice on the command line if a preconditioner cannot be made.
#pragma once

#include <string>
#include <string_view>

#include "heddle/error.hpp"

namespace heddle::cli {

/// The value of --preconditioner if none is named.
inline constexpr const char* automatic = "auto";

/// To be called only in a handler of `error`, which it rethrows.
[[noreturn]] inline void throw_with_advice(const Error& error) {
  if (error.kind() != ErrorKind::singular) throw;
  // No preconditioner helps there.
  if (std::string_view(error.what()).find("not finite") != std::string_view::npos) throw;
  throw Error(error.kind(), std::string(error.what()) + "; use --preconditioner none");
}

}  // namespace heddle::cli
