#include <algorithm>

#include "heddle/read.hpp"
#include "heddle/tools/text.hpp"
#include "line_blocks.hpp"

namespace heddle::io {

std::string read_file(const std::string& path, Progress* progress) {
  constexpr std::size_t least = std::size_t(1) << 20;
  std::string bytes;
  std::size_t size = 0;
  const auto source = open_bytes(path);
  heddle::detail::naming_file(path, [&] {
    for (;;) {
      if (size == bytes.size()) bytes.resize(std::max(least, 2 * size));
      const std::size_t count = source->read(bytes.data() + size, bytes.size() - size);
      if (count == 0) return;
      size += count;
      if (progress != nullptr) progress->report(source->fraction(), "reading");
    }
  });
  bytes.resize(size);
  return bytes;
}

}  // namespace heddle::io
