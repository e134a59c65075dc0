// The history of a run that does not reach its end.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/small_systems.hpp"
#include "elastic/command_elastic.hpp"

namespace {

/// All steps so far are in the file, in whole lines.
TEST_F(CommandElastic, WritesItsHistoryAsItComes) {
  json of = case_of("dynamic");
  of["analysis"]["steps"] = 1000000;
  folder.write("case.json", of.dump());
  Process process(
      HEDDLE_ELASTIC_PROGRAM,
      {data + "cantilever.msh", "--case", "case.json", "--history", "swing.csv", "--quiet"},
      folder / "");
  while (!files().contains("swing.csv") ||
         std::filesystem::file_size(folder / "swing.csv") < 1000) {
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.signal(SIGKILL);
  process.wait();
  const std::string history = text_of("swing.csv");
  EXPECT_EQ(history.substr(0, history.find('\n')),
            "step,time,iterations,residual,kinetic,elastic,work,total");
  EXPECT_EQ(history.back(), '\n');
}

}  // namespace
