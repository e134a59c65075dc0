#include "text_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::io {

namespace {

std::string little_endian(std::uint32_t word) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xFF);
  return bytes;
}

template <class T>
void append(std::string& text, T value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

}  // namespace

void append_number(std::string& text, double value) { append(text, value); }
void append_number(std::string& text, long long value) { append(text, value); }

TextWriter::TextWriter(const std::string& path, int threads, Progress* progress)
    : file_(path), is_gzip_(path.ends_with(".gz")), threads_(threads), progress_(progress) {
  using namespace std::string_view_literals;
  // No flags, no time, an unknown file system.
  if (is_gzip_) file_.write("\x1f\x8b\x08\0\0\0\0\0\0\xff"sv);
}

/// Raw deflate blocks that end at a whole byte, so that they can follow one another.
std::string TextWriter::deflated(std::string_view text) const {
  constexpr int memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, deflateEnd);
  constexpr std::size_t flush_bytes = 16;
  std::string bytes(deflateBound(&stream, text.size()) + flush_bytes, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_SYNC_FLUSH);
  bytes.resize(bytes.size() - stream.avail_out);
  return bytes;
}

void TextWriter::put(std::string_view text, std::string_view as_written) {
  file_.write(as_written);
  if (!is_gzip_) return;
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  checksum_ = static_cast<std::uint32_t>(
      crc32_combine(checksum_, checksum, static_cast<z_off_t>(text.size())));
  length_ += static_cast<std::uint32_t>(text.size());
}

void TextWriter::write(std::string_view text) {
  if (text.empty()) return;
  put(text, is_gzip_ ? deflated(text) : std::string(text));
}

void TextWriter::write_ranges(long long count, long long range, const Format& format) {
  // Round by round: some chunks for each thread are made at once, then written in order.
  struct Made {
    std::string text, compressed;
  };
  const long long chunks = (count + range - 1) / range;
  std::vector<Made> made(static_cast<std::size_t>(std::min<long long>(4LL * threads_, chunks)));
  const auto at_once = static_cast<long long>(made.size());
  for (long long first = 0; first < chunks; first += at_once) {
    const long long now = std::min(at_once, chunks - first);
    parallel_for(threads_, now, 1, [&](long long i) {
      auto& [text, compressed] = made[static_cast<std::size_t>(i)];
      text.clear();
      const long long begin = (first + i) * range;
      format(begin, std::min(count, begin + range), text);
      if (is_gzip_ && !text.empty()) compressed = deflated(text);
    });
    for (long long i = 0; i < now; ++i) {
      const auto& [text, compressed] = made[static_cast<std::size_t>(i)];
      if (!text.empty()) put(text, is_gzip_ ? compressed : text);
    }
    if (progress_ != nullptr) {
      progress_->report(static_cast<double>(first) / static_cast<double>(chunks), "writing");
    }
  }
}

void TextWriter::commit() {
  using namespace std::string_view_literals;
  constexpr auto empty_last_block = "\x03\0"sv;
  if (is_gzip_) {
    file_.write(empty_last_block);
    file_.write(little_endian(checksum_) + little_endian(length_));
  }
  file_.commit();
}

}  // namespace heddle::io
