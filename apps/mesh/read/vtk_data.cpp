#include "vtk_data.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heddle/error.hpp"

namespace heddle::mesh {

namespace {

/// Returns 0 to 63, or -1.
int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

class Unpacker {
 public:
  Unpacker(std::string_view bytes, const VtkCoding& coding, const std::string& where)
      : bytes_(bytes), coding_(coding), where_(where) {}

  std::uint64_t size() {
    if (!coding_.is_compressed) return length();
    return read_blocks().size;
  }

  std::string plain() { return std::string(take(length())); }

  std::string inflated() {
    const Blocks blocks = read_blocks();
    std::string result;
    result.reserve(blocks.size);
    for (std::size_t i = 0; i < blocks.packed.size(); ++i) {
      const bool is_last = i + 1 == blocks.packed.size();
      inflate_block(take(blocks.packed[i]), is_last ? blocks.last : blocks.each, result);
    }
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::malformed_file, where_ + what);
  }

  std::size_t length_size() const { return coding_.has_long_lengths ? 8 : 4; }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) refuse("the data end too early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  /// Inflated bytes of all blocks, of one block and of the last one, and packed bytes of each.
  struct Blocks {
    std::uint64_t size = 0, each, last;
    std::vector<std::uint64_t> packed;
  };

  /// Reads the numbers before the blocks: their count, the size of one block and of the last, 0 if
  /// the last is whole, and the packed size of each.
  Blocks read_blocks() {
    const std::uint64_t count = length();
    Blocks blocks{.each = length(), .last = length(), .packed = {}};
    if (blocks.last == 0) blocks.last = blocks.each;
    if (count > bytes_.size() / length_size()) refuse("more blocks than bytes");
    blocks.packed.resize(count);
    for (std::uint64_t& block : blocks.packed) block = length();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t size = i + 1 == count ? blocks.last : blocks.each;
      // Inflating multiplies the number of bytes by at most 1032.
      if (size / 1032 > blocks.packed[i] || blocks.packed[i] > bytes_.size()) {
        refuse("a compressed block is larger than its bytes can be");
      }
      blocks.size += size;
    }
    return blocks;
  }

  std::uint64_t length() {
    std::string raw(take(length_size()));
    if (coding_.is_swapped) std::reverse(raw.begin(), raw.end());
    if (coding_.has_long_lengths) {
      std::uint64_t value;
      std::memcpy(&value, raw.data(), sizeof value);
      return value;
    }
    std::uint32_t value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  void inflate_block(std::string_view packed, std::uint64_t size, std::string& result) const {
    const std::size_t begin = result.size();
    result.resize(begin + size);
    uLongf got = size;
    const int status = uncompress(reinterpret_cast<Bytef*>(result.data() + begin), &got,
                                  reinterpret_cast<const Bytef*>(packed.data()), packed.size());
    if (status != Z_OK || got != size) refuse("a compressed block is damaged");
  }

  std::string_view bytes_;
  const VtkCoding& coding_;
  const std::string& where_;
};

}  // namespace

std::string from_base64(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ') continue;
    if (c == '=') {  // the end of a part
      count = 0;
      continue;
    }
    const int value = value_of(c);
    if (value < 0) break;
    bits = bits << 6 | static_cast<unsigned>(value);
    if (++count == 1) continue;
    bytes += static_cast<char>(bits >> (8 - 2 * count) & 0xffU);
    count %= 4;
  }
  return bytes;
}

std::uint64_t unpacked_size(std::string_view bytes, const VtkCoding& coding,
                            const std::string& where) {
  return Unpacker(bytes, coding, where).size();
}

std::string unpacked(std::string_view bytes, const VtkCoding& coding, const std::string& where) {
  Unpacker unpacker(bytes, coding, where);
  return coding.is_compressed ? unpacker.inflated() : unpacker.plain();
}

}  // namespace heddle::mesh
