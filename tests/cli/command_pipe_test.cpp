// Runs in both builds.
// Files that are pipes or links, with which shells combine programs.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

class Pipes : public CommandLine {
 protected:
  void SetUp() override {
    folder.write("a.mtx", matrix_market(real_matrix(12)));
    ASSERT_EQ(run({"solve", "a.mtx", "-o", "x.mtx", "-q"}).status, 0);
  }
};

TEST_F(Pipes, OutputIntoAPipe) {
  const Result result = shell("$heddle solve a.mtx --quiet -o /dev/stdout | cat");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.out, text_of("x.mtx"));
  const Result made = shell("$heddle generate poisson --size 100 -q -o /dev/stdout | head -n 1");
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.out, "%%MatrixMarket matrix coordinate real symmetric\n");
  EXPECT_EQ(files(), (Names{"a.mtx", "x.mtx"}));
}

TEST_F(Pipes, OutputIntoARedirection) {
  const Result result = shell("$heddle solve a.mtx --quiet -o /dev/stdout > y.mtx");
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(text_of("y.mtx"), text_of("x.mtx"));
  EXPECT_EQ(files(), (Names{"a.mtx", "x.mtx", "y.mtx"}));
}

TEST_F(Pipes, OutputAfterWhatIsThere) {
  folder.write("log", "before\n");
  const Result result =
      shell("$heddle solve a.mtx --quiet -o /dev/stdout >> log; echo after >> log");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(text_of("log"), "before\n" + text_of("x.mtx") + "after\n");
  EXPECT_EQ(files(), (Names{"a.mtx", "log", "x.mtx"}));
}

TEST_F(Pipes, OutputToWhatIsOpen) {
  const Result unlinked =
      shell("exec 3<> gone; rm gone; $heddle solve a.mtx -q -o /dev/fd/3 && cat < /proc/self/fd/3");
  EXPECT_EQ(unlinked.status, 0) << unlinked.error;
  EXPECT_EQ(unlinked.out, text_of("x.mtx"));
  const Result reading = shell("exec 3< a.mtx; $heddle solve a.mtx -q -o /dev/fd/3");
  EXPECT_EQ(reading.status, 2);
  const Result null =
      shell("ln -s /dev/null n.npz; $heddle generate poisson --size 100 -q -o n.npz");
  EXPECT_EQ(null.status, 0) << null.error;
}

TEST_F(Pipes, InputFromAPipe) {
  for (const char* compress : {"cat a.mtx", "gzip -c a.mtx"}) {
    const Result result = shell(std::string(compress) + " | $heddle solve /dev/stdin -q -o y.mtx");
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(text_of("y.mtx"), text_of("x.mtx"));
  }
  const Result chain = shell(
      "$heddle generate dirac --size 200 -q -o /dev/stdout |"
      " $heddle solve /dev/stdin --entry quaternion --json");
  EXPECT_EQ(chain.status, 0) << chain.error;
  EXPECT_EQ(chain.json()["status"], "converged");
}

TEST_F(Pipes, LinksAreFollowed) {
  std::filesystem::create_directory(folder / "kept");
  std::filesystem::create_symlink("kept/y.mtx", folder / "link.mtx");
  folder.write("kept/y.mtx", "old");
  const Result result = run({"solve", "a.mtx", "-q", "-o", "link.mtx"});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.mtx"));
  EXPECT_EQ(text_of("kept/y.mtx"), text_of("x.mtx"));
}

TEST_F(Pipes, ErrorsReplaceNothing) {
  const std::string before = text_of("x.mtx");
  EXPECT_EQ(run({"solve", "a.mtx", "--entry", "quaternion", "-o", "x.mtx"}).status, 2);
  EXPECT_EQ(text_of("x.mtx"), before);
}

}  // namespace
