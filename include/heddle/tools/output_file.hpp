// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// What an `OutputFile` throws where the system takes no more of it: a full disk, a limit on the
/// size of files, a pipe that nobody reads. The command line maps it to exit status 3.
class HEDDLE_EXPORT WriteFailed : public Error {
 public:
  explicit WriteFailed(const std::string& message) : Error(ErrorKind::io, message) {}
};

/// The file that an `OutputFile` of this path replaces or makes: absolute, and behind all links,
/// also behind one that leads to nothing yet. Throws `Error` (io) for a path that is empty and for
/// links that end nowhere.
HEDDLE_EXPORT std::string written_path(const std::string& path);

/// The descriptor that a path names by its number (/dev/stdout, /dev/stderr, /dev/fd/3), or -1.
HEDDLE_EXPORT int named_descriptor(std::string_view path);

/// Writes to a temporary name in the folder of `path`, which nobody can guess; `commit` puts it in
/// place of `path`, and destruction without it leaves nothing. A file that is replaced keeps its
/// permissions, which the new one has from the start, and is only replaced where it may be written.
/// Links are followed, and stay. Something at `path` that is no regular file (a pipe, a terminal,
/// /dev/null) is written to directly, and so is what a number names that a descriptor has
/// (/dev/stdout, /dev/fd/3), from where it stands. Every failure is an `Error` of kind io.
class HEDDLE_EXPORT OutputFile {
 public:
  /// `new_mode` are the permissions of a file that is not there yet, less those of the umask.
  explicit OutputFile(const std::string& path, unsigned new_mode = 0666);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);

  /// Moves the place where the next byte is written, counted from the start of the file.
  void seek(long long position);
  long long position() const { return flushed_ + static_cast<long long>(buffer_.size()); }

  /// What a loss of power may leave: the old file or the new one; or, which is faster and for what
  /// can be made again, also a damaged one.
  enum class Durability { on_disk, as_it_comes };
  void commit(Durability durability = Durability::on_disk);

 private:
  void open_temporary(unsigned mode);
  void flush();
  [[noreturn]] void fail(int error) const;

  std::string path_;       // as the user named it, for messages
  std::string target_;     // what commit replaces, links followed; empty for a named descriptor
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
