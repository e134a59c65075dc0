#include "file_bytes.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "heddle/error.hpp"

namespace heddle::mesh {

std::string read_bytes(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorKind::io, "cannot read " + path + ": it is a folder");
  }
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    throw Error(ErrorKind::io, "cannot read " + path + ": " + std::strerror(errno));
  }
  constexpr unsigned block = 1 << 20;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + block);
    const int count = gzread(file.get(), bytes.data() + before, block);
    bytes.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0) {
      int code = 0;
      throw Error(ErrorKind::io, "cannot read " + path + ": " + gzerror(file.get(), &code));
    }
    if (count == 0) break;
  }
  // A compressed file that ends early reads as far as it goes.
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code == Z_BUF_ERROR) {
    throw Error(ErrorKind::io, "cannot read " + path + ": the compressed file is cut short");
  }
  return bytes;
}

}  // namespace heddle::mesh
