// Output files appear completely or not at all.
#include "heddle/tools/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "heddle/error.hpp"
#include "heddle/matrix_market.hpp"
#include "support/child.hpp"
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

/// Before and after the file has appeared, and on a device without a disk.
TEST(OutputFile, ReachesTheDisk) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  OutputFile file(path);
  file.write("1\n");
  file.reach_disk();
  EXPECT_FALSE(std::filesystem::exists(path));
  file.appear();
  file.write("2\n");
  file.reach_disk();
  EXPECT_EQ(contents(path), "1\n2\n");
  file.write("3\n");
  file.commit();
  EXPECT_EQ(contents(path), "1\n2\n3\n");
  OutputFile device("/dev/null");
  device.write("1\n");
  EXPECT_NO_THROW(device.reach_disk());
}

TEST(OutputFile, GrowsOnceItIsToAppear) {
  const TemporaryFolder folder;
  folder.write("a", "old");
  {
    OutputFile file(folder / "a");
    file.write("1\n");
    EXPECT_EQ(contents(folder / "a"), "old");
    file.appear();
    EXPECT_EQ(contents(folder / "a"), "1\n");
    file.write("2\n");
    EXPECT_EQ(contents(folder / "a"), "1\n");
    file.flush();
    EXPECT_EQ(contents(folder / "a"), "1\n2\n");
    EXPECT_EQ(folder.files(), 1u);
  }
  EXPECT_EQ(contents(folder / "a"), "1\n2\n");
  {
    OutputFile file(folder / "a");
    file.appear();
    file.write("3\n");
    file.commit();
  }
  EXPECT_EQ(contents(folder / "a"), "3\n");
  EXPECT_EQ(folder.files(), 1u);
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

/// A dangling link leads to the place where the file appears; a circular one, to an error.
TEST(OutputFile, FollowsLinksToNothing) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("sub/second", folder / "first");
  std::filesystem::create_symlink("../target", folder / "sub/second");
  OutputFile file(folder / "first");
  file.write("new");
  file.commit();
  EXPECT_EQ(contents(folder / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "sub/second"));
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// The path of the only file with this extension.
std::string unfinished_in(const TemporaryFolder& folder) {
  for (const auto& file : std::filesystem::directory_iterator(folder / "")) {
    if (file.path().string().ends_with(".part")) return file.path().string();
  }
  return "";
}

TEST(OutputFile, HasItsPermissionsFromTheStart) {
  const TemporaryFolder folder;
  const std::string old = folder.write("old", "secret");
  const mode_t before = umask(0027);
  for (const mode_t mode : {0600U, 0644U, 0666U}) {
    chmod(old.c_str(), mode);
    OutputFile file(old);
    EXPECT_EQ(mode_of(unfinished_in(folder)), mode);
    file.commit();
    EXPECT_EQ(mode_of(old), mode);
  }
  {
    OutputFile usual(folder / "new");
    EXPECT_EQ(mode_of(unfinished_in(folder)), 0640U);
  }
  OutputFile own(folder / "own", 0600);
  EXPECT_EQ(mode_of(unfinished_in(folder)), 0600U);
  umask(before);
}

/// Process ids repeat when a container restarts.
TEST(OutputFile, WhatAKilledRunLeftIsNotInTheWay) {
  const TemporaryFolder folder;
  for (int i = 0; i < 1000; ++i) {
    folder.write(".a." + std::to_string(getpid()) + "-" + std::to_string(i) + ".part", "left");
  }
  OutputFile file(folder / "a");
  file.write("new");
  file.commit();
  EXPECT_EQ(contents(folder / "a"), "new");
}

TEST(OutputFile, NamesAreNotGuessed) {
  const TemporaryFolder folder;
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const OutputFile file(folder / "a");
    names.insert(unfinished_in(folder));
  }
  EXPECT_EQ(names.size(), 100U);
  const std::string longest(255, 'x');
  OutputFile file(folder / longest);
  file.commit();
  EXPECT_TRUE(std::filesystem::exists(folder / longest));
}

/// The outcome of `write` in a separate process: 0, or 3 if it fails.
template <class Write>
int status_of_writing(const Write& write) {
  return heddle::test::status_of_child([&] {
    for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    try {
      write();
      return 0;
    } catch (const WriteFailed&) {
      return 3;
    }
  });
}

TEST(OutputFile, LimitsAndClosedPipesAreErrors) {
  const TemporaryFolder folder;
  EXPECT_EQ(status_of_writing([&] {
              heddle::test::limit(RLIMIT_FSIZE, 4096);
              OutputFile file(folder / "a");
              file.write(std::string(1000000, 'x'));
              file.commit();
            }),
            3);
  EXPECT_EQ(folder.files(), 0U);
  // A file that has appeared keeps everything flushed before, and no partial line.
  EXPECT_EQ(status_of_writing([&] {
              heddle::test::limit(RLIMIT_FSIZE, 4096);
              OutputFile file(folder / "a");
              file.appear();
              for (int i = 0; i < 10; ++i) {
                file.write(std::string(999, 'x') + "\n");
                file.flush();
              }
            }),
            3);
  EXPECT_EQ(contents(folder / "a").size(), 4000U);
  EXPECT_EQ(folder.files(), 1U);
  EXPECT_EQ(status_of_writing([&] {
              int ends[2];
              if (pipe(ends) != 0) _exit(1);
              OutputFile file("/dev/fd/" + std::to_string(ends[1]));
              close(ends[0]);
              file.write(std::string(1000000, 'x'));
              file.commit();
            }),
            3);
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
  std::filesystem::create_symlink("circle", folder / "circle");
  expect_failure(folder / "circle", "Too many levels of symbolic links");
  if (std::filesystem::exists("/dev/full")) {
    expect_failure("/dev/full", "No space left on device");
    try {  // through a writer, on its team
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
    const int status = heddle::test::status_of_child([&] {
      std::signal(signal, [](int) {
        remove_unfinished_files();
        _exit(130);
      });
      OutputFile done(folder / "done"), first(folder / "first"), second(folder / "second");
      first.write(std::string(1000000, 'x'));
      done.commit();
      raise(signal);
      return 1;
    });
    EXPECT_EQ(status, 130);
    EXPECT_EQ(folder.files(), 1u);
    EXPECT_TRUE(std::filesystem::exists(folder / "done"));
  }
}

}  // namespace
