// Programs that serve lines, and those that do not.
#include "peers/child_process.hpp"

#include <gtest/gtest.h>

#include <string>

#include "heddle/error.hpp"
#include "support/message_of.hpp"

namespace heddle::bench {
namespace {

using namespace std::string_literals;

using heddle::test::message_of;

TEST(ChildProcess, AnswersLineByLine) {
  ChildProcess cat({"cat"}, {});
  EXPECT_EQ(cat.ask("one", 10), "one");
  EXPECT_EQ(cat.ask("two words", 10), "two words");
}

TEST(ChildProcess, HasTheVariablesThatItIsGiven) {
  ChildProcess shell({"sh", "-c", "echo $HEDDLE_OF_THE_CHILD"}, {"HEDDLE_OF_THE_CHILD=here"});
  EXPECT_EQ(shell.read_line(10), "here");
}

TEST(ChildProcess, ThatIsNotThereIsAnError) {
  EXPECT_EQ(message_of([] {
              ChildProcess none({"/no/such/program"}, {});
              none.read_line(10);
            }).find("program"),
            0U);
}

TEST(ChildProcess, ThatEndsSaysWhy) {
  ChildProcess shell({"sh", "-c", "echo; echo what went wrong >&2; exit 3"}, {});
  EXPECT_EQ(shell.read_line(10), "");
  EXPECT_EQ(message_of([&] { shell.read_line(10); }), "sh has ended: what went wrong");
  EXPECT_EQ(message_of([&] { shell.ask("anybody?", 10); }), "sh has ended already");
}

TEST(ChildProcess, ThatHasEndedIsNotWrittenTo) {
  ChildProcess shell({"sh", "-c", "exit 0"}, {});
  EXPECT_NE(message_of([&] {
              for (int i = 0; i < 100; ++i) shell.ask("anybody?", 10);
            }),
            "");
}

TEST(ChildProcess, ThatSaysNothingIsGivenUp) {
  ChildProcess sleeper({"sleep", "1000"}, {});
  EXPECT_EQ(message_of([&] { sleeper.read_line(0.1); }), "sleep did not answer within 0 seconds");
}

}  // namespace
}  // namespace heddle::bench
