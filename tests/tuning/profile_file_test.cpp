// Profiles as files: whole or not at all; files that cannot be read or written are named.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <string>

#include "heddle/tuning/profile.hpp"
#include "io/temporary_folder.hpp"
#include "support/tuning/profiles.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

Profile profile_with_record() {
  Profile profile = some_profile();
  profile.records = {some_record("a", "a", "C=4")};
  return profile;
}

TEST(ProfileFile, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = folder / "p.json";
  profile_with_record().save(path);
  EXPECT_EQ(contents(path), profile_with_record().to_json());
  EXPECT_EQ(Profile::load(path).to_json(), profile_with_record().to_json());
  Profile of_gpu = profile_with_record();
  of_gpu.device = some_gpu();
  of_gpu.save(path);
  EXPECT_EQ(Profile::load(path).device, some_gpu());
  Profile bad = profile_with_record();
  bad.records[0].speedup = std::nan("");
  EXPECT_THROW(bad.save(path), Error);
  EXPECT_EQ(Profile::load(path).device, some_gpu());
  EXPECT_EQ(folder.files(), 1u);
}

ErrorKind kind_of(const std::function<void()>& act, const std::string& name) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::internal;
}

TEST(ProfileFile, ThatCannotBeReadOrWrittenIsNamed) {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.json";
  EXPECT_EQ(kind_of([&] { Profile::load(missing); }, missing), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { Profile::load(folder / ""); }, folder / ""), ErrorKind::io);
  const std::string nowhere = folder / "no/such/folder/p.json";
  EXPECT_EQ(kind_of([&] { some_profile().save(nowhere); }, nowhere), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { some_profile().save(folder / ""); }, "heddle-test"), ErrorKind::io);
  if (geteuid() != 0) {  // root may write everywhere
    const std::string unwritable = folder / "closed";
    mkdir(unwritable.c_str(), 0500);
    EXPECT_EQ(kind_of([&] { some_profile().save(unwritable + "/p.json"); }, unwritable),
              ErrorKind::io);
  }
  const std::string broken = folder.write("broken.json", "{");
  EXPECT_EQ(kind_of([&] { Profile::load(broken); }, broken), ErrorKind::bad_plan);
}

}  // namespace
