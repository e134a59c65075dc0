// Matrix Market files compared with dense matrices: every field, symmetry and way to cut the text.
#include "heddle/matrix_market.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include "io/matrix_market_read.hpp"
#include "support/test_data.hpp"
#include "temporary_folder.hpp"

using namespace heddle;

namespace {

using Number = std::complex<double>;
using Dense = std::map<std::pair<Index, Index>, Number>;

/// The dense matrix; also checks that columns are sorted.
Dense dense(const ScalarMatrix& matrix) {
  Dense all;
  std::visit(
      [&](const auto& m) {
        constexpr int components = std::decay_t<decltype(m.entry(0))>::components;
        for (Index row = 0; row < m.rows(); ++row) {
          Index last = -1;
          for (Offset i = m.offsets()[static_cast<std::size_t>(row)];
               i < m.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
            const Index column = m.column()[static_cast<std::size_t>(i)];
            EXPECT_LT(last, column) << "row " << row;
            last = column;
            const auto entry = m.entry(i);
            all[{row, column}] = {entry.component[0],
                                  entry.component[components - 1] * (components == 2 ? 1.0 : 0.0)};
          }
        }
      },
      matrix.matrix);
  return all;
}

ScalarMatrix parse(const std::string& text, int threads = 2, std::size_t block_bytes = 64) {
  return io::read_matrix_market("m.mtx", io::open_bytes(std::string_view(text)),
                                Device::cpu(threads), nullptr, {.block_bytes = block_bytes});
}

std::string exact(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

TEST(MatrixMarket, ReadsTheFormsThatFilesHave) {
  const Dense expected{{{0, 0}, 1.5}, {{1, 2}, -200.0}, {{2, 0}, 3.0}};
  for (const std::string text :
       {"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 3 -2e2\n3 1 3\n",
        "%%matrixmarket MATRIX Coordinate REAL General\r\n% c\r\n\r\n3 3 3\r\n3 1 +3.\r\n\r\n"
        "1 1 .15D1\r\n2 3 -2d+02\r\n",
        "%%MatrixMarket matrix coordinate real general\n%\n  3\t3 3  \n\n  1   1\t1.50 \n% c\n"
        "3 1 0000000000000000000000000000003\n2 3 -0.2E0003",
        "%%MatrixMarket matrix coordinate real general\n3 3 5\n2 3 -100\n1 1 0.5\n2 3 -100\n"
        "1 1 1\n3 1 3\n"}) {
    SCOPED_TRACE(text);
    const ScalarMatrix matrix = parse(text);
    EXPECT_FALSE(matrix.is_complex());
    EXPECT_EQ(matrix.rows(), 3);
    EXPECT_EQ(dense(matrix), expected);
  }
}

TEST(MatrixMarket, ReadsEveryField) {
  EXPECT_EQ(
      dense(parse("%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 2 -7\n1 1 0\n")),
      (Dense{{{0, 1}, -7.0}, {{0, 0}, 0.0}}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate pattern general\n2 1 2\n1 1\n2 1\n")),
            (Dense{{{0, 0}, 1.0}, {{1, 0}, 1.0}}));
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 -3\n")),
            (Dense{{{0, 0}, Number(2, -3)}}));
}

TEST(MatrixMarket, ReadsEmptyMatrices) {
  EXPECT_EQ(parse("%%MatrixMarket matrix coordinate real general\n0 0 0\n").rows(), 0);
  const ScalarMatrix matrix = parse("%%MatrixMarket matrix coordinate complex general\n5 4 0");
  EXPECT_EQ(matrix.rows(), 5);
  EXPECT_EQ(matrix.columns(), 4);
  EXPECT_EQ(matrix.entries(), 0);
}

TEST(MatrixMarket, RoundsValuesCorrectly) {
  std::mt19937_64 random(7);
  std::string text = "%%MatrixMarket matrix coordinate real general\n1 4000 4000\n";
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) {
    std::string number;
    if (i % 4 == 0) {
      number = exact(std::bit_cast<double>(random() % 0x7FE0000000000000));
    } else if (i % 4 == 1) {  // more digits than a double holds
      number = std::to_string(random()) + std::to_string(random()) + "e" +
               std::to_string(static_cast<int>(random() % 300) - 200);
    } else if (i % 4 == 2) {  // halfway between two doubles, and just above
      number = std::to_string((random() >> 11 | std::uint64_t(1) << 53) | 1);
      if (random() % 2 == 0) number += ".00000000000000000000000000000000001";
    } else {
      number = "-0." + std::to_string(random() % 100000);
    }
    values.push_back(std::strtod(number.c_str(), nullptr));
    text += "1 " + std::to_string(i + 1) + " " + number + "\n";
  }
  const Dense read = dense(parse(text, 2, 1000));
  ASSERT_EQ(read.size(), values.size());
  for (int i = 0; i < 4000; ++i) {
    EXPECT_EQ((read.at({0, i}).real()), values[static_cast<std::size_t>(i)]) << i;
  }
  EXPECT_EQ(dense(parse("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -1e-999\n")),
            (Dense{{{0, 0}, 0.0}}));
}

TEST(MatrixMarket, ExpandsEverySymmetryAtEveryCut) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    const auto symmetry = static_cast<Symmetry>(seed % 4);
    const bool is_complex = symmetry == Symmetry::hermitian || seed % 8 >= 4;
    const bool upper = random() % 2 == 0;
    const Index n = seed % 3 == 0 ? 1 : static_cast<Index>(random() % 2000) + 2;
    const char* const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    Dense expected;
    std::string body;
    long long lines = 0;
    const auto count = static_cast<int>(random() % 1000);
    for (int k = 0; k < count; ++k) {
      auto row = static_cast<Index>(random() % static_cast<unsigned>(n));
      auto column = static_cast<Index>(random() % static_cast<unsigned>(n));
      Number v(value(random), is_complex ? value(random) : 0.0);
      if (symmetry != Symmetry::general) {
        if ((row < column) != upper) std::swap(row, column);
        if (row == column && symmetry == Symmetry::skew_symmetric) continue;
        if (row == column && symmetry == Symmetry::hermitian) v = v.real();
      }
      ++lines;
      body += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " + exact(v.real());
      if (is_complex) body += " " + exact(v.imag());
      body += "\n";
      if (k % 97 == 0) body += "% a remark\n\n";
      expected[{row, column}] += v;  // in the file's order, like the reader
      if (row == column) continue;
      if (symmetry == Symmetry::symmetric) expected[{column, row}] += v;
      if (symmetry == Symmetry::skew_symmetric) expected[{column, row}] -= v;
      if (symmetry == Symmetry::hermitian) expected[{column, row}] += std::conj(v);
    }
    const std::string text = std::string("%%MatrixMarket matrix coordinate ") +
                             (is_complex ? "complex " : "real ") +
                             names[static_cast<int>(symmetry)] + "\n" + std::to_string(n) + " " +
                             std::to_string(n) + " " + std::to_string(lines) + "\n" + body;
    for (const std::size_t block_bytes :
         {std::size_t(1), std::size_t(2000), std::size_t(1) << 20}) {
      for (const int threads : {1, 2}) {
        const ScalarMatrix matrix = parse(text, threads, block_bytes);
        EXPECT_EQ(matrix.is_complex(), is_complex);
        EXPECT_EQ(dense(matrix), expected);
      }
    }
  }
}

