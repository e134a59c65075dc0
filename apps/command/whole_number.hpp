// Options that are whole numbers, or numbers of one sign.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace heddle::cli {

/// For `transform`: takes decimal digits only, and refuses in one line what is not from `least` to
/// `most`. Without it numbers that are negative or too large become others, and 010 is 8.
CLI::Validator whole_number(std::uint64_t least = 0,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// For `check`: takes finite numbers above 0, and 0 itself where `or_zero`.
CLI::Validator positive_number(bool or_zero = false);

}  // namespace heddle::cli
