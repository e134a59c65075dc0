// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

/// Writes to a temporary name in the folder of `path`; `commit` puts it in place of `path`, and
/// destruction without it leaves nothing. Something at `path` that is no regular file (a pipe, a
/// terminal, /dev/null) is written to directly. Every failure is an `Error` of kind io.
class HEDDLE_EXPORT OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);

  /// Moves the place where the next byte is written, counted from the start of the file.
  void seek(long long position);
  long long position() const { return flushed_ + static_cast<long long>(buffer_.size()); }

  void commit();

 private:
  void flush();
  [[noreturn]] void fail(int error) const;

  std::string path_;       // as the user named it, for messages
  std::string target_;     // what commit replaces; links followed
  std::string temporary_;  // empty where the target is written to directly
  std::string buffer_;
  long long flushed_ = 0;
  int descriptor_ = -1;
  int slot_ = -1;
};

/// Removes the temporary names of every `OutputFile` that is not committed. Async-signal-safe: for
/// the handler of SIGINT and SIGTERM, which must then end the process.
HEDDLE_EXPORT void remove_unfinished_files() noexcept;

}  // namespace heddle
