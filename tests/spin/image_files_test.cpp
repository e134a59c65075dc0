// Images in files: what is read of them, and what is refused before memory is spent on it.
#include "image_files.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "grey_image.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "png_bytes.hpp"
#include "support/message_of.hpp"

namespace heddle::spin {
namespace {

using mesh::png_of;

using Grey = std::vector<unsigned char>;

std::string message_of(GreyPixels (*read)(const mesh::NamedBytes&), const std::string& bytes) {
  return test::message_of([&] { read({"f", bytes}); });
}

std::string tga(int type, int width, int height, int depth, int way, const std::string& pixels) {
  std::string bytes(18, '\0');
  bytes[2] = static_cast<char>(type);
  bytes[12] = static_cast<char>(width & 0xff);
  bytes[13] = static_cast<char>(width >> 8);
  bytes[14] = static_cast<char>(height & 0xff);
  bytes[15] = static_cast<char>(height >> 8);
  bytes[16] = static_cast<char>(depth);
  bytes[17] = static_cast<char>(way);
  return bytes + pixels;
}

GreyPixels from_tga(const std::string& bytes) { return read_tga({"f", bytes}); }

std::string chunk(const std::string& name, const std::string& data) {
  const auto big_endian = [](std::size_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  };
  const std::string covered = name + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size()));
  return big_endian(data.size()) + covered + big_endian(sum);
}

const std::string png_signature("\x89PNG\r\n\x1a\n", 8);

/// Of one byte a pixel and side, without the compressed rows.
std::string png_header(const std::string& side) {
  return png_signature + chunk("IHDR", side + side + std::string("\x08\0\0\0\0", 5));
}

TEST(Tga, IsReadWhicheverWayItRuns) {
  const std::string grey = "abcdef";
  EXPECT_EQ(from_tga(tga(3, 3, 2, 8, 0x20, grey)).grey, (Grey{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(from_tga(tga(3, 3, 2, 8, 0x00, grey)).grey, (Grey{'d', 'e', 'f', 'a', 'b', 'c'}));
  EXPECT_EQ(from_tga(tga(3, 3, 2, 8, 0x30, grey)).grey, (Grey{'c', 'b', 'a', 'f', 'e', 'd'}));
  EXPECT_EQ(from_tga(tga(3, 3, 2, 8, 0x20, grey + "TRUEVISION-XFILE.")).width, 3);
  std::string with_text = tga(3, 3, 2, 8, 0x20, "text" + grey);
  with_text[0] = 4;
  EXPECT_EQ(from_tga(with_text).grey[0], 'a');
}

TEST(Tga, ColoursBecomeTheirLuma) {
  const std::string blue_green_red = "\xff\x01\x01\x01\xff\x01\x01\x01\xff";
  const Grey luma_of = {luma(1, 1, 255), luma(1, 255, 1), luma(255, 1, 1)};
  EXPECT_EQ(from_tga(tga(2, 3, 1, 24, 0, blue_green_red)).grey, luma_of);
  const std::string with_alpha = "\xff\x01\x01x\x01\xff\x01x\x01\x01\xffx";
  EXPECT_EQ(from_tga(tga(2, 3, 1, 32, 8, with_alpha)).grey, luma_of);
  EXPECT_EQ(luma(255, 255, 255), 255);
}

TEST(Tga, RunsMayGoOnInTheNextRow) {
  EXPECT_EQ(from_tga(tga(11, 2, 2, 8, 0x20, std::string("\x82z\0y", 4))).grey,
            (Grey{'z', 'z', 'z', 'y'}));
  EXPECT_EQ(message_of(read_tga, tga(11, 2, 2, 8, 0x20, "\x82z\x01yx")),
            "f: the TGA image has more pixels than its size");
}

TEST(Tga, IsRefusedInOneLine) {
  const auto refusal = [](const std::string& bytes) { return message_of(read_tga, bytes); };
  EXPECT_EQ(refusal(""), "f: no TGA image: it is shorter than a header");
  EXPECT_EQ(refusal(tga(3, 65535, 65535, 8, 0, "")),
            "f: 65535 x 65535 pixels do not fit in the 0 bytes behind the TGA header");
  EXPECT_EQ(refusal(tga(10, 65535, 65535, 32, 0, "12345")),
            "f: 65535 x 65535 pixels do not fit in the 5 bytes behind the TGA header");
  EXPECT_EQ(refusal(tga(2, 2, 1, 24, 0, "12345")),
            "f: 2 x 1 pixels do not fit in the 5 bytes behind the TGA header");
  EXPECT_EQ(refusal(tga(11, 3, 1, 8, 0, "\x02xy")), "f: the TGA image ends too early");
  EXPECT_EQ(refusal(tga(3, 0, 1, 8, 0, "x")), "f: TGA image without pixels");
  EXPECT_EQ(refusal(tga(1, 1, 1, 8, 0, "x")),
            "f: TGA image of type 1; 2, 3, 10 and 11 are read: colours or grey without a colour "
            "map, plain or run-length encoded");
  EXPECT_EQ(refusal(tga(2, 1, 1, 16, 0, "xx")),
            "f: TGA image of 16 bits a pixel; 8 of grey, 24 and 32 of colour are read");
}

TEST(Png, IsReadAsItIsWritten) {
  const std::string bytes = png_of(2, 2, {9, 9, 9, 255, 0, 0, 0, 0, 255, 255, 255, 255});
  const GreyPixels image = read_png({"f", bytes});
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.grey, (Grey{9, luma(255, 0, 0), luma(0, 0, 255), 255}));
}

TEST(Png, IsRefusedWhereverItIsCut) {
  const std::string bytes = png_of(2, 1, {1, 2, 3, 4, 5, 6});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    EXPECT_EQ(message_of(read_png, cut), size < 8 ? "f: no PNG image: it does not begin as one"
                                                  : "f: the PNG image ends too early");
  }
}

/// A bit of any byte is covered by the signature, by a length or by a checksum.
TEST(Png, IsRefusedWhereverItIsDamaged) {
  const std::string bytes = png_of(2, 1, {1, 2, 3, 4, 5, 6});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(message_of(read_png, damaged).find("f: "), 0U) << i;
  }
}

TEST(Png, SpendsNoMemoryOnWhatItCannotHold) {
  const std::string end = chunk("IDAT", "x") + chunk("IEND", "");
  const std::string large("\0\x0f\x42\x40", 4);
  EXPECT_EQ(message_of(read_png, png_header(large) + end),
            "f: 1000000 x 1000000 pixels do not fit in the 58 bytes of the PNG image");
  const std::string small("\0\0\0\x02", 4);
  EXPECT_EQ(message_of(read_png, png_header(small) + end).find("f: the PNG image cannot be read: "),
            0U);
  EXPECT_EQ(message_of(read_png, png_signature + end).find("f: the PNG image cannot be read: "),
            0U);
}

TEST(GreyImages, AreToldByFirstBytesAndEnding) {
  const TemporaryFolder folder;
  EXPECT_EQ(GreyImage(folder.write("p.tga", png_of(1, 1, {7, 7, 7}))).width(), 1);
  EXPECT_EQ(GreyImage(folder.write("t.TGA", tga(3, 2, 1, 8, 0, "xy"))).width(), 2);
  const std::string other = folder.write("a.bmp", "BM and so on");
  try {
    const GreyImage image(other);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              other +
                  ": no PNG image, which first bytes tell, and no TGA image, which the ending "
                  ".tga tells; no others are read");
  }
}

}  // namespace
}  // namespace heddle::spin
