// Gathers rows of a field on a GPU, one after another.
#pragma once

#include <cstddef>

#include "heddle/array.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

/// Rows of `row_bytes` each, a multiple of 4, by their place in x.
void gather_rows(const Array<Index>& rows, std::size_t row_bytes, const void* x, void* to,
                 const Stream& stream);

}  // namespace heddle::cuda