template <class E>
ScalarMatrix random_matrix(unsigned seed, Symmetry symmetry) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<Index>(random() % 200) + 1;
  const auto columns = symmetry == Symmetry::general ? static_cast<Index>(random() % 200) + 1 : n;
  Dense all;
  const auto number = [&] {
    for (;;) {
      const double v = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
      if (std::isfinite(v)) return v;
    }
  };
  for (int k = 0; k < 500; ++k) {
    const auto row = static_cast<Index>(random() % static_cast<unsigned>(n));
    const auto column = static_cast<Index>(random() % static_cast<unsigned>(columns));
    Number v(number(), E::components == 2 ? number() : 0.0);
    if (symmetry == Symmetry::skew_symmetric && row == column) continue;
    if (symmetry == Symmetry::hermitian && row == column) v = v.real();
    all[{row, column}] = v;
    if (symmetry == Symmetry::symmetric) all[{column, row}] = v;
    if (symmetry == Symmetry::skew_symmetric) all[{column, row}] = -v;
    if (symmetry == Symmetry::hermitian) all[{column, row}] = std::conj(v);
  }
  Array<Offset> offsets(static_cast<std::size_t>(n) + 1);
  Array<Index> column(all.size());
  Array<double> values(all.size() * E::components);
  std::size_t i = 0;
  for (const auto& [place, v] : all) {
    ++offsets[static_cast<std::size_t>(place.first) + 1];
    column[i] = place.second;
    values[i * E::components] = v.real();
    if (E::components == 2) values[i * E::components + 1] = v.imag();
    ++i;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
    offsets[row + 1] += offsets[row];
  }
  ScalarMatrix matrix;
  matrix.matrix =
      CsrMatrix<E>(n, columns, std::move(offsets), std::move(column), std::move(values));
  return matrix;
}

