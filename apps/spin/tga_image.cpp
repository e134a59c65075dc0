#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "heddle/error.hpp"
#include "image_files.hpp"

namespace heddle::spin {

namespace {

constexpr std::size_t header_size = 18;

/// Reads pixels in the order of the file.
class TgaReader {
 public:
  explicit TgaReader(const mesh::NamedBytes& file) : file_(file) {}

  std::vector<unsigned char> read(const PixelsOf& pixels) {
    if (file_.bytes.size() < header_size) refuse("not a TGA image: it is shorter than a header");
    read_header();
    const auto count = std::size_t(width_) * std::size_t(height_);
    check_size(count);
    want(pixels(width_, height_));
    for (std::size_t passed = 0; passed < count;) {
      passed = is_run_length_encoded_ ? read_packet(passed, count) : read_pixel(passed);
    }
    return std::move(grey_);
  }

 private:
  unsigned byte_at(std::size_t i) const { return static_cast<unsigned char>(file_.bytes[i]); }
  int word_at(std::size_t i) const { return static_cast<int>(byte_at(i) | byte_at(i + 1) << 8); }

  [[noreturn]] void refuse(const std::string& what,
                           ErrorKind kind = ErrorKind::malformed_file) const {
    throw Error(kind, std::string(file_.path) + ": " + what);
  }

  void read_header() {
    const unsigned map = byte_at(1), type = byte_at(2), depth = byte_at(16), way = byte_at(17);
    is_run_length_encoded_ = type == 10 || type == 11;
    const bool is_grey = type == 3 || type == 11;
    if (type != 2 && type != 10 && !is_grey) {
      refuse("TGA image of type " + std::to_string(type) +
                 "; 2, 3, 10 and 11 are read: colours or grey without a colour map, plain or "
                 "run-length "
                 "encoded",
             ErrorKind::unsupported);
    }
    if (is_grey ? depth != 8 : depth != 24 && depth != 32) {
      refuse("TGA image of " + std::to_string(depth) +
                 " bits per pixel; 8 for grey, 24 and 32 for colour are read",
             ErrorKind::unsupported);
    }
    constexpr unsigned interleaved = 0xc0;
    if (map > 1 || (way & interleaved) != 0) refuse("not a TGA image: its header is invalid");
    bytes_a_pixel_ = depth / 8;
    width_ = word_at(12);
    height_ = word_at(14);
    if (width_ == 0 || height_ == 0) refuse("TGA image without pixels");
    is_right_to_left_ = (way & 0x10U) != 0;
    is_top_to_bottom_ = (way & 0x20U) != 0;
    // Skips a text, and a colour map that nothing here refers to.
    at_ = header_size + byte_at(0);
    if (map == 1) at_ += static_cast<std::size_t>(word_at(5)) * ((byte_at(7) + 7) / 8);
  }

  void check_size(std::size_t pixels) const {
    const std::size_t left = file_.bytes.size() - std::min(at_, file_.bytes.size());
    // A packet of one byte and one pixel stands for at most 128 pixels.
    const std::size_t most =
        is_run_length_encoded_ ? left / (1 + bytes_a_pixel_) * 128 : left / bytes_a_pixel_;
    if (pixels <= most) return;
    refuse(std::to_string(width_) + " x " + std::to_string(height_) + " pixels do not fit in the " +
           std::to_string(left) + " bytes after the TGA header");
  }

  void need(std::size_t bytes) const {
    if (file_.bytes.size() - at_ < bytes) refuse("the TGA image ends too early");
  }

  unsigned char pixel() {
    need(bytes_a_pixel_);
    const std::size_t at = at_;
    at_ += bytes_a_pixel_;
    if (bytes_a_pixel_ == 1) return static_cast<unsigned char>(byte_at(at));
    return luma(byte_at(at + 2), byte_at(at + 1), byte_at(at));  // blue comes first
  }

  /// Up to 128 pixels: one repeated, or each given separately. Returns the number of pixels passed.
  std::size_t read_packet(std::size_t passed, std::size_t pixels) {
    need(1);
    const unsigned head = byte_at(at_++);
    const std::size_t count = 1 + (head & 0x7fU);
    if (count > pixels - passed) refuse("the TGA image has more pixels than its size");
    if ((head & 0x80U) != 0) {
      take(passed + count, pixel());
    } else {
      for (std::size_t i = 0; i < count; ++i) read_pixel(passed + i);
    }
    return passed + count;
  }

  std::size_t read_pixel(std::size_t passed) {
    take(passed + 1, pixel());
    return passed + 1;
  }

  /// Finds each pixel's place in the file: rows may run from the bottom, and from right to left.
  void want(const std::vector<Pixel>& pixels) {
    grey_.resize(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const auto [column, row] = pixels[i];
      const int line = is_top_to_bottom_ ? row : height_ - 1 - row;
      const int place = is_right_to_left_ ? width_ - 1 - column : column;
      wanted_.emplace_back(std::size_t(line) * std::size_t(width_) + std::size_t(place), i);
    }
    std::sort(wanted_.begin(), wanted_.end());
  }

  /// Assigns this grey to the next wanted pixels in the file that come before `end`.
  void take(std::size_t end, unsigned char grey) {
    for (; next_ < wanted_.size() && wanted_[next_].first < end; ++next_) {
      grey_[wanted_[next_].second] = grey;
    }
  }

  const mesh::NamedBytes& file_;
  std::size_t at_ = 0;
  int width_ = 0, height_ = 0;
  std::size_t bytes_a_pixel_ = 1;
  std::vector<unsigned char> grey_;
  std::vector<std::pair<std::size_t, std::size_t>> wanted_;  // place in the file, and in grey_
  std::size_t next_ = 0;                                     // first of those not yet reached
  bool is_run_length_encoded_ = false, is_right_to_left_ = false, is_top_to_bottom_ = false;
};

}  // namespace

std::vector<unsigned char> read_tga(const mesh::NamedBytes& file, const PixelsOf& pixels) {
  return TgaReader(file).read(pixels);
}

}  // namespace heddle::spin
