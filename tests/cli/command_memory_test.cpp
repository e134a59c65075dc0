// Programs that may not have the memory they need: exit status 3, one line on standard error, no
// file left.
#include <regex>

#include "cli/run.hpp"

namespace {

class CommandMemory : public CommandLine {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers reserve more addresses than any limit";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    GTEST_SKIP() << "sanitizers reserve more addresses than any limit";
#endif
#endif
    const std::string general = "%%MatrixMarket matrix coordinate real general\n";
    folder.write("wide.mtx", general + "1 2147483647 1\n1 7 1\n");
    // As many rows as so few entries may have, and their right-hand side.
    folder.write("tall.mtx", general + "16777216 16777216 1\n1 1 1\n");
    folder.write("promise.mtx", general + "3 3 9999999999\n1 1 1\n");
  }

  /// `line` in a process of so many KiB of addresses, with one thread: each has a stack.
  Result limited(long long kibibytes, const std::string& line) const {
    return shell("export OMP_NUM_THREADS=1; ulimit -v " + std::to_string(kibibytes) + "; " + line);
  }
  void expect_out_of_memory(const Result& result) const {
    EXPECT_EQ(result.status, 3) << result.error;
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
    EXPECT_EQ(result.error.rfind("heddle: ", 0), 0u) << result.error;
    const std::regex amounts(".*(memory|needs).*(available are|are free).*\n");
    EXPECT_TRUE(std::regex_match(result.error, amounts)) << result.error;
    EXPECT_EQ(files(), before_);
  }
  void remember_files() { before_ = files(); }

 private:
  Names before_;
};

TEST_F(CommandMemory, LittleAddressSpace) {
  remember_files();
  const char* const lines[] = {
      "$heddle spmv wide.mtx",
      "$heddle spmv wide.mtx --entry real --precision single",
      "$heddle solve tall.mtx --output x.mtx",
      "$heddle spmv tall.mtx --plan pJDS",
      "$heddle generate poisson --size 90000000 -o x.mtx",
      "$heddle generate dirac --size 90000000 -o x.npz",
  };
  for (const char* line : lines) {
    SCOPED_TRACE(line);
    expect_out_of_memory(limited(250'000, line));
  }
}

TEST_F(CommandMemory, PromisesTakeNone) {
  const Result result = limited(250'000, "$heddle solve promise.mtx");
  EXPECT_EQ(result.status, 2) << result.error;
  EXPECT_EQ(result.error, "heddle: promise.mtx:3: the file ends after 1 of 9999999999 entries\n");
}

}  // namespace
