#include <array>
#include <filesystem>
#include <fstream>

#include "heddle/npz.hpp"
#include "matrix_market_read.hpp"

namespace heddle {

namespace {

/// Only a regular file is looked at: what is read from a pipe is gone.
bool is_zip(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, 4> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) == "PK\x03\x04";
}

}  // namespace

ScalarMatrix read_scalar_matrix(const std::string& path, const Device& device, Progress* progress) {
  if (path.ends_with(".npz") || is_zip(path)) {
    return expand_blocks(read_npz(path, device, progress), device);
  }
  return io::read_matrix_market(path, io::open_bytes(path), device, progress);
}

ScalarField read_scalar_field(const std::string& path, const Device& device, Progress* progress) {
  return io::read_matrix_market_field(path, io::open_bytes(path), device, progress);
}

}  // namespace heddle
