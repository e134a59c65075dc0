#include "heddle/runtime/preconditioner_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"

namespace heddle {
namespace {

TEST(PreconditionerChoice, ParsesEachNameOfTheTable) {
  for (const PreconditionerInfo& row : preconditioner_table()) {
    SCOPED_TRACE(row.name);
    const std::string name(row.name);
    EXPECT_EQ(parse_preconditioner(name).kind, row.kind);
    EXPECT_EQ(parse_preconditioner(name).number, row.usual);
    if (row.number.empty()) continue;
    EXPECT_EQ(parse_preconditioner(name + ":" + std::to_string(row.most)).number, row.most);
    for (const std::string& wrong :
         std::vector<std::string>{"0", "x", "", std::to_string(row.most + 1)}) {
      test::expect_error(ErrorKind::usage,
                         "the preconditioner " + name + " takes the " + std::string(row.number) +
                             ", 1 to " + std::to_string(row.most) + ", not '" + wrong + "'",
                         [&] { parse_preconditioner(name + ":" + wrong); });
    }
  }
}

TEST(PreconditionerChoice, RefusesOtherNames) {
  test::expect_error(ErrorKind::usage,
                     "no preconditioner is named 'ilu'; there are " + preconditioners_in_words(),
                     [] { parse_preconditioner("ilu:2"); });
  test::expect_error(ErrorKind::usage, "the preconditioner jacobi takes no number, here '3'",
                     [] { parse_preconditioner("jacobi:3"); });
}

}  // namespace
}  // namespace heddle
