// The program as its users see it: arguments in, exit status, texts and files out.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"

struct Result {
  int status = 0;  // 128 + the signal that ended it
  std::string out;
  std::string error;

  /// Fails the test if standard output is not JSON.
  nlohmann::json json() const {
    auto parsed = nlohmann::json::parse(out, nullptr, false);
    if (parsed.is_discarded()) ADD_FAILURE() << "no JSON: " << out << error;
    return parsed;
  }
  std::size_t error_lines() const {
    return static_cast<std::size_t>(std::count(error.begin(), error.end(), '\n'));
  }
};

/// A program that runs in a folder. Standard output and error go to files without a name, so that
/// it never waits for its reader.
class Process {
 public:
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::string& folder)
      : out_(std::tmpfile()), error_(std::tmpfile()) {
    if (out_ == nullptr || error_ == nullptr) throw std::runtime_error("no temporary file");
    setenv("OMP_WAIT_POLICY", "passive", 0);
    // The plans that a test expects do not depend on profiles that were tuned here or shipped.
    setenv("HEDDLE_PROFILE", "none", 0);
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(out_), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(error_), 2);
    // A test may itself have been started with SIGINT ignored.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int failed =
        posix_spawn(&id_, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start " + program);
  }
  ~Process() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      waitpid(id_, nullptr, 0);
    }
    std::fclose(out_);
    std::fclose(error_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { ::kill(id_, number); }
  bool has_ended() const {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
  }
  Result wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text(out_),
            text(error_)};
  }

 private:
  static std::string text(std::FILE* file) {
    std::string all;
    std::rewind(file);
    for (int c = std::getc(file); c != EOF; c = std::getc(file)) all += static_cast<char>(c);
    return all;
  }

  std::FILE* out_;
  std::FILE* error_;
  pid_t id_ = 0;
};

/// A separate folder for every test, in which `heddle` runs.
class CommandLine : public testing::Test {
 protected:
  using Names = std::set<std::string>;

  Result run(const std::vector<std::string>& arguments) const {
    return Process(HEDDLE_PROGRAM, arguments, folder / "").wait();
  }
  /// Runs a line of shell, in which $heddle is the program.
  Result shell(const std::string& line) const {
    setenv("heddle", HEDDLE_PROGRAM, 1);
    return Process("/bin/sh", {"-c", line}, folder / "").wait();
  }
  /// All files, including those that begin with a dot.
  Names files() const {
    Names names;
    for (const auto& file : std::filesystem::directory_iterator(folder / "")) {
      names.insert(file.path().filename().string());
    }
    return names;
  }
  std::string text_of(const std::string& name) const { return contents(folder / name); }

  TemporaryFolder folder;
};

inline void write_gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}
