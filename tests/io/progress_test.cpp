// Progress draws one line on a terminal, and nothing elsewhere.
#include "heddle/tools/progress.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <string>

using namespace heddle;
using namespace std::chrono_literals;

namespace {

/// The bytes written to the other end of a pipe or terminal; empty if there are none.
std::string received(int descriptor) {
  fd_set some;
  FD_ZERO(&some);
  FD_SET(descriptor, &some);
  timeval none{};
  if (select(descriptor + 1, &some, nullptr, nullptr, &none) <= 0) return "";
  char bytes[4096];
  const ssize_t count = read(descriptor, bytes, sizeof(bytes));
  return {bytes, static_cast<std::size_t>(count > 0 ? count : 0)};
}

struct Terminal {
  Terminal() {
    winsize size{24, 20, 0, 0};
    works = openpty(&outer, &inner, nullptr, nullptr, &size) == 0;
  }
  ~Terminal() {
    close(inner);
    close(outer);
  }
  int outer = -1, inner = -1;
  bool works = false;
};

TEST(Progress, DrawsOneLineAndErasesIt) {
  Terminal terminal;
  if (!terminal.works) GTEST_SKIP() << "no pseudo-terminal here";
  {
    TerminalProgress progress({terminal.inner, 0ms, 0ms});
    progress.report(0.254, "reading");
    EXPECT_EQ(received(terminal.outer), "\r\x1b[Kreading 25%");
    progress.report(-1, "a name that is too long for it");
    EXPECT_EQ(received(terminal.outer), "\r\x1b[Ka name that is too ");
    progress.erase();
    EXPECT_EQ(received(terminal.outer), "\r\x1b[K");
    progress.report(2, "x");
    EXPECT_EQ(received(terminal.outer), "\r\x1b[Kx 100%");
  }
  EXPECT_EQ(received(terminal.outer), "\r\x1b[K");
}

TEST(Progress, ShortWorkIsSilent) {
  Terminal terminal;
  if (!terminal.works) GTEST_SKIP() << "no pseudo-terminal here";
  {
    TerminalProgress progress({terminal.inner, 1h, 0ms});
    progress.report(0.5, "reading");
  }
  EXPECT_EQ(received(terminal.outer), "");
}

TEST(Progress, LinesKeepTheirDistance) {
  Terminal terminal;
  if (!terminal.works) GTEST_SKIP() << "no pseudo-terminal here";
  TerminalProgress progress({terminal.inner, 0ms, 1h});
  for (int i = 0; i < 100; ++i) progress.report(i / 100.0, "reading");
  EXPECT_EQ(received(terminal.outer), "\r\x1b[Kreading 0%");
}

TEST(Progress, OnlyTerminalsShowIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    TerminalProgress progress({ends[1], 0ms, 0ms});
    progress.report(0.5, "reading");
  }
  EXPECT_EQ(received(ends[0]), "");
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