TEST(MatrixMarket, WritesWhatItReads) {
  const TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto symmetry = static_cast<Symmetry>(seed % 4);
    const bool is_complex = symmetry == Symmetry::hermitian || seed % 8 >= 4;
    const ScalarMatrix matrix = is_complex ? random_matrix<complex<double>>(seed, symmetry)
                                           : random_matrix<real<double>>(seed, symmetry);
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
      const std::string path = folder / name;
      write_scalar_matrix(path, matrix, symmetry);
      const ScalarMatrix read = read_scalar_matrix(path);
      EXPECT_EQ(read.rows(), matrix.rows());
      EXPECT_EQ(read.columns(), matrix.columns());
      EXPECT_EQ(read.is_complex(), is_complex);
      EXPECT_EQ(dense(read), dense(matrix));
    }
  }
  EXPECT_EQ(folder.files(), 2u);
}

TEST(MatrixMarket, WritesOneTriangle) {
  const TemporaryFolder folder;
  const ScalarMatrix matrix =
      parse("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 0.1 0\n1 2 1 -2\n");
  write_scalar_matrix(folder / "a.mtx", matrix, Symmetry::hermitian);
  EXPECT_EQ(contents(folder / "a.mtx"),
            "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 0.1 0\n2 1 1 2\n");
  try {
    write_scalar_matrix(folder / "b.mtx", matrix, Symmetry::symmetric);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "the matrix is not symmetric: row 0 differs from its column; write it as general");
  }
  EXPECT_EQ(folder.files(), 1u);
}

TEST(MatrixMarket, CompressedFilesAreOnePlainGzipMember) {
  const TemporaryFolder folder;
  const ScalarMatrix matrix = random_matrix<real<double>>(3, Symmetry::general);
  write_scalar_matrix(folder / "a.mtx", matrix);
  write_scalar_matrix(folder / "a.mtx.gz", matrix);
  const std::string plain = contents(folder / "a.mtx");
  std::string compressed = contents(folder / "a.mtx.gz");
  std::string inflated(plain.size() + 1, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 31), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
  stream.avail_out = static_cast<uInt>(inflated.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  inflated.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(inflated, plain);

  // Several members, and zeros after the last one, are read as one text too.
  folder.write("b.mtx.gz", compressed + std::string(100, '\0'));
  EXPECT_EQ(dense(read_scalar_matrix(folder / "b.mtx.gz")), dense(matrix));
}

TEST(MatrixMarket, ReadsRealFiles) {
  const std::string name = "complex/mhd1280b.mtx.gz";
  if (!test::has_test_data(name)) GTEST_SKIP() << test::no_test_data(name);
  const ScalarMatrix mhd = read_scalar_matrix(test::test_data(name));
  EXPECT_EQ(mhd.rows(), 1280);
  EXPECT_EQ(mhd.entries(), 22778);
  const Dense entries = dense(mhd);
  for (const auto& [place, value] : entries) {
    EXPECT_EQ((entries.at({place.second, place.first})), std::conj(value));
  }
  const ScalarMatrix young = read_scalar_matrix(test::test_data("complex/young1c.mtx.gz"));
  EXPECT_EQ(young.rows(), 841);
  EXPECT_EQ(young.entries(), 4089);
  EXPECT_TRUE(young.is_complex());
  const ScalarMatrix msc = read_scalar_matrix(test::test_data("fem/msc04515.mtx.gz"));
  EXPECT_EQ(msc.rows(), 4515);
  EXPECT_EQ(msc.entries(), 97707);
}

}  // namespace
