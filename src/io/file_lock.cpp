#include "file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "heddle/error.hpp"

namespace heddle::io {

namespace {

/// False if the previous holder has removed the name while this one waited.
bool has_name(int descriptor, const std::string& path) {
  struct stat held{}, named{};
  return fstat(descriptor, &held) == 0 && lstat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  const std::filesystem::path file(path);
  // A name may have 255 bytes; two names that begin the same way may share a lock.
  constexpr std::size_t most = 200;
  const std::string name = file.filename().string().substr(0, most);
  lock_ = (file.parent_path() / ("." + name + ".lock")).string();
  for (;;) {
    descriptor_ = open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) {
      throw Error(ErrorKind::io, path + ": cannot lock: " + lock_ + ": " + std::strerror(errno));
    }
    int failed = 0;
    do {
      failed = flock(descriptor_, LOCK_EX);
    } while (failed != 0 && errno == EINTR);
    if (failed != 0 || has_name(descriptor_, lock_)) return;
    close(descriptor_);
  }
}

FileLock::~FileLock() {
  unlink(lock_.c_str());
  close(descriptor_);
}

}  // namespace heddle::io
