// Profiles that several processes write at once keep the records of each process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "support/tuning/profiles.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

Profile with_record(int number) {
  Profile profile = some_profile();
  profile.records = {
      some_record("matrix " + std::to_string(number), std::to_string(number), "C=4")};
  return profile;
}

/// Merges records `first`, `first` + `step`, ... below `end`.
void merge(const std::string& path, int first, int step, int end) {
  for (int i = first; i < end; i += step) with_record(i).merge_into(path);
}

TEST(ProfileMerge, ProcessesLoseNothing) {
  const TemporaryFolder folder;
  const std::string path = folder / "p.json";
  std::filesystem::create_symlink("p.json", folder / "link.json");
  constexpr int processes = 4, records = 60;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        merge(i % 2 == 0 ? path : folder / "link.json", i, processes, records);
        _exit(0);
      } catch (const std::exception&) {
        _exit(1);
      }
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Profile::load(path).records.size(), static_cast<std::size_t>(records));
  EXPECT_EQ(folder.files(), 2U);  // no lock is left
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
}

TEST(ProfileMerge, ALockThatAKilledProcessLeftHoldsNobodyUp) {
  const TemporaryFolder folder;
  folder.write(".p.json.lock", "");
  with_record(1).merge_into(folder / "p.json");
  EXPECT_EQ(Profile::load(folder / "p.json").records.size(), 1U);
}

TEST(ProfileMerge, WhatIsNoProfileOfThisDeviceStays) {
  const TemporaryFolder folder;
  Profile foreign = with_record(1);
  foreign.device.instructions = "those of another processor";
  for (const std::string& text : {std::string("{}"), std::string(), foreign.to_json()}) {
    const std::string path = folder.write("p.json", text);
    EXPECT_THROW(with_record(2).merge_into(path), Error);
    EXPECT_EQ(contents(path), text);
    EXPECT_EQ(folder.files(), 1U);
  }
}

}  // namespace
