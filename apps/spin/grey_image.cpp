#include "grey_image.hpp"

#include <algorithm>
#include <cmath>

#include "file_ending.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::spin {

namespace {

GreyPixels read_image(const std::string& path) {
  const std::string bytes = io::read_file(path);
  if (is_png(bytes)) return read_png({path, bytes});
  std::string stem = path;
  std::string ending = mesh::take_ending(stem);
  if (ending == ".gz") ending = mesh::take_ending(stem);
  if (ending == ".tga") return read_tga({path, bytes});
  throw Error(ErrorKind::unsupported,
              path +
                  ": no PNG image, which first bytes tell, and no TGA image, which the ending "
                  ".tga tells; no others are read");
}

}  // namespace

GreyImage::GreyImage(const std::string& path) : pixels_(read_image(path)) {}

double GreyImage::pixel(int x, int y) const {
  const int column = std::clamp(x, 0, width() - 1);
  const int row = height() - 1 - std::clamp(y, 0, height() - 1);
  return pixels_.grey[std::size_t(row) * std::size_t(width()) + std::size_t(column)] / 255.0;
}

double GreyImage::operator()(double u, double v) const {
  // Far outside there is nothing but the border, which integers must not overflow on.
  const double x = std::clamp(u * width(), -1.0, width() + 1.0);
  const double y = std::clamp(v * height(), -1.0, height() + 1.0);
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  const double a = x - i, b = y - j;
  return (1 - b) * ((1 - a) * pixel(i, j) + a * pixel(i + 1, j)) +
         b * ((1 - a) * pixel(i, j + 1) + a * pixel(i + 1, j + 1));
}

}  // namespace heddle::spin
