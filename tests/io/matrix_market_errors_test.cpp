// Every malformed file gives a one-line message that says what is wrong and where.
#include <gtest/gtest.h>
#include <zlib.h>

#include "heddle/matrix_market.hpp"
#include "io/matrix_market_read.hpp"
#include "temporary_folder.hpp"

using namespace heddle;

namespace {

constexpr auto malformed = ErrorKind::malformed_file;

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";
const std::string banner_form =
    "'%%MatrixMarket matrix coordinate|array real|complex|integer|unsigned-integer|pattern "
    "general|symmetric|skew-symmetric|hermitian'";

struct Case {
  std::string text;
  std::string message;
  ErrorKind kind = malformed;
};

/// The message is the same however the text is cut and whichever function reads it.
template <class Read>
void expect_messages(const std::vector<Case>& cases, const Read& read) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    for (const std::size_t block_bytes : {std::size_t(1), std::size_t(20), std::size_t(1) << 19}) {
      for (const int threads : {1, 3}) {
        try {
          read(c.text, Device::cpu(threads), io::ReadLimits{block_bytes, 1000});
          ADD_FAILURE() << "was read";
        } catch (const Error& error) {
          EXPECT_EQ(error.what(), c.message);
          EXPECT_EQ(error.kind(), c.kind);
        }
      }
    }
  }
}

void read_matrix_text(const std::string& text, const Device& device, const io::ReadLimits& limits) {
  io::read_matrix_market("m.mtx", io::open_bytes(std::string_view(text)), device, nullptr, limits);
}
void read_field_text(const std::string& text, const Device& device, const io::ReadLimits& limits) {
  io::read_matrix_market_field("f.mtx", io::open_bytes(std::string_view(text)), device, nullptr,
                               limits);
}

TEST(MatrixMarketErrors, Header) {
  const std::string known_banner = "; the first line must be " + banner_form;
  expect_messages(
      {{"", "m.mtx:1: the file is empty; its first line must be " + banner_form},
       {"1 1 1\n", "m.mtx:1: no Matrix Market banner" + known_banner},
       {"\n", "m.mtx:1: no Matrix Market banner" + known_banner},
       {"%%MatrixMarket matrix coordinate real\n",
        "m.mtx:1: no Matrix Market banner" + known_banner},
       {"%%MatrixMarket vector coordinate real general\n",
        "m.mtx:1: unknown object 'vector', known are: matrix"},
       {"%%MatrixMarket matrix sparse real general\n",
        "m.mtx:1: unknown format 'sparse', known are: coordinate, array"},
       {"%%MatrixMarket matrix coordinate quaternion general\n",
        "m.mtx:1: unknown field 'quaternion', known are: real, integer, complex, pattern, "
        "unsigned-integer"},
       {"%%MatrixMarket matrix coordinate real funny\x01\n",
        "m.mtx:1: unknown symmetry 'funny?', known are: general, symmetric, skew-symmetric, "
        "hermitian"},
       {"%%MatrixMarket matrix array pattern general\n", "m.mtx:1: an array has no pattern"},
       {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
        "m.mtx:1: a pattern has no signs and cannot be skew-symmetric"},
       {"%%MatrixMarket matrix array real symmetric\n2 3\n",
        "m.mtx:2: a symmetric matrix must be square, not 2 by 3"},
       {"%%MatrixMarket matrix array real general\n2147483648 0\n",
        "m.mtx:1: 2147483648 rows are too many; at most 2147483647 are possible"},
       {real_general + "%heddle tiles 4 x\n",
        "m.mtx:2: '%heddle tiles 4 x' is not '%heddle tiles "
        "R x C' of 1 to 1024 numbers each"},
       {real_general + "%heddle tiles 4 x 4\n8 6 0\n",
        "m.mtx:3: a size of 8 by 6 that tiles of 4 by 4 do not divide"},
       {real_general, "m.mtx:1: the file ends before its size line"},
       {real_general + "% 1\n\n% 2", "m.mtx:4: the file ends before its size line"},
       {real_general + "%\n3 3\n",
        "m.mtx:3: a size line of 2 fields where 3 are needed (rows columns entries)"},
       {real_general + "3 3 1 1\n",
        "m.mtx:2: a size line of 4 fields where 3 are needed (rows columns entries)"},
       {real_general + "3 x 1\n", "m.mtx:2: 'x' is not a number of columns"},
       {real_general + "-3 3 1\n", "m.mtx:2: '-3' is not a number of rows"},
       {real_general + "2147483648 3 1\n",
        "m.mtx:2: '2147483648' rows are too many; at most 2147483647 are possible"},
       {real_general + "3 99999999999999999999999 1\n",
        "m.mtx:2: '99999999999999999999999' columns are too many; at most 2147483647 are possible"},
       {real_general + "3 3 99999999999\n",
        "m.mtx:2: '99999999999' entries are too many; at most 9999999999 are possible"},
       {real_general + "%\n1017 1 1\n1 1 1\n",
        "m.mtx:3: 1017 rows for 1 entries; nearly all would be empty"},
       {"%%MatrixMarket matrix coordinate complex Hermitian\n3 4 0\n",
        "m.mtx:2: a hermitian matrix must be square, not 3 by 4"}},
      read_matrix_text);
}

