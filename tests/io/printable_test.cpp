// Text from files and names, made safe for a terminal.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "heddle/tools/text.hpp"

namespace {

using heddle::io::printable;

TEST(Printable, LeavesNothingToObey) {
  const std::pair<std::string, std::string> table[] = {
      {"", ""},
      {"plain text 123 ~", "plain text 123 ~"},
      {"grün, 行列, 🧵", "grün, 行列, 🧵"},
      {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
      {"two\nlines\r\t\x7f", "two?lines???"},
      {std::string("a\0b", 3), "a?b"},
      {"\xc2\x9b"
       "31m \xc2\x80\xc2\x9f",
       "?31m ??"},  // 8-bit controls
      {"\x9b"
       "31m",
       "?31m"},  // the same as invalid UTF-8
      {"a\xe2\x80\xae"
       "b\xe2\x81\xa6"
       "c\xe2\x80\xa8",
       "a?b?c?"},  // directions, a line separator
      {"\xff\xfe", "??"},
      {"cut \xe8\xa1", "cut ??"},
      {"cut \xf0\x9f\xa7", "cut ???"},
      {"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????"},  // longer than necessary
      {"\xed\xa0\x80", "???"},                                    // half of a pair
      {"\xf4\x90\x80\x80", "????"},                               // beyond the last
      {"\x80\xbf", "??"}};
  for (const auto& [text, shown] : table) EXPECT_EQ(printable(text), shown);
}

}  // namespace
