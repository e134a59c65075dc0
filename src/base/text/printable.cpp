#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "heddle/tools/text.hpp"

namespace heddle::io {

namespace {

struct Character {
  std::size_t bytes = 0;  // 0 if they are not UTF-8
  std::uint32_t number = 0;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first < 0xC0 || first >= 0xF8 ? 0
                            : first < 0xE0                ? 2
                            : first < 0xF0                ? 3
                                                          : 4;
  if (bytes == 0) return {};
  std::uint32_t number = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    number = number << 6 | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = number >= 0xD800 && number <= 0xDFFF;
  if (number < least[bytes] || number > 0x10FFFF || is_surrogate) return {};
  return {bytes, number};
}

/// True for controls of either kind, line separators, and marks and embeddings of direction.
bool is_obeyed(std::uint32_t number) {
  constexpr std::pair<std::uint32_t, std::uint32_t> ranges[] = {
      {0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},  {0x200E, 0x200F},
      {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const auto& range) {
    return number >= range.first && number <= range.second;
  });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (character.bytes == 0 || is_obeyed(character.number)) {
      shown += '?';
    } else {
      shown += text.substr(at, bytes);
    }
    at += bytes;
  }
  return shown;
}

}  // namespace heddle::io
