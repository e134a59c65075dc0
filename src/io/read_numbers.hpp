// A matrix of the numbers of a file, real or complex.
#pragma once

#include <string>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

/// Real entries, or complex ones if the file's numbers are. Errors like those of `AnyMatrix::read`.
AnyMatrix read_numbers(const std::string& path, Precision precision, const Device& device,
                       Progress* progress = nullptr);

}  // namespace heddle
