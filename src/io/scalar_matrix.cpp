#include <array>
#include <filesystem>
#include <fstream>

#include "field_files.hpp"
#include "heddle/npz.hpp"
#include "heddle/read.hpp"
#include "matrix_market_read.hpp"

namespace heddle {

namespace {

/// Only a regular file is looked at: bytes read from a pipe are gone.
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
  constexpr std::size_t enough = 256;
  auto source = io::open_bytes(path);
  const std::string head =
      detail::naming_file(path, [&] { return io::first_bytes(source, enough); });
  if (head.starts_with("\x93NUMPY")) return io::read_npy_field(path, *source, device);
  if (head.starts_with("PK\x03\x04")) {
    detail::malformed_file(path + ": a zip archive; a field is a .npy, Matrix Market or text file");
  }
  if (io::begins_as_text_of_numbers(head)) {
    return io::read_text_field(path, std::move(source), device, progress);
  }
  return io::read_matrix_market_field(path, std::move(source), device, progress);
}

}  // namespace heddle
