#include <png.h>
#include <zlib.h>

#include <cstdint>

#include "heddle/error.hpp"
#include "image_files.hpp"

namespace heddle::spin {

namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

[[noreturn]] void refuse(const mesh::NamedBytes& file, const std::string& what) {
  throw Error(ErrorKind::malformed_file, std::string(file.path) + ": " + what);
}

/// libpng's handle of an image, given back whatever happens.
class Image {
 public:
  Image() { image_.version = PNG_IMAGE_VERSION; }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { png_image_free(&image_); }

  png_image& get() { return image_; }

 private:
  png_image image_{};
};

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// libpng reads on past some faults. Each chunk is a length, a name of four bytes, that many bytes
/// and their checksum; IEND is the last.
void check_chunks(const mesh::NamedBytes& file) {
  constexpr std::size_t around = 12;
  std::string_view rest = file.bytes.substr(signature.size());
  for (bool is_last = false; !is_last;) {
    if (rest.size() < around || big_endian(rest) > rest.size() - around) {
      refuse(file, "the PNG image ends too early");
    }
    const std::size_t length = big_endian(rest);
    const std::string_view covered = rest.substr(4, 4 + length);
    const auto checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size());
    if (checksum != big_endian(rest.substr(8 + length))) {
      refuse(file, "a checksum of the PNG image does not hold: it is damaged");
    }
    is_last = covered.starts_with("IEND");
    rest.remove_prefix(around + length);
  }
}

/// Compressed bytes become at most 1032 times as many. IHDR, the first chunk, which libpng has
/// checked, says what a pixel takes.
void check_size(const mesh::NamedBytes& file, const png_image& image) {
  const auto depth = static_cast<unsigned char>(file.bytes[24]);
  const auto kind = static_cast<unsigned char>(file.bytes[25]);
  const bool is_coloured = (kind & PNG_COLOR_MASK_COLOR) != 0 && kind != PNG_COLOR_TYPE_PALETTE;
  const unsigned channels = (is_coloured ? 3U : 1U) + ((kind & PNG_COLOR_MASK_ALPHA) != 0 ? 1 : 0);
  const std::uint64_t bits = std::uint64_t(image.width) * image.height * channels * depth;
  if (bits / 8 <= std::uint64_t(file.bytes.size()) * 1032) return;
  refuse(file, std::to_string(image.width) + " x " + std::to_string(image.height) +
                   " pixels do not fit in the " + std::to_string(file.bytes.size()) +
                   " bytes of the PNG image");
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(signature); }

GreyPixels read_png(const mesh::NamedBytes& file) {
  if (!is_png(file.bytes)) refuse(file, "no PNG image: it does not begin as one");
  check_chunks(file);
  Image handle;
  png_image& image = handle.get();
  const auto refuse_image = [&] {
    refuse(file, std::string("the PNG image cannot be read: ") + image.message);
  };
  if (png_image_begin_read_from_memory(&image, file.bytes.data(), file.bytes.size()) == 0) {
    refuse_image();
  }
  check_size(file, image);
  // With alpha, so that libpng puts no background behind the image.
  image.format = PNG_FORMAT_RGBA;
  constexpr std::size_t channels = 4;
  const std::size_t pixels = std::size_t(image.width) * image.height;
  std::vector<unsigned char> colours(channels * pixels);
  if (png_image_finish_read(&image, nullptr, colours.data(), 0, nullptr) == 0) refuse_image();
  GreyPixels result{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  result.grey.reserve(pixels);
  for (std::size_t i = 0; i < colours.size(); i += channels) {
    result.grey.push_back(luma(colours[i], colours[i + 1], colours[i + 2]));
  }
  return result;
}

}  // namespace heddle::spin
