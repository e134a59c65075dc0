#include "on_interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <iostream>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "message.hpp"
#include "run_program.hpp"

namespace heddle::cli {

namespace {

// A handler may do little more than write to a pipe, which the thread reads.
int pipe_ends[2] = {-1, -1};
std::atomic<int> signals{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void tell(int) {
  const int before = errno;
  if (signals.fetch_add(1) > 0) {
    remove_unfinished_files();
    _exit(interrupted);
  }
  constexpr char interrupt = 'i';
  [[maybe_unused]] const auto written = write(pipe_ends[1], &interrupt, 1);
  errno = before;
}

}  // namespace

OnInterrupt::OnInterrupt(std::function<void()> act) : act_(std::move(act)) {
  if (pipe2(pipe_ends, O_CLOEXEC) != 0)
    throw Error(ErrorKind::internal, "cannot create a pipe for signals");
  signals = 0;
  waiting_ = std::thread([this] { wait(); });
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN) continue;
    before_.emplace_back(signal, now);
    struct sigaction telling{};
    telling.sa_handler = tell;
    telling.sa_flags = SA_RESTART;
    sigaction(signal, &telling, nullptr);
  }
}

OnInterrupt::~OnInterrupt() {
  for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
  constexpr char leave = 'l';
  [[maybe_unused]] const auto written = write(pipe_ends[1], &leave, 1);
  waiting_.join();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

void OnInterrupt::wait() {
  char what = 0;
  while (read(pipe_ends[0], &what, 1) < 0 && errno == EINTR) {
  }
  if (what != 'i') return;
  try {
    act_();
  } catch (const std::exception& error) {
    say(error.what());
  }
  std::cout.flush();
  remove_unfinished_files();
  _exit(interrupted);
}

}  // namespace heddle::cli
