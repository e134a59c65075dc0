// The readers of Matrix Market files, from any bytes.
#pragma once

#include <memory>
#include <string>

#include "heddle/matrix_market.hpp"
#include "line_blocks.hpp"

namespace heddle::io {

struct ReadLimits {
  std::size_t block_bytes = std::size_t(1) << 19;  // bytes of text that a thread takes at a time
  /// Rows (or numbers of a coordinate field) that a file may promise beyond 16 for each of its
  /// entries: memory is spent on what a file holds, not on what it promises.
  Offset spare = Offset(1) << 24;
};

/// `name` appears in messages.
ScalarMatrix read_matrix_market(const std::string& name, std::unique_ptr<ByteSource> source,
                                const Device& device, Progress* progress = nullptr,
                                const ReadLimits& limits = {});
ScalarField read_matrix_market_field(const std::string& name, std::unique_ptr<ByteSource> source,
                                     const Device& device, Progress* progress = nullptr,
                                     const ReadLimits& limits = {});

}  // namespace heddle::io
