// A lock under which one process at a time reads, changes and replaces a file.
#pragma once

#include <string>

namespace heddle::io {

/// Waits until no other holder has the lock of this file, and keeps it for its lifetime. The lock
/// is on an empty file next to it, `.name.lock`, which is removed by its last holder; one that a
/// killed process has left locks nothing. If the file system has no locks, nothing is locked.
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
