// A grey image as a function on the unit square.
#pragma once

#include <string>

#include "image_files.hpp"

namespace heddle::spin {

class GreyImage {
 public:
  /// Reads PNG, which first bytes tell, and TGA (.tga), also compressed with gzip. Throws `Error`
  /// (io; malformed_file and unsupported as `read_png` and `read_tga` do).
  explicit GreyImage(const std::string& path);

  int width() const { return pixels_.width; }
  int height() const { return pixels_.height; }

  /// From 0 (black) to 1 (white), bilinear between pixels; (0, 0) is the lower left corner, pixel
  /// (i, j) from there lies at (i / width, j / height), and beyond the border the last pixel
  /// counts.
  double operator()(double u, double v) const;

 private:
  double pixel(int x, int y) const;

  GreyPixels pixels_;
};

}  // namespace heddle::spin
