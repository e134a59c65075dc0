#include "file_ending.hpp"

#include <filesystem>

namespace heddle::mesh {

std::string take_ending(std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  path.resize(path.size() - ending.size());
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

}  // namespace heddle::mesh
