#include "heddle/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "heddle/error.hpp"

namespace heddle {

namespace {

// A signal handler may neither lock nor allocate, so the names that it must remove stand in a fixed
// table, each guarded by one lock-free flag.
enum SlotState { vacant, claimed, unfinished };
struct Slot {
  std::atomic<int> state{vacant};
  char path[PATH_MAX];
};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<Slot, 32> slots;

int claim_slot(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = vacant;
    if (!slots[i].state.compare_exchange_strong(expected, claimed)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state.store(unfinished);
    return static_cast<int>(i);
  }
  return -1;
}

void release_slot(int slot) {
  if (slot >= 0) slots[static_cast<std::size_t>(slot)].state.store(vacant);
}

std::string temporary_name(const std::filesystem::path& target) {
  static std::atomic<int> count{0};
  const std::string name = "." + target.filename().string() + "." + std::to_string(getpid()) + "-" +
                           std::to_string(count++) + ".part";
  return (target.parent_path() / name).string();
}

constexpr std::size_t buffer_bytes = std::size_t(1) << 18;

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  if (path.empty() || error) fail(ENOENT);
  struct stat existing{};
  const bool exists = stat(target.c_str(), &existing) == 0;
  // Renaming onto a link would replace the link and leave what it points to as it was. A pipe may
  // have no name behind its link (/dev/stdout), and needs none.
  if (exists && S_ISREG(existing.st_mode)) target = fs::canonical(target, error);
  if (error) fail(error.value());
  target_ = target.string();
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  temporary_ = temporary_name(target);
  // Before the file exists: a signal in between then finds nothing to remove, never the reverse.
  slot_ = claim_slot(temporary_);
  if (slot_ < 0) fail(temporary_.size() >= PATH_MAX ? ENAMETOOLONG : EMFILE);
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int reason = errno;
    release_slot(slot_);
    fail(reason);
  }
  // A replaced file keeps its permissions; where that is not allowed, the usual ones are right.
  if (exists) {
    [[maybe_unused]] const int kept = fchmod(descriptor_, existing.st_mode & 07777);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (slot_ >= 0) unlink(temporary_.c_str());
  release_slot(slot_);
}

void OutputFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  buffer_.append(bytes);
  if (buffer_.size() > buffer_bytes) flush();
}

void OutputFile::seek(long long position) {
  flush();
  if (lseek(descriptor_, position, SEEK_SET) < 0) fail(errno);
  flushed_ = position;
}

void OutputFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  flushed_ += static_cast<long long>(buffer_.size());
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  const int closed = close(descriptor_);
  const int reason = errno;
  descriptor_ = -1;
  if (closed != 0) fail(reason);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  release_slot(slot_);
  slot_ = -1;
}

void OutputFile::fail(int error) const {
  throw Error(ErrorKind::io, path_ + ": cannot write: " + std::strerror(error));
}

void remove_unfinished_files() noexcept {
  const int kept = errno;
  for (Slot& slot : slots) {
    if (slot.state.load() == unfinished) unlink(slot.path);
  }
  errno = kept;
}

}  // namespace heddle
