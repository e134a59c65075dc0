#include "png_bytes.hpp"

#include <png.h>

#include "heddle/error.hpp"

namespace heddle::mesh {

std::string png_of(int width, int height, const std::vector<unsigned char>& pixels) {
  png_image image{};  // libpng frees it after writing
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  std::string bytes;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  bytes.resize(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw Error(ErrorKind::internal, std::string("libpng: ") + image.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace heddle::mesh
