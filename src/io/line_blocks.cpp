#include "line_blocks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::io {

namespace {

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY)) {
    if (descriptor_ < 0) throw Error(ErrorKind::io, path + ": " + std::strerror(errno));
    struct stat status{};
    if (fstat(descriptor_, &status) != 0 || S_ISDIR(status.st_mode)) {
      close(descriptor_);
      throw Error(ErrorKind::io, path + ": is a directory");
    }
    if (S_ISREG(status.st_mode)) size_ = static_cast<double>(status.st_size);
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~FileBytes() override { close(descriptor_); }

  std::size_t read(char* to, std::size_t bytes) override {
    for (;;) {
      const ssize_t count = ::read(descriptor_, to, bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw Error(ErrorKind::io, std::string("cannot read: ") + strerror(errno));
      read_ += static_cast<double>(count);
      return static_cast<std::size_t>(count);
    }
  }
  double fraction() const override { return size_ > 0 ? read_ / size_ : -1; }
  double max_bytes() const override { return size_ > 0 ? size_ : -1; }

 private:
  int descriptor_;
  double size_ = 0;
  double read_ = 0;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view text) : rest_(text) {}

  std::size_t read(char* to, std::size_t bytes) override {
    const std::size_t count = rest_.copy(to, bytes);
    rest_.remove_prefix(count);
    return count;
  }
  double max_bytes() const override { return static_cast<double>(rest_.size()); }

 private:
  std::string_view rest_;
};

/// A source with bytes that were looked at put back in front of the others.
class PeekedBytes final : public ByteSource {
 public:
  PeekedBytes(std::string peeked, std::unique_ptr<ByteSource> source)
      : peeked_(std::move(peeked)), source_(std::move(source)) {}

  std::size_t read(char* to, std::size_t bytes) override {
    if (used_ == peeked_.size()) return source_->read(to, bytes);
    const std::size_t count = peeked_.copy(to, bytes, used_);
    used_ += count;
    return count;
  }
  double fraction() const override { return source_->fraction(); }
  double max_bytes() const override {
    const double most = source_->max_bytes();
    return most < 0 ? most : most + static_cast<double>(peeked_.size());
  }

 private:
  std::string peeked_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> source_;
};

/// The contents of a gzip file of one member or more (RFC 1952).
class GzipBytes final : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), input_(std::size_t(1) << 18) {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t bytes) override {
    bytes = std::min(bytes, std::size_t(1) << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(bytes);
    while (stream_.avail_out == bytes) {
      if (stream_.avail_in == 0) refill();
      if (stream_.avail_in == 0) {
        if (between_members_) return 0;
        throw Error(ErrorKind::malformed_file, "the compressed file is truncated");
      }
      if (between_members_ && *stream_.next_in == 0) {  // padding, which gzip allows
        ++stream_.next_in;
        --stream_.avail_in;
        continue;
      }
      between_members_ = false;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inflateReset(&stream_);
        between_members_ = true;
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw Error(ErrorKind::malformed_file,
                    std::string("the compressed file is damaged") +
                        (stream_.msg != nullptr ? std::string(": ") + stream_.msg : ""));
      }
    }
    return bytes - stream_.avail_out;
  }
  double fraction() const override { return source_->fraction(); }
  double max_bytes() const override {
    constexpr double best_deflate = 1032;
    return best_deflate * source_->max_bytes();
  }

 private:
  void refill() {
    stream_.avail_in = static_cast<uInt>(source_->read(input_.data(), input_.size()));
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = true;
};

/// Up to `size` bytes of the source, which are then consumed.
std::string peeked_from(ByteSource& source, std::size_t size) {
  std::string head(size, '\0');
  std::size_t found = 0;
  for (std::size_t count = 1; found < size && count != 0; found += count) {
    count = source.read(head.data() + found, size - found);
  }
  head.resize(found);
  return head;
}

