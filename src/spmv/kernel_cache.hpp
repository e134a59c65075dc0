// Compiled kernels on disk: one file each, named by the hash of all that it was compiled from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::cuda {

/// What an image depends on. Two keys are equal where all three texts are.
struct KernelKey {
  std::string kernel;        // one line, for people
  std::string architecture;  // "sm_90", or "compute_90" for PTX
  std::string inputs;        // sources, options, versions: any text
};

struct CachedKernel {
  std::string kernel;  // empty in a file that is damaged
  std::string architecture;
  std::uintmax_t bytes = 0;  // of the file
  std::filesystem::file_time_type last_used;
};

struct ClearedCache {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};

/// $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty where none of
/// them is set.
std::filesystem::path kernel_cache_folder();

/// A folder of images. Any number of threads and processes may use one folder at once: files appear
/// whole, and one that is damaged, belongs to another key or was written by another user (but root)
/// counts as absent. Other files in the folder are left alone.
class KernelCache {
 public:
  static constexpr std::uintmax_t default_bound = std::uintmax_t(256) << 20;

  /// At most `bound` bytes; the folder is made when something is stored. An empty path is a cache
  /// that keeps nothing.
  explicit KernelCache(std::filesystem::path folder, std::uintmax_t bound = default_bound);

  const std::filesystem::path& folder() const { return folder_; }

  /// Why no image of the folder is run and none stored there: others could put theirs there. One
  /// line that says what to do; empty where there is nothing to fear.
  std::string why_unsafe() const;

  /// The image stored under `key`, now the last used one.
  std::optional<std::vector<char>> load(const KernelKey& key) const;

  /// Keeps `image`, in place of what is there under `key`; images used longest ago make room. Does
  /// nothing where the folder cannot be written: a cache is only worth time.
  void store(const KernelKey& key, std::span<const char> image);

  /// The last used one first.
  std::vector<CachedKernel> list() const;

  /// Removes all images. Throws `Error` of kind io where a file cannot be removed.
  ClearedCache clear();

 private:
  bool is_usable() const { return !folder_.empty() && why_unsafe().empty(); }
  std::filesystem::path file_of(const std::string& key_text) const;
  void make_room(std::uintmax_t bytes);

  std::filesystem::path folder_;
  std::uintmax_t bound_;
  std::mutex room_;
  std::uintmax_t free_ = 0;  // what may be stored before the folder is looked through again
};

}  // namespace heddle::cuda
