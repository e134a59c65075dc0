// One process at a time reads a file, changes and replaces it.
#pragma once

#include <string>

namespace heddle::io {

/// Waits until no other holds the lock of this file, and keeps it while it lives. The lock is that
/// of an empty file beside it, `.name.lock`, which goes with its last holder; one that a killed
/// process has left locks nothing. Where the file system knows no locks, nothing is locked.
class FileLock {
 public:
  /// `path` as `written_path` gives it. Throws `Error` (io).
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string lock_;
  int descriptor_ = -1;
};

}  // namespace heddle::io
