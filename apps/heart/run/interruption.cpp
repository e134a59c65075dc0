#include "interruption.hpp"

#include <csignal>
#include <cstddef>

namespace heddle::heart {

namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t came = 0;
void (*earlier)(int) = SIG_DFL;

extern "C" void note_interruption(int signal) {
  if (came != 0 && earlier != SIG_DFL && earlier != SIG_IGN) earlier(signal);
  came = 1;
}

}  // namespace

Interruption::Interruption() {
  came = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    before_[i] = std::signal(watched[i], note_interruption);
    if (before_[i] == SIG_IGN) {
      std::signal(watched[i], SIG_IGN);
    } else {
      earlier = before_[i];
    }
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < 3; ++i) std::signal(watched[i], before_[i]);
}

bool Interruption::has_come() const { return came != 0; }

}  // namespace heddle::heart
