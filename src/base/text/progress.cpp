#include "heddle/tools/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/tools/text.hpp"

namespace heddle {

namespace {

constexpr std::string_view back_and_clear = "\r\x1b[K";

/// A line too long for the terminal would be drawn over two, and only the second erased.
std::size_t width_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// A failure to show progress is not worth an error.
void put(int descriptor, std::string_view text) {
  [[maybe_unused]] const auto written = write(descriptor, text.data(), text.size());
}

}  // namespace

TerminalProgress::TerminalProgress(const Options& options)
    : options_(options),
      is_terminal_(isatty(options.descriptor) == 1),
      next_(Clock::now() + options.delay) {}

void TerminalProgress::report(double fraction, std::string_view what) {
  if (!is_terminal_) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + options_.interval;
  std::string line = io::printable(what);
  if (fraction >= 0) {
    line += ' ' + std::to_string(std::lround(100 * std::min(fraction, 1.0))) + '%';
  }
  const std::size_t width = width_of(options_.descriptor) - 1;
  if (line.size() > width) line.resize(width);
  put(options_.descriptor, std::string(back_and_clear) + line);
  drawn_ = true;
}

void TerminalProgress::erase() {
  const std::lock_guard lock(mutex_);
  if (drawn_) put(options_.descriptor, back_and_clear);
  drawn_ = false;
}

}  // namespace heddle
