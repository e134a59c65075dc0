#include "grey_image.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "image_files.hpp"
#include "read/file_ending.hpp"

namespace heddle::spin {

namespace {

std::vector<unsigned char> read_image(const std::string& path, const PixelsOf& pixels) {
  const std::string bytes = io::read_file(path);
  if (is_png(bytes)) return read_png({path, bytes}, pixels);
  std::string stem = path;
  std::string ending = mesh::take_ending(stem);
  if (ending == ".gz") ending = mesh::take_ending(stem);
  if (ending == ".tga") return read_tga({path, bytes}, pixels);
  throw Error(ErrorKind::unsupported,
              path +
                  ": neither a PNG image, recognized by its first bytes, nor a TGA image, "
                  "recognized by the ending .tga; no others are read");
}

/// A point between four pixels: i and i + 1, j and j + 1 from the lower left.
struct Place {
  int i, j;
  double a, b;  // distances from i and from j
};

Place place_of(const mesh::TextureCoordinate& point, int width, int height) {
  // Far outside there is only the border; the clamp keeps integers from overflowing.
  const double x = std::clamp(point[0] * width, -1.0, width + 1.0);
  const double y = std::clamp(point[1] * height, -1.0, height + 1.0);
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  return {i, j, x - i, y - j};
}

}  // namespace

std::vector<double> grey_at(const std::string& path,
                            std::span<const mesh::TextureCoordinate> points) {
  std::vector<Place> place;
  place.reserve(points.size());
  const std::vector<unsigned char> grey = read_image(path, [&](int width, int height) {
    std::vector<Pixel> pixels;
    pixels.reserve(4 * points.size());
    for (const mesh::TextureCoordinate& point : points) {
      const auto& [i, j, a, b] = place.emplace_back(place_of(point, width, height));
      for (const int y : {j, j + 1}) {
        for (const int x : {i, i + 1}) {
          pixels.push_back(
              {std::clamp(x, 0, width - 1), height - 1 - std::clamp(y, 0, height - 1)});
        }
      }
    }
    return pixels;
  });
  std::vector<double> values;
  values.reserve(points.size());
  for (std::size_t k = 0; k < place.size(); ++k) {
    const auto pixel = [&](std::size_t corner) { return grey[4 * k + corner] / 255.0; };
    const auto& [i, j, a, b] = place[k];
    values.push_back((1 - b) * ((1 - a) * pixel(0) + a * pixel(1)) +
                     b * ((1 - a) * pixel(2) + a * pixel(3)));
  }
  return values;
}

}  // namespace heddle::spin
