// A matrix of the numbers of a file, whichever they are.
#pragma once

#include <string>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

/// Real entries, or complex ones where the file's numbers are. Errors as `AnyMatrix::read`.
AnyMatrix read_numbers(const std::string& path, Precision precision, const Device& device,
                       Progress* progress = nullptr);

}  // namespace heddle
