#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "heddle/error.hpp"

namespace heddle::bench {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The first line of the output that is neither empty nor a ruler.
std::string first_line(int file) {
  std::string text(4096, '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c); })) {
      return line;
    }
    at = end + 1;
  }
  return "";
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class SpawnAttributes {
 public:
  SpawnAttributes() { posix_spawnattr_init(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment)
    : name_(std::filesystem::path(arguments.at(0)).filename().string()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorKind::io, "cannot open a pipe to " + name_ + ": " + std::strerror(errno));
  }
  lines_ = ends[0];
  complaints_ = memfd_create("complaints", MFD_CLOEXEC);

  SpawnActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  if (complaints_ >= 0) {
    posix_spawn_file_actions_adddup2(actions.get(), complaints_, STDERR_FILENO);
  }
  // A process group of its own: an interrupt from the terminal is for this process to deal with.
  SpawnAttributes attributes;
  posix_spawnattr_setflags(attributes.get(), POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  // These signals are ignored here, as in the program.
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(attributes.get(), &defaults);
  posix_spawnattr_setpgroup(attributes.get(), 0);

  std::vector<std::string> words = arguments, variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto is_same = [&](const std::string& own) {
      return text.starts_with(own.substr(0, own.find('=') + 1));
    };
    if (std::none_of(environment.begin(), environment.end(), is_same)) {
      variables.emplace_back(text);
    }
  }
  const int status = posix_spawnp(&process_, words[0].c_str(), actions.get(), attributes.get(),
                                  pointers_to(words).data(), pointers_to(variables).data());
  close(ends[1]);
  if (status != 0) {
    process_ = -1;
    end();
    throw Error(ErrorKind::io, name_ + " cannot be started: " + std::strerror(status));
  }
}

ChildProcess::~ChildProcess() {
  if (lines_ >= 0) shutdown(lines_, SHUT_WR);
  constexpr double patience = 5;
  wait_for(patience);
  end();
}

bool ChildProcess::wait_for(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (process_ > 0) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) {
      process_ = -1;
    } else if (Clock::now() < deadline) {
      usleep(2000);
    } else {
      return false;
    }
  }
  return true;
}

void ChildProcess::end() {
  // mpirun passes the first signal on to the processes that it has started.
  constexpr double patience = 3;
  if (process_ > 0) {
    kill(process_, SIGTERM);
    if (!wait_for(patience)) {
      kill(-process_, SIGKILL);
      wait_for(patience);
    }
  }
  if (lines_ >= 0) close(lines_);
  if (complaints_ >= 0) close(complaints_);
  lines_ = complaints_ = -1;
}

void ChildProcess::give_up(const std::string& what) {
  const std::string said = complaints_ >= 0 ? first_line(complaints_) : "";
  end();
  throw Error(ErrorKind::io, name_ + " " + what + (said.empty() ? "" : ": " + said));
}

std::string ChildProcess::read_line(double seconds) {
  if (lines_ < 0) throw Error(ErrorKind::io, name_ + " has ended already");
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (const std::size_t end_of_line = unread_.find('\n'); end_of_line != std::string::npos) {
      std::string line = unread_.substr(0, end_of_line);
      unread_.erase(0, end_of_line + 1);
      return line;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      give_up("did not answer within " + std::to_string(static_cast<long long>(seconds)) +
              " seconds");
    }
    pollfd watched{lines_, POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) give_up("cannot be read from");
    if (ready <= 0) continue;
    char text[4096];
    const ssize_t got = read(lines_, text, sizeof text);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      // The child is about to end, and may still be writing why.
      wait_for(1);
      give_up("has ended");
    }
    unread_.append(text, static_cast<std::size_t>(got));
  }
}

std::string ChildProcess::ask(const std::string& line, double seconds) {
  if (lines_ < 0) throw Error(ErrorKind::io, name_ + " has ended already");
  const std::string text = line + "\n";
  // `send`, not `write`: a program that has ended must not end this one by a signal. Lines are
  // short, and each is answered before the next, so the socket takes a line whole.
  const ssize_t sent = send(lines_, text.data(), text.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(text.size())) {
    wait_for(1);
    give_up("has ended");
  }
  return read_line(seconds);
}

}  // namespace heddle::bench
