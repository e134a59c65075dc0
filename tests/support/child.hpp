// Runs part of a test in a process of its own, under limits of its own.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitizers.hpp"

namespace heddle::test {

/// These sanitizers reserve more addresses than any limit leaves.
inline constexpr bool addresses_are_reserved =
    HEDDLE_TEST_THREAD_SANITIZER || HEDDLE_TEST_ADDRESS_SANITIZER;

/// The result of `run` in a child of this process; 99 if it throws, 128 + N if signal N ends it.
template <class Run>
int status_of_child(const Run& run) {
  const pid_t child = fork();
  if (child < 0) return 98;
  if (child == 0) {
    int status = 99;
    try {
      status = run();
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Returns false if the system refuses.
inline bool limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  return setrlimit(resource, &both) == 0;
}

}  // namespace heddle::test