TEST(MatrixMarketErrors, Entries) {
  const auto matrix = [](const std::string& lines) { return real_general + "3 4 2\n" + lines; };
  const std::string where = "m.mtx:4: ";
  const std::string form = " needed (row column value)";
  const auto second = [&](const std::string& line, const std::string& message,
                          ErrorKind kind = malformed) {
    return Case{matrix("1 1 1\n" + line + "\n3 3 x\n"), where + message, kind};
  };
  expect_messages(
      {second("2 2", "2 fields where 3 are" + form),
       second("2", "1 field where 3 are" + form),
       second("2 2 1 1", "4 fields where 3 are" + form),
       second("2 2 1 % no remark", "6 fields where 3 are" + form),
       second("2 x 1", "'x' is not a column number"),
       second("2.0 2 1", "'2.0' is not a row number"),
       second("- 2 1", "'-' is not a row number"),
       second("0 2 1", "row '0' is outside 1 to 3"),
       second("-1 2 1", "row '-1' is outside 1 to 3"),
       second("4 2 1", "row '4' is outside 1 to 3"),
       second("3 5 1", "column '5' is outside 1 to 4"),
       second("3 99999999999999999999 1", "column '99999999999999999999' is outside 1 to 4"),
       second("2 2 1.5.0", "'1.5.0' is not a number"),
       second("2 2 1e", "'1e' is not a number"),
       second("2 2 0x1p3", "'0x1p3' is not a number"),
       second("2 2 +-1", "'+-1' is not a number"),
       second("2 2 e5", "'e5' is not a number"),
       second("2 2 1,5", "'1,5' is not a number"),
       second("2 2 " + std::string(50, 'z'), "'" + std::string(40, 'z') + "...' is not a number"),
       second(std::string("2 2 1\0", 6), "'1?' is not a number"),
       second("2 2 NaN", "non-finite value 'NaN'", ErrorKind::not_finite),
       second("2 2 -nan(0x1)", "non-finite value '-nan(0x1)'", ErrorKind::not_finite),
       second("2 2 +INF", "non-finite value '+INF'", ErrorKind::not_finite),
       second("2 2 -infinity", "non-finite value '-infinity'", ErrorKind::not_finite),
       second("2 2 1e999", "non-finite value '1e999'", ErrorKind::not_finite),
       second("2 2 -1D+309", "non-finite value '-1D+309'", ErrorKind::not_finite),
       {matrix("1 1 1\n"), "m.mtx:3: the file ends after 1 of 2 entries"},
       {matrix("1 1 1\n\n%\n"), "m.mtx:5: the file ends after 1 of 2 entries"},
       {matrix(""), "m.mtx:2: the file ends after 0 of 2 entries"},
       {matrix("1 1 1\n\n%\n1 2 1\n%\n\n1 3 1\n1 4 1\n"),
        "m.mtx:9: one entry more than the 2 that line 2 promises"},
       {matrix("1 1 1\n1 2 1\n1 3 1\nthe end\n"),
        "m.mtx:5: one entry more than the 2 that line 2 promises"},
       {matrix("1 1 1\n1 2 1\nthe end\n"), "m.mtx:5: 2 fields where 3 are" + form},
       {matrix("1 1 1e308\n1 1 1e308\n"),
        "m.mtx: the sum of duplicate entries in row 1 is not finite", ErrorKind::not_finite},
       {"%%MatrixMarket matrix coordinate real general\n1 1 9999999999\n1 1 1\n",
        "m.mtx:3: the file ends after 1 of 9999999999 entries"},
       {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
        "m.mtx:3: '1.5' is not an integer, contrary to the banner"},
       {"%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 -1\n",
        "m.mtx:3: '-1' has a sign, contrary to the banner"},
       {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.5\n",
        "m.mtx:3: 3 fields where 4 are needed (row column real-part imaginary-part)"},
       {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n",
        "m.mtx:3: 3 fields where 2 are needed (row column)"}},
      read_matrix_text);
}

