#include "heddle/tools/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle {

namespace fs = std::filesystem;

namespace {

// A signal handler may neither lock nor allocate, so the names that it must remove are kept in a
// fixed table, each guarded by one lock-free flag.
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

constexpr std::size_t buffer_bytes = std::size_t(1) << 18;

[[noreturn]] void fail_at(const std::string& path, int error) {
  const std::string message = path + ": cannot write: " + std::strerror(error);
  for (const int full : {ENOSPC, EDQUOT, EFBIG, EIO, EPIPE}) {
    if (error == full) throw WriteFailed(message);
  }
  throw Error(ErrorKind::io, message);
}

/// Process ids repeat, in containers at every start: leftovers of a killed run must not stand in
/// the way of later runs.
std::string temporary_name(const fs::path& target) {
  std::uint64_t number = 0;
  if (getentropy(&number, sizeof number) != 0) fail_at(target.string(), errno);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  // A name may have 255 bytes, and the longest target leaves no room for more.
  constexpr std::size_t most = 200;
  const std::string name =
      "." + target.filename().string().substr(0, most) + "." + digits + ".part";
  return (target.parent_path() / name).string();
}

/// Keeps owner and mode as far as allowed. Permissions of a group that could not be kept are
/// dropped.
void keep_owner_and_mode(int descriptor, const struct stat& old) {
  struct stat made{};
  mode_t mode = old.st_mode & 0777;
  if (fstat(descriptor, &made) != 0) return;
  const bool is_foreign = made.st_uid != old.st_uid || made.st_gid != old.st_gid;
  if (is_foreign && fchown(descriptor, old.st_uid, old.st_gid) != 0 && made.st_gid != old.st_gid &&
      fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);
  }
  [[maybe_unused]] const int kept = fchmod(descriptor, mode);
}

/// A file without a disk below it has nothing to wait for.
bool reaches_disk(int descriptor) {
  return fsync(descriptor) == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
}

}  // namespace

int named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const char* const end = path.data() + path.size();
    int number = -1;
    const auto [parsed, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && parsed == end) return number;
  }
  return -1;
}

std::string written_path(const std::string& path) {
  std::error_code error;
  if (path.empty()) fail_at(path, ENOENT);
  fs::path target = fs::absolute(path, error);
  if (error) fail_at(path, error.value());
  struct stat existing{};
  if (stat(target.c_str(), &existing) == 0) {
    // Renaming onto a link would replace the link and leave its target unchanged. A pipe may have
    // no name that its link leads to (/dev/stdout), and needs none.
    if (S_ISREG(existing.st_mode)) target = fs::canonical(target, error);
    if (error) fail_at(path, error.value());
    return target.string();
  }
  constexpr int max_links = 40;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == max_links) fail_at(path, ELOOP);
    const fs::path linked = fs::read_symlink(target, error);
    if (error) fail_at(path, error.value());
    target = target.parent_path() / linked;
  }
  return target.string();
}

OutputFile::OutputFile(const std::string& path, unsigned new_mode) : path_(path) {
  // The caller that opened it set its position in the file, such as after earlier lines of a log.
  if (const int named = named_descriptor(path); named >= 0) {
    descriptor_ = fcntl(named, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  target_ = written_path(path);
  struct stat existing{};
  const bool exists = stat(target_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) {
    descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  if (exists && access(target_.c_str(), W_OK) != 0) fail(errno);
  open_temporary(exists ? existing.st_mode & 0777U : new_mode);
  if (exists) keep_owner_and_mode(descriptor_, existing);
}

void OutputFile::open_temporary(unsigned mode) {
  constexpr int max_attempts = 100;
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = temporary_name(target_);
    // Before the file exists: a signal in between then finds nothing to remove, never the reverse.
    slot_ = claim_slot(temporary_);
    if (slot_ < 0) fail(temporary_.size() >= PATH_MAX ? ENAMETOOLONG : EMFILE);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    is_regular_ = descriptor_ >= 0;
    if (is_regular_) return;
    const int reason = errno;
    release_slot(slot_);
    slot_ = -1;
    if (reason != EEXIST || attempt == max_attempts) fail(reason);
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
  if (target_.empty()) fail(ESPIPE);
  if (lseek(descriptor_, position, SEEK_SET) < 0) fail(errno);
  flushed_ = position;
}

void OutputFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      const bool appeared = is_regular_ && temporary_.empty();
      if (appeared && ftruncate(descriptor_, flushed_) != 0) fail(errno);
      fail(reason);
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  flushed_ += static_cast<long long>(buffer_.size());
  buffer_.clear();
}

void OutputFile::appear() {
  flush();
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  release_slot(slot_);
  slot_ = -1;
}

void OutputFile::commit(Durability durability) {
  flush();
  const bool waits = is_regular_ && durability == Durability::on_disk;
  if (waits && !reaches_disk(descriptor_)) fail(errno);
  const int closed = close(descriptor_);
  const int reason = errno;
  descriptor_ = -1;
  if (closed != 0) fail(reason);
  appear();
  if (waits) name_reaches_disk();
}

void OutputFile::reach_disk() {
  flush();
  if (!is_regular_) return;
  if (!reaches_disk(descriptor_)) fail(errno);
  if (temporary_.empty()) name_reaches_disk();
}

/// The new name is visible to all readers; that it may not survive is no failure.
void OutputFile::name_reaches_disk() const {
  const int folder =
      open(fs::path(target_).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  reaches_disk(folder);
  close(folder);
}

void OutputFile::fail(int error) const { fail_at(path_, error); }

void remove_unfinished_files() noexcept {
  const int kept = errno;
  for (Slot& slot : slots) {
    if (slot.state.load() == unfinished) unlink(slot.path);
  }
  errno = kept;
}

}  // namespace heddle
