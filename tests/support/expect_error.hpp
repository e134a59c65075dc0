#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heddle/error.hpp"

namespace heddle::test {

/// Expects an `Error` of this kind.
template <class F>
void expect_error(ErrorKind kind, const F& f, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  testing::ScopedTrace trace(file, line, "refused");
  try {
    f();
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
  }
}
/// Expects an `Error` of this kind with exactly this text.
template <class F>
void expect_error(ErrorKind kind, const std::string& message, F&& f,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  testing::ScopedTrace trace(file, line, "expected: " + message);
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

}  // namespace heddle::test
