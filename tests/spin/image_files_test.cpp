// Images in files: the pixels that are read, and faults refused before memory is allocated.
#include "image_files.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <random>

#include "grey_image.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "png_bytes.hpp"
#include "support/message_of.hpp"

namespace heddle::spin {
namespace {

using mesh::png_of;

using Grey = std::vector<unsigned char>;

struct Image {
  int width = 0, height = 0;
  Grey grey;  // rows from the top
};

using Read = Grey (*)(const mesh::NamedBytes&, const PixelsOf&);

Image image_of(Read read, const std::string& bytes) {
  Image image;
  image.grey = read({"f", bytes}, [&](int width, int height) {
    image.width = width;
    image.height = height;
    std::vector<Pixel> all;
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) all.push_back({column, row});
    }
    return all;
  });
  return image;
}

std::string message_of(Read read, const std::string& bytes) {
  return test::message_of([&] { image_of(read, bytes); });
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

Image from_tga(const std::string& bytes) { return image_of(read_tga, bytes); }

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

/// Header for one byte per pixel and the given sides, without the compressed rows.
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
  EXPECT_EQ(refusal(""), "f: not a TGA image: it is shorter than a header");
  EXPECT_EQ(refusal(tga(3, 65535, 65535, 8, 0, "")),
            "f: 65535 x 65535 pixels do not fit in the 0 bytes after the TGA header");
  EXPECT_EQ(refusal(tga(10, 65535, 65535, 32, 0, "12345")),
            "f: 65535 x 65535 pixels do not fit in the 5 bytes after the TGA header");
  EXPECT_EQ(refusal(tga(2, 2, 1, 24, 0, "12345")),
            "f: 2 x 1 pixels do not fit in the 5 bytes after the TGA header");
  EXPECT_EQ(refusal(tga(11, 3, 1, 8, 0, "\x02xy")), "f: the TGA image ends too early");
  EXPECT_EQ(refusal(tga(3, 0, 1, 8, 0, "x")), "f: TGA image without pixels");
  EXPECT_EQ(refusal(tga(1, 1, 1, 8, 0, "x")),
            "f: TGA image of type 1; 2, 3, 10 and 11 are read: colours or grey without a colour "
            "map, plain or run-length encoded");
  EXPECT_EQ(refusal(tga(2, 1, 1, 16, 0, "xx")),
            "f: TGA image of 16 bits per pixel; 8 for grey, 24 and 32 for colour are read");
}

TEST(Png, IsReadAsItIsWritten) {
  const std::string bytes = png_of(2, 2, {9, 9, 9, 255, 0, 0, 0, 0, 255, 255, 255, 255});
  const Image image = image_of(read_png, bytes);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.grey, (Grey{9, luma(255, 0, 0), luma(0, 0, 255), 255}));
}

std::string zlib_of(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  return packed.substr(0, size);
}

