// Runs in the release.
// Programs without the memory they need: exit status 3, one line on standard error, no file left.
#include <regex>

#include "cli/run.hpp"
#include "support/child.hpp"

namespace {

class CommandMemory : public CommandLine {
 protected:
  void SetUp() override {
    if (heddle::test::addresses_are_reserved) {
      GTEST_SKIP() << "sanitizers reserve more addresses";
    }
    const std::string general = "%%MatrixMarket matrix coordinate real general\n";
    folder.write("wide.mtx", general + "1 2147483647 1\n1 7 1\n");
    folder.write("tall.mtx", general + "3000000 3000000 1\n1 1 1\n");
    folder.write("promise.mtx", general + "3 3 9999999999\n1 1 1\n");
    before_ = files();
  }

  /// Runs `line` in a process with an address space of `kibibytes` KiB and one thread, because each
  /// thread has a stack.
  Result limited(long long kibibytes, const std::string& line) const {
    return shell("export OMP_NUM_THREADS=1; ulimit -v " + std::to_string(kibibytes) + "; " + line);
  }
  void expect_out_of_memory(const Result& result) const {
    EXPECT_EQ(result.status, 3) << result.error;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    const std::regex wording("heddle: .*(out of memory|available are|are free).*\n");
    EXPECT_TRUE(std::regex_match(result.error, wording)) << result.error;
    EXPECT_EQ(files(), before_);
  }

 private:
  Names before_;
};

TEST_F(CommandMemory, LittleAddressSpace) {
  const std::pair<long long, const char*> lines[] = {
      {250'000, "$heddle spmv wide.mtx"},
      {250'000, "$heddle spmv wide.mtx --precision single"},
      {100'000, "$heddle solve tall.mtx --output x.mtx"},
      {100'000, "$heddle spmv tall.mtx --plan pJDS"},
      {250'000, "$heddle generate poisson --size 90000000 -o x.mtx"},
      {250'000, "$heddle generate dirac --size 90000000 -o x.npz"},
  };
  for (const auto& [kibibytes, line] : lines) {
    SCOPED_TRACE(line);
    expect_out_of_memory(limited(kibibytes, line));
  }
}

TEST_F(CommandMemory, PromisesTakeNone) {
  const Result result = limited(250'000, "$heddle solve promise.mtx");
  EXPECT_EQ(result.status, 2) << result.error;
  EXPECT_EQ(result.error, "heddle: promise.mtx:3: the file ends after 1 of 9999999999 entries\n");
}

TEST_F(CommandMemory, FactorsThatDoNotFit) {
  ASSERT_EQ(run({"generate", "poisson", "--size", "30000", "-o", "p.npz"}).status, 0);
  const Result result = limited(120'000, "$heddle solve p.npz --preconditioner direct");
  EXPECT_EQ(result.status, 3) << result.error;
  const std::regex wording(
      "heddle: direct: .*(out of memory|available are).*; use an iterative .*\n");
  EXPECT_TRUE(std::regex_match(result.error, wording)) << result.error;
}

}  // namespace
