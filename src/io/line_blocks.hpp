// A text, plain or compressed, cut into blocks of whole lines that several threads take in turn.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle::io {

/// Bytes in order, from a file or from memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `to` with up to `bytes` of them; 0 at the end. Throws `Error` without naming the file.
  virtual std::size_t read(char* to, std::size_t bytes) = 0;
  /// The fraction read so far of the data that the source is made of; negative if not known.
  virtual double fraction() const { return -1; }
  /// Upper bound on the number of bytes; negative if not known.
  virtual double max_bytes() const { return -1; }
};

/// Opens a file, through zlib if it begins like a gzip file, without the byte order mark that a
/// text in UTF-8 may begin with. `path` may be a pipe.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);
/// Same for a text in memory, which must outlive the source.
std::unique_ptr<ByteSource> open_bytes(std::string_view text);

/// The first bytes of a source, up to `bytes` of them; the source still gives them.
std::string first_bytes(std::unique_ptr<ByteSource>& source, std::size_t bytes);

/// Whole lines, each ended by '\n'.
struct Block {
  long long sequence = 0;  // 0, 1, 2, ... in the order of the text
  std::size_t begin = 0, end = 0;
  std::vector<char> text;

  std::string_view lines() const { return {text.data() + begin, end - begin}; }
};

class LineBlocks {
 public:
  LineBlocks(std::unique_ptr<ByteSource> source, std::size_t block_bytes,
             Progress* progress = nullptr)
      : source_(std::move(source)), block_bytes_(block_bytes), progress_(progress) {}

  /// Takes the next block; false after the last. May be called from several threads at once: one
  /// reads and inflates while the others work on the blocks that they took. An `Error` of the
  /// source is thrown once, with `block.sequence` set; so is one (malformed_file) for a line longer
  /// than any text has.
  bool next(Block& block);

  /// Once more than `bytes` bytes were given, `next` throws `Error` (malformed_file) with this
  /// message: unpacking a compressed file costs time that its contents must be worth.
  void limit(double bytes, std::string message);

  /// True when the block that `next` gave last was the last one.
  bool at_end();

  /// The source's `max_bytes`.
  double max_bytes() const { return source_->max_bytes(); }

  /// After this call no thread is given another block.
  void stop();

 private:
  std::mutex mutex_;
  std::unique_ptr<ByteSource> source_;
  std::size_t block_bytes_;
  Progress* progress_;
  std::vector<char> carried_;  // the beginning of a line whose end was not yet read
  long long sequence_ = 0;
  bool done_ = false;
  double given_ = 0, limit_ = std::numeric_limits<double>::infinity();
  std::string beyond_limit_;
};

}  // namespace heddle::io
