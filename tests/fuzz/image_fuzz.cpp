// The readers of images over arbitrary bytes: they return as many pixels as they say, or throw
// Error with one line that begins with the file's name. What begins as PNG is read as that,
// anything else as TGA.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../../apps/spin/image_files.hpp"
#include "heddle/error.hpp"

using namespace heddle;
using namespace heddle::spin;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const GreyPixels image =
        is_png(bytes) ? read_png({"f.png", bytes}) : read_tga({"f.tga", bytes});
    if (image.width <= 0 || image.height <= 0) std::abort();
    const auto pixels =
        static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
    if (image.grey.size() != pixels) std::abort();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.rfind("f.", 0) != 0) std::abort();
    for (const char c : message) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
