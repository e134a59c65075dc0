// A grey image as a function on the unit square.
#pragma once

#include <string>
#include <vector>

namespace heddle::spin {

class GreyImage {
 public:
  /// Reads TGA, PNG, JPEG or BMP; colours become their luma. Throws `Error` (io, malformed_file).
  explicit GreyImage(const std::string& path);

  int width() const { return width_; }
  int height() const { return height_; }

  /// From 0 (black) to 1 (white), bilinear between pixels; (0, 0) is the lower left corner, pixel
  /// (i, j) from there lies at (i / width, j / height), and beyond the border the last pixel
  /// counts.
  double operator()(double u, double v) const;

 private:
  double pixel(int x, int y) const;

  int width_ = 0;
  int height_ = 0;
  std::vector<unsigned char> grey_;  // rows from the top
};

}  // namespace heddle::spin
