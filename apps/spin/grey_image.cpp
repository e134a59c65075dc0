#include "grey_image.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heddle/error.hpp"
#include "heddle/text.hpp"
#include "stb_headers.hpp"

namespace heddle::spin {

GreyImage::GreyImage(const std::string& path) {
  const std::string bytes = io::read_file(path);
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorKind::unsupported, path + ": an image of more than 2 GiB");
  }
  int channels = 0;
  constexpr int grey_only = 1;
  const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const unsigned char*>(bytes.data()),
                            static_cast<int>(bytes.size()), &width_, &height_, &channels,
                            grey_only),
      stbi_image_free);
  if (!pixels) {
    throw Error(ErrorKind::malformed_file,
                path + ": no TGA, PNG, JPEG or BMP image (" + stbi_failure_reason() + ")");
  }
  grey_.assign(pixels.get(), pixels.get() + std::size_t(width_) * std::size_t(height_));
}

double GreyImage::pixel(int x, int y) const {
  const int column = std::clamp(x, 0, width_ - 1);
  const int row = height_ - 1 - std::clamp(y, 0, height_ - 1);
  return grey_[std::size_t(row) * std::size_t(width_) + std::size_t(column)] / 255.0;
}

double GreyImage::operator()(double u, double v) const {
  // Far outside there is nothing but the border, which integers must not overflow on.
  const double x = std::clamp(u * width_, -1.0, width_ + 1.0);
  const double y = std::clamp(v * height_, -1.0, height_ + 1.0);
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  const double a = x - i, b = y - j;
  return (1 - b) * ((1 - a) * pixel(i, j) + a * pixel(i + 1, j)) +
         b * ((1 - a) * pixel(i, j + 1) + a * pixel(i + 1, j + 1));
}

}  // namespace heddle::spin
