// The profiles that come with heddle.
#include <gtest/gtest.h>

#include <string>

#include "heddle/tuning/profile.hpp"

namespace {

using heddle::Profile;

// The plans are full texts in earlier spellings.
TEST(ShippedProfiles, Load) {
  for (const char* name : {"cpu-avx2.json", "nvidia-h200.json"}) {
    const std::string path = std::string(HEDDLE_SOURCE_DIR) + "/data/profiles/" + name;
    const Profile profile = Profile::load(path);
    EXPECT_FALSE(profile.records.empty());
    EXPECT_EQ(Profile::from_json(profile.to_json(), path), profile);
  }
}

}  // namespace
