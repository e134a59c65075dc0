// Real matrices and meshes, which are not part of the tree: without them, tests that read them
// skip.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace heddle::test {

/// The path of a file in the folder that HEDDLE_TEST_DATA names.
inline std::string test_data(const std::string& name) {
  const char* const folder = std::getenv("HEDDLE_TEST_DATA");
  return std::string(folder != nullptr ? folder : "no-test-data") + "/" + name;
}

inline bool has_test_data(const std::string& name) {
  return std::filesystem::exists(test_data(name));
}

/// The message with which a test skips.
inline std::string no_test_data(const std::string& name) {
  return "HEDDLE_TEST_DATA names no folder that holds " + name;
}

}  // namespace heddle::test
