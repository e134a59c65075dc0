// Options that take a name in any letter case.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/text/names.hpp"

namespace heddle::cli {

/// For `transform`: makes letters lower-case, as in all names.
inline CLI::Validator any_case() {
  return {[](std::string& name) {
            name = lower_case(name);
            return std::string();
          },
          ""};
}

}  // namespace heddle::cli
