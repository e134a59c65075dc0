// Compiled kernels on disk: one file each, named by the hash of all inputs of the compilation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::cuda {

/// All inputs that an image depends on. Two keys are equal if all three texts are.
struct KernelKey {
  std::string kernel;        // one line, for people
  std::string architecture;  // "sm_90", or "compute_90" for PTX
  std::string inputs;        // sources, options, versions: any text
};

struct CachedKernel {
  std::string kernel;  // empty in a file that is damaged
  std::string architecture;
  std::uintmax_t bytes = 0;  // size of the file
  std::filesystem::file_time_type last_used;
};

struct ClearedCache {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};

/// $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty if none of them
/// is set.
std::filesystem::path kernel_cache_folder();

/// A folder of images. Any number of threads and processes may use one folder at once: files appear
/// whole. A file that is damaged, belongs to another key or was written by another user (except
/// root) counts as absent. Other files in the folder are left alone.
class KernelCache {
 public:
  static constexpr std::uintmax_t default_bound = std::uintmax_t(256) << 20;

  /// Holds at most `bound` bytes; the folder is made when something is stored. A cache with an
  /// empty path keeps nothing.
  explicit KernelCache(std::filesystem::path folder, std::uintmax_t bound = default_bound);

  const std::filesystem::path& folder() const { return folder_; }

  /// The reason why no image is run from the folder or stored there: others could put theirs there.
  /// One line that says what to do; empty if the folder is safe.
  std::string why_unsafe() const;

  /// The image stored under `key`, which becomes the most recently used one.
  std::optional<std::vector<char>> load(const KernelKey& key) const;

  /// Keeps `image`, in place of any under `key`; the least recently used images make room. Does
  /// nothing if the folder cannot be written: a cache only saves time.
  void store(const KernelKey& key, std::span<const char> image);

  /// The most recently used kernel first.
  std::vector<CachedKernel> list() const;

  /// Removes all images. Throws `Error` of kind io where a file cannot be removed.
  ClearedCache clear();

 private:
  bool is_usable() const { return !folder_.empty() && why_unsafe().empty(); }
  std::filesystem::path file_of(const std::string& key_text) const;
  void free_space(std::uintmax_t bytes);

  std::filesystem::path folder_;
  std::uintmax_t bound_;
  std::mutex space_mutex_;
  std::uintmax_t free_ = 0;  // bytes that may be stored before the folder is searched again
};

}  // namespace heddle::cuda
