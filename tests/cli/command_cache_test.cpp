// Runs in the release.
// `heddle cache` shows and removes stored kernels.
#include <regex>

#include "cli/run.hpp"
#include "spmv/kernel_cache.hpp"

namespace {

class Cache : public CommandLine {
 protected:
  void SetUp() override { setenv("HEDDLE_CACHE_DIR", (folder / "kernels").c_str(), 1); }
  void TearDown() override { unsetenv("HEDDLE_CACHE_DIR"); }
  void store(const std::string& kernel, std::size_t bytes) const {
    heddle::cuda::KernelCache cache(folder / "kernels");
    cache.store({kernel, "sm_90", "inputs"}, std::vector<char>(bytes, 'x'));
  }
};

TEST_F(Cache, ListsWhatIsThere) {
  store("product quaternion<double>", 20000);
  store("update float", 1000);
  const Result result = run({"cache", "list"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.error, "");
  const std::regex expected(
      "kernel +architecture +size +last used\n"
      "(product quaternion<double>  sm_90 +19\\.[0-9]* KiB +[0-9]+ s\n"
      "|update float +sm_90 +1\\.[0-9]* KiB +[0-9]+ s\n){2}"
      "2 kernels, 20\\.[0-9]* KiB in .*/kernels\n");
  EXPECT_TRUE(std::regex_match(result.out, expected)) << result.out;
}

TEST_F(Cache, ShowsDamage) {
  store("whole", 100);
  for (const auto& file : std::filesystem::directory_iterator(folder / "kernels")) {
    std::filesystem::resize_file(file, 60);
  }
  const Result result = run({"cache", "list"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("(damaged)"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("whole"), std::string::npos) << result.out;
}

TEST_F(Cache, ClearsKernelsAndNothingElse) {
  store("one", 1000);
  store("two", 1000);
  folder.write("kernels/notes.txt", "mine");
  const Result result = run({"cache", "clear"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(std::regex_match(result.out,
                               std::regex("removed 2 kernels, 2\\.[0-9]* KiB from .*/kernels\n")))
      << result.out;
  EXPECT_EQ(text_of("kernels/notes.txt"), "mine");
  EXPECT_EQ(run({"cache", "list"}).out, "0 kernels, 0 B in " + folder / "kernels" + "\n");
}

TEST_F(Cache, AnEmptyOneIsNotMade) {
  EXPECT_EQ(run({"cache", "list"}).out, "0 kernels, 0 B in " + folder / "kernels" + "\n");
  EXPECT_EQ(run({"cache", "clear"}).status, 0);
  EXPECT_EQ(files(), Names());
}

TEST_F(Cache, WithoutAFolderIsOneLine) {
  const Result result =
      shell("env -u HEDDLE_CACHE_DIR -u XDG_CACHE_HOME -u HOME $heddle cache list");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error_lines(), 1u) << result.error;
}

TEST_F(Cache, NeedsToKnowWhatToDo) {
  const Result bare = run({"cache"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_NE(bare.out.find("clear"), std::string::npos) << bare.out;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"cache", "burn"}, {"cache", "list", "all"}}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1u) << result.error;
  }
}

TEST_F(Cache, HelpHasAnExampleThatWorks) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"cache", "--help"},
                                                  {"cache", "list", "--help"},
                                                  {"cache", "clear", "--help"}}) {
    const Result help = run(command);
    EXPECT_EQ(help.status, 0);
    std::smatch example;
    ASSERT_TRUE(std::regex_search(help.out, example, std::regex("\nExample: heddle (.*)\n")))
        << help.out;
    EXPECT_EQ(shell("$heddle " + example[1].str()).status, 0);
  }
}

}  // namespace
