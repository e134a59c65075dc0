// Output files appear whole or not at all.
#include "heddle/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "heddle/error.hpp"
#include "heddle/matrix_market.hpp"
#include "temporary_folder.hpp"

using namespace heddle;

namespace {

TEST(OutputFile, AppearsWithCommit) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  const std::string text(1000000, 'x');
  {
    OutputFile file(path);
    file.write("begin");
    file.write(text);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(file.position(), 1000005);
    file.commit();
    EXPECT_EQ(contents(path), "begin" + text);
  }
  EXPECT_EQ(contents(path), "begin" + text);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  folder.write("old.txt", "old");
  for (const char* name : {"new.txt", "old.txt"}) {
    OutputFile file(folder / name);
    file.write(std::string(1000000, 'x'));
    EXPECT_EQ(folder.files(), 2u);
  }
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_EQ(contents(folder / "old.txt"), "old");
}

TEST(OutputFile, SeeksBack) {
  const TemporaryFolder folder;
  OutputFile file(folder / "a");
  file.write("0123456789");
  file.seek(2);
  file.write("xx");
  EXPECT_EQ(file.position(), 4);
  file.commit();
  EXPECT_EQ(contents(folder / "a"), "01xx456789");
}

TEST(OutputFile, FollowsLinksAndKeepsPermissions) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "old");
  chmod(target.c_str(), 0640);
  std::filesystem::create_symlink("target", folder / "link");
  OutputFile file(folder / "link");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(contents(target), "new");
  struct stat status{};
  ASSERT_EQ(stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST(OutputFile, WritesToDevices) {
  OutputFile file("/dev/null");
  file.write("nothing");
  file.commit();
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

void expect_failure(const std::string& path, const std::string& why) {
  try {
    OutputFile file(path);
    file.write(std::string(1000000, 'x'));
    file.commit();
    ADD_FAILURE() << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.what(), path + ": cannot write: " + why);
  }
}

TEST(OutputFile, SaysWhyItFails) {
  const TemporaryFolder folder;
  expect_failure(folder / "none/a", "No such file or directory");
  expect_failure("", "No such file or directory");
  expect_failure(folder / ".", "Is a directory");
  expect_failure(folder / std::string(300, 'x'), "File name too long");
  if (std::filesystem::exists("/dev/full")) {
    expect_failure("/dev/full", "No space left on device");
    try {  // through a writer, from within its team
      const ScalarField field{100000, 1, false, Array<double>(100000)};
      write_scalar_field("/dev/full", field);
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "/dev/full: cannot write: No space left on device");
    }
  }
}

TEST(OutputFile, ASignalLeavesNothing) {
  const TemporaryFolder folder;
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(signal, [](int) {
        remove_unfinished_files();
        _exit(130);
      });
      OutputFile done(folder / "done"), first(folder / "first"), second(folder / "second");
      first.write(std::string(1000000, 'x'));
      done.commit();
      raise(signal);
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_TRUE(std::filesystem::exists(folder / "done"));
  }
}

}  // namespace
