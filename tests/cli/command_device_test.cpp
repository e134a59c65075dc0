// Runs in the release.
// `--device`: the accepted names, and the messages without a GPU.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "heddle/device.hpp"

namespace {

class Devices : public CommandLine {
 protected:
  void SetUp() override { folder.write("a.mtx", matrix_market(real_matrix(12))); }

  const std::string why = heddle::Device::why_no_gpu();
  const std::vector<std::vector<std::string>> commands = {
      {"solve", "a.mtx"}, {"info", "a.mtx"}, {"spmv", "a.mtx", "--repetitions", "1"}};

  Result run_on(const std::string& device, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--device", device});
    return run(arguments);
  }
};

TEST_F(Devices, AutoSaysWhatItTakesAndWhy) {
  for (const auto& command : commands) {
    const Result result = run_on("auto", command);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    EXPECT_EQ(result.error, why.empty() ? "heddle: --device auto uses the first GPU: " +
                                              heddle::Device::cuda(0).description() + "\n"
                                        : "heddle: --device auto uses the CPU: " + why + "\n");
    std::vector<std::string> quietly = command;
    quietly.emplace_back("--quiet");
    EXPECT_EQ(run_on("auto", quietly).error, "");
  }
}

TEST_F(Devices, AreMissedInOneLine) {
  for (const auto& command : commands) {
    for (const char* device : {"cuda", "cuda:0", "cuda:99"}) {
      SCOPED_TRACE(command.front() + " --device " + device);
      if (why.empty() && std::string(device) != "cuda:99") continue;
      const Result result = run_on(device, command);
      EXPECT_EQ(result.status, 2);
      EXPECT_EQ(result.out, "");
      EXPECT_EQ(result.error_lines(), 1u) << result.error;
      if (!why.empty()) {
        EXPECT_EQ(result.error, "heddle: " + why + "\n");
      }
    }
  }
}

}  // namespace
