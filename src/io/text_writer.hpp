// Text made by several threads, written in order, plain or compressed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/array.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::io {

/// One gzip file of one member (RFC 1952), or the text as it is.
class TextWriter {
 public:
  TextWriter(const std::string& path, int threads, Progress* progress);

  void write(std::string_view text);

  /// Writes what `format(begin, end, text)` appends for ranges that together are 0 to `count`, in
  /// order, and made by several threads.
  template <class Format>
  void write_ranges(long long count, long long range, const Format& format) {
    const auto chunk = [&](long long i, std::string& text) {
      format(i * range, std::min(count, (i + 1) * range), text);
    };
    write_chunks((count + range - 1) / range, &chunk,
                 [](const void* f, long long i, std::string& t) {
                   (*static_cast<const decltype(chunk)*>(f))(i, t);
                 });
  }

  void commit();

 private:
  using Chunk = void (*)(const void* format, long long chunk, std::string& text);

  void write_chunks(long long chunks, const void* format, Chunk make);
  std::string deflated(std::string_view text) const;
  void put(std::string_view text, std::string_view as_written);

  OutputFile file_;
  bool is_gzip_;
  int threads_;
  Progress* progress_;
  std::uint32_t checksum_ = 0;
  std::uint32_t length_ = 0;  // modulo 2^32, as the format has it
};

}  // namespace heddle::io
