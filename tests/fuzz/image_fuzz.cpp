// The readers of images over arbitrary bytes: they return the requested number of pixels, with
// equal values for a pixel requested twice, or throw Error with one line that begins with the
// file's name. Input that begins like PNG is read as PNG, any other as TGA.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../../apps/spin/image_files.hpp"
#include "heddle/error.hpp"

using namespace heddle;
using namespace heddle::spin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto corners_of = [](int width, int height) -> std::vector<Pixel> {
    if (width <= 0 || height <= 0) std::abort();
    return {{width - 1, height - 1}, {0, 0}, {width - 1, height - 1}};
  };
  try {
    const std::vector<unsigned char> grey = is_png(bytes) ? read_png({"f.png", bytes}, corners_of)
                                                          : read_tga({"f.tga", bytes}, corners_of);
    if (grey.size() != 3 || grey[0] != grey[2]) std::abort();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.rfind("f.", 0) != 0) std::abort();
    for (const char c : message) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
