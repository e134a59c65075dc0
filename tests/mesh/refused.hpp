// The errors for faulty mesh files.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/error.hpp"

struct Refused {
  std::string text;
  std::string message;
  heddle::ErrorKind kind = heddle::ErrorKind::malformed_file;
};

template <class Read>
void expect_refused(const std::vector<Refused>& cases, const Read& read) {
  for (const Refused& c : cases) {
    SCOPED_TRACE(c.text);
    try {
      read(c.text);
      ADD_FAILURE() << "was read";
    } catch (const heddle::Error& error) {
      EXPECT_EQ(error.what(), c.message);
      EXPECT_EQ(error.kind(), c.kind);
    }
  }
}