TEST(MatrixMarketErrors, Symmetry) {
  expect_messages(
      {{"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 5\n2 2 1\n",
        "m.mtx:4: a diagonal entry that is not zero in a skew-symmetric file"},
       {"%%MatrixMarket matrix coordinate complex skew-symmetric\n1 1 1\n1 1 0 1\n",
        "m.mtx:3: a diagonal entry that is not zero in a skew-symmetric file"},
       {"%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 1\n3 1\n",
        "m.mtx: the diagonal entry in row 2 has an imaginary part in a hermitian file"},
       {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
        "m.mtx:6: one entry more than the 3 that line 2 promises"},
       {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n",
        "m.mtx:4: the file ends after 2 of 3 entries"},
       {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 5 1\n2 2 1 1e-9\n",
        "m.mtx:4: a diagonal entry with an imaginary part in a hermitian file"},
       {"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 1\n%\n\n3 1 1\n2 3 1\n",
        "m.mtx:8: an entry above the diagonal, though line 4 has one below: a symmetric file "
        "stores one triangle"},
       {"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 2\n3 1\n",
        "m.mtx:4: an entry below the diagonal, though line 3 has one above: a symmetric file "
        "stores one triangle"}},
      read_matrix_text);
}

TEST(MatrixMarketErrors, Fields) {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  expect_messages(
      {{array + "2 2\n1\n2\n3\n", "f.mtx:5: the file ends after 3 of 4 entries"},
       {array + "2 1\n1\n2\n3\n", "f.mtx:5: one entry more than the 2 that line 2 promises"},
       {array + "2 1\n1 2\n", "f.mtx:3: 2 fields where 1 is needed (value)"},
       {array + "2 1\n1\nnan\n", "f.mtx:4: non-finite value 'nan'", ErrorKind::not_finite},
       {array + "2 1 2\n1\n2\n",
        "f.mtx:2: a size line of 3 fields where 2 are needed (rows columns)"},
       {array + "9999999999 2147483647\n1\n",
        "f.mtx:2: an array of 9999999999 rows and 2147483647 columns is too large"},
       {array + "999999999 2147483647\n1\n",
        "f.mtx:3: the file ends after 1 of 2147483644852516353 entries"},
       {"%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 1\n",
        "f.mtx:2: 4611686014132420609 numbers for 1 entries; nearly all would be empty"},
       {"%%MatrixMarket matrix array complex general\n1 1\n1\n",
        "f.mtx:3: 1 field where 2 are needed (real-part imaginary-part)"}},
      read_field_text);
}

std::string gzip(const std::string& text) {
  std::string bytes(text.size() + 200, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

TEST(MatrixMarketErrors, CompressedFiles) {
  const std::string text = real_general + "3 3 3\n1 1 1\n2 2 2\n3 3 3\n";
  const std::string compressed = gzip(text);
  ASSERT_NO_THROW(read_matrix_text(compressed, Device::cpu(2), {}));
  ASSERT_NO_THROW(
      read_matrix_text(gzip(text.substr(0, 60)) + gzip(text.substr(60)), Device::cpu(2), {}));
  for (std::size_t size = 2; size < compressed.size(); ++size) {
    try {
      read_matrix_text(compressed.substr(0, size), Device::cpu(2), {});
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), malformed);
      EXPECT_NE(std::string(error.what()).find(": the compressed file is truncated"),
                std::string::npos)
          << error.what();
    }
  }
  std::string damaged = compressed;
  damaged[damaged.size() - 6] ^= 1;  // the checksum
  EXPECT_THROW(read_matrix_text(damaged, Device::cpu(2), {}), Error);
  EXPECT_THROW(read_matrix_text(compressed + "rubbish", Device::cpu(2), {}), Error);
}

TEST(MatrixMarketErrors, TruncatedCompressionNamesTheLine) {
  std::string text = real_general + "1 100000 100000\n";
  for (int i = 1; i <= 100000; ++i) text += "1 " + std::to_string(i) + " 1\n";
  const std::string compressed = gzip(text);
  try {
    read_matrix_text(compressed.substr(0, compressed.size() / 2), Device::cpu(2), {});
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("m.mtx:", 0), 0u) << message;
    EXPECT_NE(message.find(": the compressed file is truncated"), std::string::npos) << message;
  }
}

TEST(MatrixMarketErrors, FilesThatCannotBeRead) {
  const TemporaryFolder folder;
  const auto expect = [](const std::string& path, const std::string& message) {
    try {
      read_scalar_matrix(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.what(), message);
    }
  };
  expect(folder / "none.mtx", (folder / "none.mtx") + ": No such file or directory");
  expect(folder / ".", (folder / ".") + ": is a directory");
}

}  // namespace
