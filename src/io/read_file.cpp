#include <algorithm>

#include "base/text/readable.hpp"
#include "heddle/device.hpp"
#include "heddle/read.hpp"
#include "heddle/tools/text.hpp"
#include "line_blocks.hpp"

namespace heddle::io {

namespace {

/// Checks room for the doubled buffer, which exists along with the old one during a copy.
void check_memory(std::size_t bytes) {
  constexpr std::size_t worth_a_look = std::size_t(64) << 20;
  if (bytes < worth_a_look) return;
  const long long available = Device::cpu(1).available_memory();
  if (static_cast<long long>(bytes) <= available) return;
  throw Error(ErrorKind::memory, "unpacks to more than " +
                                     readable_bytes(static_cast<long long>(bytes / 2)) +
                                     ", available are " + readable_bytes(available));
}

}  // namespace

std::string read_file(const std::string& path, Progress* progress) {
  constexpr std::size_t least = std::size_t(1) << 20;
  std::string bytes;
  std::size_t size = 0;
  const auto source = open_bytes(path);
  heddle::detail::naming_file(path, [&] {
    for (;;) {
      if (size == bytes.size()) {
        check_memory(std::max(least, 2 * size));
        bytes.resize(std::max(least, 2 * size));
      }
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
