// Text made by several threads, written in order, plain or compressed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "heddle/tools/output_file.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::io {

/// One gzip file of one member (RFC 1952), or the text as it is.
class TextWriter {
 public:
  TextWriter(const std::string& path, int threads, Progress* progress);

  void write(std::string_view text);

  /// Appends the text of a range to `text`.
  using Format = std::function<void(long long begin, long long end, std::string& text)>;
  /// Writes what `format` appends for ranges that together are 0 to `count`, in order, and made by
  /// several threads.
  void write_ranges(long long count, long long range, const Format& format);

  void commit();

 private:
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
