// --manual: a program's help as a page of man(1).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heddle::cli {

/// The manual in roff: every command with the options of all its groups.
std::string manual_of(const CLI::App& app, const std::string& program);

}  // namespace heddle::cli
