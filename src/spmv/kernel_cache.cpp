#include "kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text/environment.hpp"
#include "base/text/hash.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::cuda {

namespace fs = std::filesystem;

namespace {

// A file is this header, the text of its key, and the image.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t version;
  std::uint64_t key_bytes;
  std::uint64_t image_bytes;
  Hash image_hash;
};
constexpr std::array<char, 8> magic = {'H', 'D', 'L', 'K', 'E', 'R', 'N', 'L'};
constexpr std::uint64_t version = 1;
constexpr std::string_view suffix = ".kernel";

/// Kernel and architecture have lines of their own, which `list` shows.
std::string text_of(const KernelKey& key) {
  return key.kernel + "\n" + key.architecture + "\n" + key.inputs;
}

std::string_view view(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

constexpr mode_t by_others = S_IWGRP | S_IWOTH;

/// True if the file belongs to this user, or to root, who may do anything anyway.
bool is_own(const struct stat& status) {
  return (status.st_uid == geteuid() || status.st_uid == 0) && (status.st_mode & by_others) == 0;
}

/// A file of the cache, read front to back.
class Reader {
 public:
  // Does not block, in case the name belongs to a pipe.
  explicit Reader(const fs::path& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Reader() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Empty unless the file is as long as its header says.
  std::optional<Header> header() const {
    struct stat status{};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return {};
    Header header;
    if (!S_ISREG(status.st_mode) || !is_own(status)) return {};
    if (!read(&header, sizeof header)) return {};
    const auto rest = static_cast<std::uint64_t>(status.st_size) - sizeof header;
    if (header.magic != magic || header.version != version) return {};
    if (header.key_bytes > rest || header.image_bytes != rest - header.key_bytes) return {};
    return header;
  }
  bool read(void* to, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(to); bytes != 0;) {
      const ssize_t got = ::read(descriptor_, at, bytes);
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  void touch() const { futimens(descriptor_, nullptr); }

 private:
  int descriptor_;
};

bool is_image(const std::string& name) {
  return name.size() == 32 + suffix.size() && name.ends_with(suffix) &&
         name.find_first_not_of("0123456789abcdef") == 32;
}

/// True for the name that `OutputFile` gives an image while it is being written.
bool is_unfinished(const std::string& name) {
  return name.size() > 33 + suffix.size() && name.front() == '.' &&
         is_image(name.substr(1, 32 + suffix.size())) && name.ends_with(".part");
}

struct File {
  fs::path path;
  std::uintmax_t bytes = 0;
  fs::file_time_type last_used;
  bool unfinished = false;
};

/// Images and the remains of unfinished ones. A file that disappears meanwhile is no error.
std::vector<File> files_of(const fs::path& folder) {
  std::vector<File> files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool unfinished = is_unfinished(name);
    if (!unfinished && !is_image(name)) continue;
    std::error_code gone;
    File file{at->path(), at->file_size(gone), {}, unfinished};
    if (!gone) file.last_used = at->last_write_time(gone);
    if (!gone) files.push_back(std::move(file));
  }
  std::ranges::sort(files, std::ranges::greater(), &File::last_used);
  return files;
}

}  // namespace

fs::path kernel_cache_folder() {
  if (const std::string own = environment("HEDDLE_CACHE_DIR"); !own.empty()) return own;
  return user_cache_folder();
}

KernelCache::KernelCache(fs::path folder, std::uintmax_t bound) : bound_(bound) {
  // The working directory may change while the cache is in use.
  std::error_code error;
  if (!folder.empty()) folder_ = fs::absolute(folder, error);
}

fs::path KernelCache::file_of(const std::string& key_text) const {
  return folder_ / (to_string(hash(key_text)) + std::string(suffix));
}

std::string KernelCache::why_unsafe() const {
  struct stat status{};
  if (folder_.empty() || stat(folder_.c_str(), &status) != 0) return "";
  if (!S_ISDIR(status.st_mode) || is_own(status)) return "";
  const std::string own = "name your own folder in HEDDLE_CACHE_DIR";
  const std::string begin = "the kernels in " + folder_.string() + " are not used: the folder ";
  if (status.st_uid != geteuid()) {
    return begin + "belongs to another user (" + std::to_string(status.st_uid) + "); " + own;
  }
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777U);
  return begin + "can be written by others (mode " + mode + "); chmod go-w it, or " + own;
}

