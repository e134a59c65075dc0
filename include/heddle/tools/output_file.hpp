// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The error of an `OutputFile` that the system refuses to extend: a full disk, a limit on the size
/// of files, a pipe without a reader. The command line maps it to exit status 3.
class HEDDLE_EXPORT WriteFailed : public Error {
 public:
  explicit WriteFailed(const std::string& message) : Error(ErrorKind::io, message) {}
};

/// The file that an `OutputFile` with this path replaces or makes: absolute, with all links
/// followed, including one that leads to nothing yet. Throws `Error` (io) for a path that is empty
/// and for links that end nowhere.
HEDDLE_EXPORT std::string written_path(const std::string& path);

/// The descriptor in a path that names one (/dev/stdout, /dev/stderr, /dev/fd/3), or -1.
HEDDLE_EXPORT int named_descriptor(std::string_view path);

/// Writes to an unguessable temporary name in the folder of `path`. `commit` renames it to `path`;
/// destruction without it leaves nothing, unless the file has appeared. A replaced file must be
/// writable; the new one has its permissions from the start. Links are followed, and stay. If
/// `path` is not a regular file (a pipe, a terminal, /dev/null), it is written directly, and so is
/// a named open descriptor (/dev/stdout, /dev/fd/3), from its current position. Every failure is an
/// `Error` of kind io.
class HEDDLE_EXPORT OutputFile {
 public:
  /// `new_mode` is the permissions of a new file, minus those of the umask.
  explicit OutputFile(const std::string& path, unsigned new_mode = 0666);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  /// Passes everything written so far to the operating system. If that fails, a file that has
  /// appeared ends with the last successful `flush`.
  void flush();
  /// `flush`, and then all of it is on the disk: statements of later files about this one then hold
  /// after a loss of power too.
  void reach_disk();
  /// Renames now. The file grows from here with each `flush`, and stays however the run ends.
  void appear();

  /// Moves to the place of the next byte, counted from the start of the file.
  void seek(long long position);
  long long position() const { return flushed_ + static_cast<long long>(buffer_.size()); }

  /// The state that a loss of power may leave: the old file or the new one; or, faster and for
  /// files that can be made again, also a damaged one.
  enum class Durability { on_disk, as_it_comes };
  void commit(Durability durability = Durability::on_disk);

 private:
  void open_temporary(unsigned mode);
  void name_reaches_disk() const;
  [[noreturn]] void fail(int error) const;

  std::string path_;       // the user's path, for messages
  std::string target_;     // commit replaces it; links followed; empty for a named descriptor
  std::string temporary_;  // empty if the target is written directly
  std::string buffer_;
  long long flushed_ = 0;
  int descriptor_ = -1;
  bool is_regular_ = false;
  int slot_ = -1;
};

/// Removes the temporary files of every `OutputFile` that is not committed. Async-signal-safe: for
/// the handler of SIGINT and SIGTERM, which must then end the process.
HEDDLE_EXPORT void remove_unfinished_files() noexcept;

}  // namespace heddle
