// Handling of Ctrl-C where there are results worth keeping.
#pragma once

#include <csignal>
#include <functional>
#include <thread>
#include <vector>

namespace heddle::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP makes a separate thread call `act`, while
/// other threads go on, and then ends the process with status 130, without half-written files. A
/// second signal ends it at once. Signals that are ignored stay ignored. Only one may exist at a
/// time.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> act);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;

 private:
  void wait();

  std::function<void()> act_;
  std::vector<std::pair<int, struct sigaction>> before_;
  std::thread waiting_;
};

}  // namespace heddle::cli
