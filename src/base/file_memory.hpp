// Results that were made from files, kept until the files change.
#pragma once

#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace heddle {

/// Distinguishes one content of a file, or of a folder's list, from the next.
class FileState {
 public:
  /// None if there is no such file.
  static std::optional<FileState> of(const std::filesystem::path& path) {
    FileState state;
    if (stat(path.c_str(), &state.stat_) != 0) return std::nullopt;
    return state;
  }
  /// False while the file may change within a tick of its file system's clock and look the same.
  bool is_settled() const {
    constexpr std::time_t tick = 2;  // seconds, of the coarsest file systems
    return std::time(nullptr) - stat_.st_ctim.tv_sec > tick;
  }
  bool operator==(const FileState& other) const { return key() == other.key(); }

 private:
  std::tuple<dev_t, ino_t, off_t, long, long, long, long> key() const {
    return {stat_.st_dev,          stat_.st_ino,         stat_.st_size,        stat_.st_mtim.tv_sec,
            stat_.st_mtim.tv_nsec, stat_.st_ctim.tv_sec, stat_.st_ctim.tv_nsec};
  }
  struct stat stat_ = {};
};

/// Any thread may call `get`. T is cheap to copy.
template <class T>
class FileMemory {
 public:
  /// The result of `make()` for the present state of the file.
  template <class Make>
  T get(const std::filesystem::path& path, const Make& make) {
    const std::optional<FileState> now = FileState::of(path);
    if (now) {
      const std::lock_guard lock(mutex_);
      const auto known = known_.find(path.native());
      if (known != known_.end() && known->second.first == *now) return known->second.second;
    }
    T made = make();
    if (now && now->is_settled()) {
      const std::lock_guard lock(mutex_);
      known_.insert_or_assign(path.native(), std::pair(*now, made));
    }
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<FileState, T>> known_;
};

}  // namespace heddle
