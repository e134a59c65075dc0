#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <compare>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "heddle/error.hpp"
#include "image_files.hpp"

namespace heddle::spin {

namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

[[noreturn]] void refuse(const mesh::NamedBytes& file, const std::string& what) {
  throw Error(ErrorKind::malformed_file, std::string(file.path) + ": " + what);
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// Checks chunks, because libpng reads on past some faults. Each chunk is a length, a name of four
/// bytes, that many bytes and their checksum; IEND is the last.
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
      refuse(file, "a checksum of the PNG image is wrong: the image is damaged");
    }
    is_last = covered.starts_with("IEND");
    rest.remove_prefix(around + length);
  }
}

/// A pixel; the order is that of the file: seven passes if it is interlaced.
struct Wanted {
  int pass, row, column;
  std::size_t place;  // where its grey goes
  auto operator<=>(const Wanted&) const = default;
};

/// Adam7: the pass of each pixel in a block of 8 x 8.
int pass_of(const Pixel& pixel) {
  static constexpr char pass[] =
      "05351535"
      "66666666"
      "45454545"
      "66666666"
      "25352535"
      "66666666"
      "45454545"
      "66666666";
  return pass[8 * (pixel.row % 8) + pixel.column % 8] - '0';
}

/// libpng reports an error by longjmp, which skips destructors: no object with a destructor is
/// alive between `read` and libpng's calls.
class PngReader {
 public:
  explicit PngReader(const mesh::NamedBytes& file) : file_(file), rest_(file.bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, auto) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error(ErrorKind::memory, "no memory for libpng");
    }
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  std::vector<unsigned char> read(const PixelsOf& pixels) {
    run(&PngReader::read_header);
    check_size();
    const std::vector<Pixel> given = pixels(width_, height_);
    grey_.resize(given.size());
    wanted_.reserve(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const int pass = passes_ > 1 ? pass_of(given[i]) : 0;
      wanted_.push_back({pass, given[i].row, given[i].column, i});
    }
    std::sort(wanted_.begin(), wanted_.end());
    row_.resize(row_size_);
    run(&PngReader::read_rows);
    return std::move(grey_);
  }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(reader.message_, sizeof message_, "%s", message);
    png_longjmp(png, 1);
  }

  static void take_bytes(png_structp png, png_bytep bytes, std::size_t size) {
    std::string_view& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (size > rest.size()) png_error(png, "it ends too early");
    std::memcpy(bytes, rest.data(), size);
    rest.remove_prefix(size);
  }

  void run(void (PngReader::*part)()) {
    if (setjmp(png_jmpbuf(png_)) == 0) return (this->*part)();
    refuse(file_, std::string("the PNG image cannot be read: ") + message_);
  }

  void read_header() {
    png_set_read_fn(png_, this, take_bytes);
    png_set_benign_errors(png_, 1);
    // Texts and the like are skipped; chunks that define the brightness of samples are kept.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    constexpr png_byte kept[] = "cHRM\0gAMA\0iCCP\0sRGB";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, kept, sizeof kept / 5);
    png_read_info(png_, info_);
    width_ = static_cast<int>(png_get_image_width(png_, info_));
    height_ = static_cast<int>(png_get_image_height(png_, info_));
    passes_ =
        png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES;
    bits_ = png_get_channels(png_, info_) * png_get_bit_depth(png_, info_);
    make_rgba();
    png_read_update_info(png_, info_);
    row_size_ = png_get_rowbytes(png_, info_);
  }

  /// Colours in 8 bits as sRGB, with alpha, so that libpng puts no background under the image.
  /// 16-bit samples are linear if the file does not say what they are.
  void make_rgba() {
    const int colour = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    png_set_expand(png_);
    if ((colour & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
    png_set_alpha_mode_fixed(png_, PNG_ALPHA_PNG,
                             depth == 16 ? PNG_GAMMA_LINEAR : PNG_DEFAULT_sRGB);
    if (depth == 16) png_set_scale_16(png_);
    const bool has_alpha =
        (colour & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    if (!has_alpha) png_set_add_alpha(png_, 255, PNG_FILLER_AFTER);
    png_set_alpha_mode_fixed(png_, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  }

  /// Decompression multiplies the number of bytes by at most 1032.
  void check_size() const {
    const std::uint64_t bits = std::uint64_t(width_) * std::uint64_t(height_) * bits_;
    if (bits / 8 <= std::uint64_t(file_.bytes.size()) * 1032) return;
    refuse(file_, std::to_string(width_) + " x " + std::to_string(height_) +
                      " pixels do not fit in the " + std::to_string(file_.bytes.size()) +
                      " bytes of the PNG image");
  }

  void read_rows() {
    std::size_t next = 0;
    for (int pass = 0; pass < passes_; ++pass) {
      const bool is_whole = passes_ == 1;
      const int first = is_whole ? 0 : PNG_PASS_START_COL(pass);
      const int step = is_whole ? 1 : PNG_PASS_COL_OFFSET(pass);
      if (first >= width_) continue;
      const int row_step = is_whole ? 1 : PNG_PASS_ROW_OFFSET(pass);
      for (int row = is_whole ? 0 : PNG_PASS_START_ROW(pass); row < height_; row += row_step) {
        png_read_row(png_, row_.data(), nullptr);
        for (; next < wanted_.size(); ++next) {
          const Wanted& wanted = wanted_[next];
          if (wanted.pass != pass || wanted.row != row) break;
          const unsigned char* const colour =
              &row_[4 * std::size_t((wanted.column - first) / step)];
          grey_[wanted.place] = luma(colour[0], colour[1], colour[2]);
        }
      }
    }
    png_read_end(png_, nullptr);
  }

  const mesh::NamedBytes& file_;
  std::string_view rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int width_ = 0, height_ = 0, passes_ = 1;
  unsigned bits_ = 0;  // per pixel in the file
  std::size_t row_size_ = 0;
  std::vector<Wanted> wanted_;
  std::vector<unsigned char> row_, grey_;
  char message_[128] = "";
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(signature); }

std::vector<unsigned char> read_png(const mesh::NamedBytes& file, const PixelsOf& pixels) {
  if (!is_png(file.bytes)) refuse(file, "not a PNG image: it does not begin like one");
  check_chunks(file);
  return PngReader(file).read(pixels);
}

}  // namespace heddle::spin
