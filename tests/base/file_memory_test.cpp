#include "base/file_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/temporary_folder.hpp"

namespace heddle {
namespace {

/// Counts the reads of a file.
struct Reader {
  FileMemory<std::string> memory;
  int times = 0;

  std::string read(const std::string& path) {
    return memory.get(path, [&] {
      ++times;
      std::string word;
      std::ifstream(path) >> word;
      return word;
    });
  }
};

TEST(FileMemory, ReadsAFileOfOldOnce) {
  Reader reader;
  const std::string old = "/bin/sh";
  reader.read(old);
  reader.read(old);
  EXPECT_EQ(reader.times, 1);
}

TEST(FileMemory, ReadsAFileAgainThatMayHaveChanged) {
  TemporaryFolder folder;
  const std::string path = folder / "file";
  Reader reader;
  EXPECT_EQ(reader.read(path), "");
  folder.write("file", "one");
  EXPECT_EQ(reader.read(path), "one");
  folder.write("file", "two");  // same length, within one tick of the file system's clock
  EXPECT_EQ(reader.read(path), "two");
  std::filesystem::rename(folder.write("other", "six"), path);
  EXPECT_EQ(reader.read(path), "six");
  std::filesystem::remove(path);
  EXPECT_EQ(reader.read(path), "");
  EXPECT_EQ(reader.times, 5);
}

TEST(FileMemory, ForgetsNothingOfAnErrorThatWasThrown) {
  FileMemory<int> memory;
  EXPECT_THROW(memory.get("/bin/sh", []() -> int { throw 1; }), int);
  EXPECT_EQ(memory.get("/bin/sh", [] { return 2; }), 2);
}

}  // namespace
}  // namespace heddle
