#include <algorithm>
#include <cstddef>

#include "heddle/error.hpp"
#include "image_files.hpp"

namespace heddle::spin {

namespace {

constexpr std::size_t header_size = 18;

/// Pixels in the order of the file.
class TgaReader {
 public:
  explicit TgaReader(const mesh::NamedBytes& file) : file_(file) {}

  GreyPixels read() {
    if (file_.bytes.size() < header_size) refuse("no TGA image: it is shorter than a header");
    read_header();
    const auto pixels = std::size_t(width_) * std::size_t(height_);
    check_size(pixels);
    std::vector<unsigned char> grey;
    grey.reserve(pixels);
    while (grey.size() < pixels) {
      if (is_run_length_encoded_) {
        read_packet(grey, pixels);
      } else {
        grey.push_back(pixel());
      }
    }
    return {width_, height_, upright(std::move(grey))};
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
                 " bits a pixel; 8 of grey, 24 and 32 of colour are read",
             ErrorKind::unsupported);
    }
    constexpr unsigned interleaved = 0xc0;
    if (map > 1 || (way & interleaved) != 0) refuse("no TGA image: its header has no meaning");
    bytes_a_pixel_ = depth / 8;
    width_ = word_at(12);
    height_ = word_at(14);
    if (width_ == 0 || height_ == 0) refuse("TGA image without pixels");
    is_right_to_left_ = (way & 0x10U) != 0;
    is_top_to_bottom_ = (way & 0x20U) != 0;
    // A text, and a map of colours that nothing here refers to.
    at_ = header_size + byte_at(0);
    if (map == 1) at_ += static_cast<std::size_t>(word_at(5)) * ((byte_at(7) + 7) / 8);
  }

  void check_size(std::size_t pixels) const {
    const std::size_t left = file_.bytes.size() - std::min(at_, file_.bytes.size());
    // A packet of a byte and a pixel stands for 128 at most.
    const std::size_t most =
        is_run_length_encoded_ ? left / (1 + bytes_a_pixel_) * 128 : left / bytes_a_pixel_;
    if (pixels <= most) return;
    refuse(std::to_string(width_) + " x " + std::to_string(height_) + " pixels do not fit in the " +
           std::to_string(left) + " bytes behind the TGA header");
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

  /// Up to 128 pixels: one that is repeated, or each by itself.
  void read_packet(std::vector<unsigned char>& grey, std::size_t pixels) {
    need(1);
    const unsigned head = byte_at(at_++);
    const std::size_t count = 1 + (head & 0x7fU);
    if (count > pixels - grey.size()) refuse("the TGA image has more pixels than its size");
    if ((head & 0x80U) != 0) {
      grey.insert(grey.end(), count, pixel());
    } else {
      for (std::size_t i = 0; i < count; ++i) grey.push_back(pixel());
    }
  }

  /// Rows from the top, from left to right.
  std::vector<unsigned char> upright(std::vector<unsigned char> grey) const {
    const auto width = static_cast<std::ptrdiff_t>(width_);
    if (!is_top_to_bottom_) {
      for (std::ptrdiff_t low = 0, high = height_ - 1; low < high; ++low, --high) {
        std::swap_ranges(grey.begin() + low * width, grey.begin() + (low + 1) * width,
                         grey.begin() + high * width);
      }
    }
    for (std::ptrdiff_t row = 0; is_right_to_left_ && row < height_; ++row) {
      std::reverse(grey.begin() + row * width, grey.begin() + (row + 1) * width);
    }
    return grey;
  }

  const mesh::NamedBytes& file_;
  std::size_t at_ = 0;
  int width_ = 0, height_ = 0;
  std::size_t bytes_a_pixel_ = 1;
  bool is_run_length_encoded_ = false, is_right_to_left_ = false, is_top_to_bottom_ = false;
};

}  // namespace

GreyPixels read_tga(const mesh::NamedBytes& file) { return TgaReader(file).read(); }

}  // namespace heddle::spin
