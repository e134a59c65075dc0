// Options that name something, in any letter case.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/names.hpp"

namespace heddle::cli {

/// For `transform`: makes letters small, as all names are.
inline CLI::Validator any_case() {
  return {[](std::string& name) {
            name = lower_case(name);
            return std::string();
          },
          ""};
}

}  // namespace heddle::cli
