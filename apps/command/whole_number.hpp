// Options that are whole numbers, or numbers of one sign.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace heddle::cli {

/// For `transform`: takes decimal digits only, and refuses in one line a number outside `least` to
/// `most`. Without it, negative or too large numbers would become other numbers, and 010 would be
/// 8.
CLI::Validator whole_number(std::uint64_t least = 0,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// For `check`: takes finite numbers above 0, and also 0 if `or_zero`.
CLI::Validator positive_number(bool or_zero = false);

}  // namespace heddle::cli