/// Grey of `depth` bits per pixel, `value` of the pixel's number, in one pass or in Adam7's seven.
template <class Value>
std::string grey_png(int width, int height, int depth, bool is_interlaced, const Value& value) {
  struct Pass {
    int column, row, columns, rows;
  };
  std::vector<Pass> passes = {{0, 0, 1, 1}};
  if (is_interlaced) {
    passes = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
              {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  }
  std::string rows;
  for (const Pass& pass : passes) {
    for (int row = pass.row; row < height && pass.column < width; row += pass.rows) {
      rows += '\0';  // no filter
      for (int column = pass.column; column < width; column += pass.columns) {
        rows.append(static_cast<std::size_t>(depth / 8), value(row * width + column));
      }
    }
  }
  const std::string sides = {0, 0, 0, static_cast<char>(width), 0, 0, 0, static_cast<char>(height)};
  const std::string kind = {static_cast<char>(depth), 0, 0, 0, is_interlaced ? '\1' : '\0'};
  return png_signature + chunk("IHDR", sides + kind) + chunk("IDAT", zlib_of(rows)) +
         chunk("IEND", "");
}

TEST(Png, IsReadInOnePassOrSeven) {
  const auto value = [](int i) { return static_cast<char>(i); };
  for (const int width : {1, 3, 9, 12}) {
    for (const int height : {1, 2, 7, 10}) {
      const Image plain = image_of(read_png, grey_png(width, height, 8, false, value));
      ASSERT_EQ(plain.grey.size(), std::size_t(width * height));
      for (std::size_t i = 0; i < plain.grey.size(); ++i) EXPECT_EQ(plain.grey[i], i);
      const Image passes = image_of(read_png, grey_png(width, height, 8, true, value));
      EXPECT_EQ(passes.grey, plain.grey);
      const Image wide = image_of(read_png, grey_png(width, height, 16, false, value));
      EXPECT_EQ(image_of(read_png, grey_png(width, height, 16, true, value)).grey, wide.grey);
    }
  }
}

struct PngKind {
  int depth, colour, channels;
};

/// Random rows, with a palette and transparency for kinds that have them.
std::string random_png(const PngKind& kind, int width, int height, const std::string& more) {
  std::mt19937 random(static_cast<unsigned>(kind.depth * 8 + kind.colour));
  std::string rows;
  for (int row = 0; row < height; ++row) {
    rows += '\0';
    for (int i = 0; i < (width * kind.channels * kind.depth + 7) / 8; ++i) {
      rows += static_cast<char>(random());
    }
  }
  const std::string sides{0,
                          0,
                          0,
                          static_cast<char>(width),
                          0,
                          0,
                          0,
                          static_cast<char>(height),
                          static_cast<char>(kind.depth),
                          static_cast<char>(kind.colour),
                          0,
                          0,
                          0};
  std::string palette;
  for (int i = 0; i < 3 << kind.depth && kind.colour == 3; ++i) palette += static_cast<char>(i * 7);
  return png_signature + chunk("IHDR", sides) + more +
         (palette.empty() ? "" : chunk("PLTE", palette) + chunk("tRNS", "ab")) +
         chunk("IDAT", zlib_of(rows)) + chunk("IEND", "");
}

Grey by_simplified_interface(const std::string& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
  image.format = PNG_FORMAT_RGBA;
  Grey colours(PNG_IMAGE_SIZE(image)), grey;
  EXPECT_NE(png_image_finish_read(&image, nullptr, colours.data(), 0, nullptr), 0);
  for (std::size_t i = 0; i < colours.size(); i += 4) {
    grey.push_back(luma(colours[i], colours[i + 1], colours[i + 2]));
  }
  return grey;
}

TEST(Png, HasTheColoursOfLibpngOfEveryKind) {
  const PngKind kinds[] = {{1, 0, 1}, {2, 0, 1},  {4, 0, 1}, {8, 0, 1}, {16, 0, 1},
                           {8, 2, 3}, {16, 2, 3}, {1, 3, 1}, {4, 3, 1}, {8, 3, 1},
                           {8, 4, 2}, {16, 4, 2}, {8, 6, 4}, {16, 6, 4}};
  const std::string gammas[] = {"", chunk("gAMA", std::string("\0\0\xb1\x8f", 4)),
                                chunk("gAMA", std::string("\0\x01\x86\xa0", 4)),
                                chunk("sRGB", std::string(1, '\0'))};
  for (const PngKind& kind : kinds) {
    for (const std::string& gamma : gammas) {
      const std::string bytes = random_png(kind, 13, 7, gamma);
      EXPECT_EQ(image_of(read_png, bytes).grey, by_simplified_interface(bytes))
          << kind.depth << " bits, colour " << kind.colour << ", " << gamma.size();
    }
    std::string interlaced = random_png(kind, 1, 1, "");
    interlaced.replace(8, 25, chunk("IHDR", interlaced.substr(16, 12) + std::string(1, '\1')));
    EXPECT_EQ(image_of(read_png, interlaced).grey, by_simplified_interface(interlaced));
  }
}

/// The order is arbitrary, and some pixels are requested more than once.
TEST(Images, GiveThePixelsThatAreAskedFor) {
  const std::vector<Pixel> asked = {{2, 1}, {0, 0}, {2, 1}, {1, 2}};
  const auto pixels = [&](int, int) { return asked; };
  const auto value = [](int i) { return static_cast<char>(i); };
  const Grey wanted = {5, 0, 5, 7};
  for (const bool is_interlaced : {false, true}) {
    EXPECT_EQ(read_png({"f", grey_png(3, 3, 8, is_interlaced, value)}, pixels), wanted);
  }
  std::string plain;
  for (char i = 0; i < 9; ++i) plain += i;
  EXPECT_EQ(read_tga({"f", tga(3, 3, 3, 8, 0x20, plain)}, pixels), wanted);
  const std::string runs("\x02\0\x01\x02\x81\x05\x83\x07", 8);
  EXPECT_EQ(read_tga({"f", tga(11, 3, 3, 8, 0x20, runs)}, pixels), (Grey{7, 0, 7, 7}));
}

TEST(Png, IsRefusedWhereverItIsCut) {
  const std::string bytes = png_of(2, 1, {1, 2, 3, 4, 5, 6});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    EXPECT_EQ(message_of(read_png, cut), size < 8 ? "f: not a PNG image: it does not begin like one"
                                                  : "f: the PNG image ends too early");
  }
}

/// Every bit of every byte is covered by the signature, by a length or by a checksum.
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

TEST(GreyImages, AreKnownByFirstBytesAndEnding) {
  const TemporaryFolder folder;
  const mesh::TextureCoordinate corner[] = {{0, 0}};
  EXPECT_EQ(grey_at(folder.write("p.tga", png_of(1, 1, {51, 51, 51})), corner)[0], 0.2);
  EXPECT_EQ(grey_at(folder.write("t.TGA", tga(3, 2, 1, 8, 0, "\x33y")), corner)[0], 0.2);
  const std::string other = folder.write("a.bmp", "BM and so on");
  try {
    grey_at(other, corner);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              other +
                  ": neither a PNG image, recognized by its first bytes, nor a TGA image, "
                  "recognized by the ending .tga; no others are read");
  }
}

}  // namespace
}  // namespace heddle::spin