/// The bytes of a source without the byte order mark in front.
class UnmarkedBytes final : public ByteSource {
 public:
  explicit UnmarkedBytes(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  std::size_t read(char* to, std::size_t bytes) override {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (!has_begun_) {
      has_begun_ = true;
      head_ = peeked_from(*source_, mark.size());
      if (head_ == mark) head_.clear();
    }
    if (head_.empty()) return source_->read(to, bytes);
    const std::size_t count = head_.copy(to, bytes);
    head_.erase(0, count);
    return count;
  }
  double fraction() const override { return source_->fraction(); }
  double max_bytes() const override { return source_->max_bytes(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  bool has_begun_ = false;
};

std::unique_ptr<ByteSource> inflated_if_gzip(std::unique_ptr<ByteSource> source) {
  std::string head = peeked_from(*source, 2);
  const bool is_gzip = head == "\x1f\x8b";
  std::unique_ptr<ByteSource> whole =
      std::make_unique<PeekedBytes>(std::move(head), std::move(source));
  if (is_gzip) whole = std::make_unique<GzipBytes>(std::move(whole));
  return std::make_unique<UnmarkedBytes>(std::move(whole));
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  auto file = std::make_unique<FileBytes>(path);
  try {
    return inflated_if_gzip(std::move(file));
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

std::unique_ptr<ByteSource> open_bytes(std::string_view text) {
  return inflated_if_gzip(std::make_unique<MemoryBytes>(text));
}

std::string first_bytes(std::unique_ptr<ByteSource>& source, std::size_t bytes) {
  std::string head = peeked_from(*source, bytes);
  source = std::make_unique<PeekedBytes>(head, std::move(source));
  return head;
}

bool LineBlocks::next(Block& block) {
  const std::lock_guard lock(mutex_);
  if (done_) return false;
  block.sequence = sequence_++;
  if (given_ > limit_) {
    done_ = true;
    throw Error(ErrorKind::malformed_file, beyond_limit_);
  }
  block.begin = block.end = 0;
  auto& text = block.text;
  const auto ensure_size = [&](std::size_t bytes) {
    if (text.size() < bytes) text.resize(bytes);
  };
  ensure_size(carried_.size() + block_bytes_ + 1);
  std::size_t size = carried_.size();
  std::copy(carried_.begin(), carried_.end(), text.begin());
  carried_.clear();
  std::size_t whole = 0;  // bytes up to the last line end
  try {
    for (std::size_t target = size + block_bytes_; !done_ && (size < target || whole == 0);) {
      if (size == target) target += size;  // a line longer than all of this
      constexpr std::size_t longest_line = std::size_t(1) << 24;
      if (target > longest_line) {
        throw Error(ErrorKind::malformed_file,
                    "a line of more than " + std::to_string(longest_line / 2) + " bytes");
      }
      ensure_size(target + 1);
      const std::size_t count = source_->read(text.data() + size, target - size);
      const void* line_end = count == 0 ? nullptr : memrchr(text.data() + size, '\n', count);
      size += count;
      if (line_end != nullptr) {
        whole = static_cast<std::size_t>(static_cast<const char*>(line_end) - text.data()) + 1;
      }
      if (count == 0) {
        done_ = true;
        if (whole < size) text[size++] = '\n';
        whole = size;
      }
    }
  } catch (...) {
    done_ = true;
    throw;
  }
  block.end = whole;
  given_ += static_cast<double>(whole);
  carried_.assign(text.begin() + static_cast<std::ptrdiff_t>(whole),
                  text.begin() + static_cast<std::ptrdiff_t>(size));
  if (progress_ != nullptr) progress_->report(source_->fraction(), "reading");
  return whole != 0;
}

void LineBlocks::limit(double bytes, std::string message) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  beyond_limit_ = std::move(message);
}

bool LineBlocks::at_end() {
  const std::lock_guard lock(mutex_);
  return done_;
}

void LineBlocks::stop() {
  const std::lock_guard lock(mutex_);
  done_ = true;
}

}  // namespace heddle::io