std::optional<std::vector<char>> KernelCache::load(const KernelKey& key) const {
  if (!is_usable()) return {};
  const std::string wanted = text_of(key);
  const Reader file(file_of(wanted));
  const auto header = file.header();
  if (!header || header->key_bytes != wanted.size()) return {};
  std::string found(wanted.size(), '\0');
  if (!file.read(found.data(), found.size()) || found != wanted) return {};
  if (header->image_bytes > bound_) return {};
  std::vector<char> image(header->image_bytes);
  if (!file.read(image.data(), image.size()) || hash(view(image)) != header->image_hash) return {};
  file.touch();
  return image;
}

void KernelCache::store(const KernelKey& key, std::span<const char> image) {
  if (!is_usable()) return;
  const std::string text = text_of(key);
  const Header header{magic, version, text.size(), image.size(), hash(view(image))};
  if (make_private_folder(folder_)) return;
  try {
    free_space(sizeof header + text.size() + image.size());
    // An existing file that others may write would keep its permissions.
    const fs::path path = file_of(text);
    unlink(path.c_str());
    constexpr unsigned owner_alone = 0600;
    OutputFile file(path.string(), owner_alone);
    file.write({reinterpret_cast<const char*>(&header), sizeof header});
    file.write(text);
    file.write(view(image));
    file.commit(OutputFile::Durability::as_it_comes);
  } catch (const Error&) {
    return;  // not writable, or the disk is full
  }
}

void KernelCache::free_space(std::uintmax_t bytes) {
  const std::lock_guard lock(space_mutex_);
  if (bytes > free_) {
    // An eighth is kept free, so that the folder is not searched for each image.
    const std::uintmax_t slack = bound_ / 8;
    if (bytes > slack) throw Error(ErrorKind::io, "the image is larger than the cache allows");
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    std::uintmax_t total = 0;
    for (const File& file : files_of(folder_)) {
      total += file.bytes;
      std::error_code ignored;
      if (total > bound_ - slack || (file.unfinished && file.last_used < old)) {
        fs::remove(file.path, ignored);
      }
    }
    free_ = slack;
  }
  free_ -= bytes;
}

std::vector<CachedKernel> KernelCache::list() const {
  std::vector<CachedKernel> kernels;
  for (const File& file : files_of(folder_)) {
    if (file.unfinished) continue;
    CachedKernel& kernel = kernels.emplace_back();
    kernel.bytes = file.bytes;
    kernel.last_used = file.last_used;
    const Reader reader(file.path);
    const auto header = reader.header();
    // The first two lines of the key suffice; its length is only a claim of the file.
    constexpr std::uint64_t enough = 4096;
    std::string key(header ? std::min(header->key_bytes, enough) : 0, '\0');
    if (!header || !reader.read(key.data(), key.size())) continue;
    const std::size_t first = std::min(key.find('\n'), key.size());
    const std::size_t second = std::min(key.find('\n', first + 1), key.size());
    kernel.kernel = key.substr(0, first);
    if (first < second) kernel.architecture = key.substr(first + 1, second - first - 1);
  }
  return kernels;
}

ClearedCache KernelCache::clear() {
  ClearedCache cleared;
  for (const File& file : files_of(folder_)) {
    std::error_code error;
    if (fs::remove(file.path, error)) {
      ++cleared.files;
      cleared.bytes += file.bytes;
    } else if (error) {
      throw Error(ErrorKind::io, file.path.string() + ": cannot remove: " + error.message());
    }
  }
  return cleared;
}

}  // namespace heddle::cuda
