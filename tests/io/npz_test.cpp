// SciPy's sparse files: written and read back, and assembled byte by byte.
#include "heddle/npz.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "io/npz_rows.hpp"
#include "npz_by_hand.hpp"
#include "support/expect_error.hpp"
#include "temporary_folder.hpp"

using namespace heddle;

namespace {

template <class T>
std::vector<T> list(const Array<T>& array) {
  return {array.begin(), array.end()};
}

TEST(Npz, ReadsWhatOthersWrote) {
  const TemporaryFolder folder;
  for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string path = archive(folder, small_csr(), method);
    const BlockMatrix matrix = read_npz(path);
    EXPECT_EQ(matrix.rows, 2);
    EXPECT_EQ(matrix.columns, 3);
    EXPECT_FALSE(matrix.is_complex);
    EXPECT_EQ(list(matrix.offsets), (std::vector<Offset>{0, 1, 3}));
    EXPECT_EQ(list(matrix.column), (std::vector<Index>{1, 0, 2}));
    EXPECT_EQ(list(matrix.values), (std::vector<double>{2, 1, 4}));
    const ScalarMatrix scalars = read_scalar_matrix(path);
    EXPECT_EQ(scalars.entries(), 3);
    EXPECT_EQ(scalars.block_rows, 1);
    // Also without the extension, by the first bytes of the file.
    std::filesystem::copy_file(path, folder / "copy",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(read_scalar_matrix(folder / "copy").entries(), 3);
  }
}

TEST(Npz, ReadsBlocksInEitherOrder) {
  const TemporaryFolder folder;
  for (const bool fortran : {false, true}) {
    // Two 1 x 2 blocks of complex numbers in one row of blocks, columns unsorted.
    const std::vector<float> rowwise{1, 2, 3, 4, 5, 6, 7, 8}, columnwise{1, 2, 5, 6, 3, 4, 7, 8};
    const std::string path =
        archive(folder,
                {{"indices.npy", npy<std::int32_t>("<i4", "(2,)", {2, 0})},
                 {"indptr.npy", npy<std::int32_t>("<i4", "(2,)", {0, 2})},
                 {"format.npy", npy<std::int32_t>("<U3", "()", {'b', 's', 'r'})},
                 {"shape.npy", npy<std::int64_t>("<i8", "(2,)", {1, 6})},
                 {"data.npy", npy<float>("<c8", "(2, 1, 2)", fortran ? columnwise : rowwise,
                                         fortran ? "True" : "False")}},
                ZIP_CM_STORE);
    const BlockMatrix matrix = read_npz(path);
    EXPECT_EQ(matrix.rows, 1);
    EXPECT_EQ(matrix.columns, 3);
    EXPECT_EQ(matrix.block_rows, 1);
    EXPECT_EQ(matrix.block_columns, 2);
    EXPECT_TRUE(matrix.is_complex);
    EXPECT_EQ(list(matrix.column), (std::vector<Index>{0, 2}));
    EXPECT_EQ(list(matrix.values), (std::vector<double>{5, 6, 7, 8, 1, 2, 3, 4}));
  }
}

BlockMatrix random_blocks(unsigned seed, int block_rows, int block_columns, bool is_complex) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  BlockMatrix matrix;
  matrix.rows = static_cast<Index>(random() % 60);
  matrix.columns = static_cast<Index>(random() % 60) + 1;
  matrix.block_rows = block_rows;
  matrix.block_columns = block_columns;
  matrix.is_complex = is_complex;
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < matrix.rows; ++row) {
    for (Index c = 0; c < matrix.columns; ++c) {
      if (random() % 5 == 0) column.push_back(c);
    }
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  std::vector<double> values(column.size() * static_cast<std::size_t>(block_rows) *
                             static_cast<std::size_t>(block_columns) * (is_complex ? 2 : 1));
  for (double& v : values) v = value(random);
  matrix.offsets = Array<Offset>(offsets);
  matrix.column = Array<Index>(column);
  matrix.values = Array<double>(values);
  return matrix;
}

BlockMatrixView view(const BlockMatrix& m) {
  return {{m.rows, m.columns, OffsetsView(m.offsets.data()), m.column.data()},
          m.block_rows,
          m.block_columns,
          m.is_complex,
          m.values.data()};
}

TEST(Npz, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  unsigned seed = 0;
  for (const auto& [r, c] : {std::pair(1, 1), {3, 3}, {4, 1}, {2, 5}}) {
    for (const bool is_complex : {false, true}) {
      for (const auto compression : {NpzCompression::stored, NpzCompression::deflated}) {
        SCOPED_TRACE("seed " + std::to_string(++seed));
        const BlockMatrix matrix = random_blocks(seed, r, c, is_complex);
        const std::string path = folder / "a.npz";
        write_npz(path, view(matrix), compression);
        const BlockMatrix read = read_npz(path);
        EXPECT_EQ(read.rows, matrix.rows);
        EXPECT_EQ(read.columns, matrix.columns);
        EXPECT_EQ(read.block_rows, r);
        EXPECT_EQ(read.block_columns, c);
        EXPECT_EQ(read.is_complex, is_complex);
        EXPECT_EQ(list(read.offsets), list(matrix.offsets));
        EXPECT_EQ(list(read.column), list(matrix.column));
        EXPECT_EQ(list(read.values), list(matrix.values));
      }
    }
  }
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Npz, WritesTheSameBytesWhateverTheClock) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.npz";
  write_npz(path, view(random_blocks(1, 2, 2, false)), NpzCompression::deflated);
  const std::string bytes = contents(path);
  // The time of each member, in its local header and in the directory: midnight, 1 January 1980.
  for (const auto& [signature, at] : {std::pair("PK\3\4", 10u), {"PK\1\2", 12u}}) {
    int members = 0;
    for (auto header = bytes.find(signature); header != std::string::npos;
         header = bytes.find(signature, header + 1), ++members) {
      EXPECT_EQ(bytes.substr(header + at, 4), std::string("\0\0\x21\0", 4));
    }
    EXPECT_EQ(members, 5);
  }
}

TEST(Npz, TakesBlocksApart) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int r = static_cast<int>(seed), c = 5 - r;
    const BlockMatrix blocks = random_blocks(seed, r, c, true);
    const ScalarMatrix scalars = expand_blocks(blocks);
    EXPECT_EQ(scalars.block_rows, r);
    EXPECT_EQ(scalars.block_columns, c);
    ASSERT_TRUE(scalars.is_complex());
    EXPECT_EQ(scalars.rows(), blocks.rows * r);
    EXPECT_EQ(scalars.columns(), blocks.columns * c);
    const auto& m = std::get<1>(scalars.matrix);
    for (Index row = 0; row < m.rows(); ++row) {
      const auto block_row = static_cast<std::size_t>(row / r);
      const Offset begin = m.offsets()[static_cast<std::size_t>(row)];
      const Offset first = blocks.offsets[block_row];
      ASSERT_EQ(m.offsets()[static_cast<std::size_t>(row) + 1] - begin,
                (blocks.offsets[block_row + 1] - first) * c);
      for (Offset i = begin; i < m.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
        const auto block = static_cast<std::size_t>(first + (i - begin) / c);
        const Offset inside = (i - begin) % c;
        EXPECT_EQ(m.column()[static_cast<std::size_t>(i)], blocks.column[block] * c + inside);
        const auto place =
            (block * static_cast<std::size_t>(r) + static_cast<std::size_t>(row % r)) *
                static_cast<std::size_t>(c) +
            static_cast<std::size_t>(inside);
        EXPECT_EQ(m.entry(i).re(), blocks.values[2 * place]);
        EXPECT_EQ(m.entry(i).im(), blocks.values[2 * place + 1]);
      }
    }
  }
}

/// Reads the offsets, then the rows.
void read_as_a_rank(const std::string& path) {
  const NpzRows file(path);
  (void)file.entries_of_groups(rows_of_group);
  (void)file.read(0, file.rows(), EntryKind::real, Precision::double_precision, Device::cpu(1));
}

TEST(Npz, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto expect = [&](const std::string& member, const std::string& bytes,
                          const std::string& message, ErrorKind kind = ErrorKind::malformed_file) {
    SCOPED_TRACE(message);
    Members members = small_csr();
    std::erase_if(members, [&](const auto& m) { return m.first == member; });
    if (!bytes.empty()) members.emplace_back(member, bytes);
    const std::string path = archive(folder, members, ZIP_CM_DEFLATE);
    heddle::test::expect_error(kind, path + ": " + message, [&] { read_npz(path); });
    heddle::test::expect_error(kind, path + ": " + message, [&] { read_as_a_rank(path); });
  };
  expect("data.npy", "", "no member 'data.npy': not a sparse matrix that SciPy saved");
  expect("data.npy", "hello, world", "member 'data.npy' is not a NumPy array");
  expect("data.npy", npy<float>("<f4", "(4,)", {1, 2, 3}),
         "member 'data.npy' has 12 bytes, which is not what its header promises");
  expect("data.npy", npy<float>("<f4", "(3,)", {1, 2, 3}),
         "offsets for 4 entries, with 4 columns and 3 values");
  expect("data.npy", npy<float>("<f4", "(4611686018427387904, 4)", {}),
         "member 'data.npy' holds an array of impossible shape");
  expect("data.npy", npy<std::int16_t>("<f2", "(4,)", {1, 2, 3, 4}),
         "member 'data.npy' holds numbers of the unsupported type '<f2'; supported are bool, "
         "integers, float32, "
         "float64, complex64 and complex128");
  expect("data.npy", npy<float>("<f4", "(4,)", {1, 2, NAN, 4}),
         "member 'data.npy' holds a non-finite value at place 2", ErrorKind::not_finite);
  expect("data.npy", npy<float>("<f4", "(2, 2)", {1, 2, 3, 4}),
         "a CSR matrix whose 'data.npy' is not one-dimensional");
  expect("indices.npy", npy<std::int32_t>("<i4", "(4,)", {1, 2, 3, 2}),
         "member 'indices.npy' holds 3 at place 2, outside 0 to 2");
  expect("indices.npy", npy<std::int32_t>("<i4", "(4,)", {1, 2, -1, 2}),
         "member 'indices.npy' holds -1 at place 2, outside 0 to 2");
  expect("indices.npy", npy<float>("<f4", "(4,)", {1, 2, 1, 2}),
         "member 'indices.npy' holds no integers");
  expect("indptr.npy", npy<std::int32_t>("<i4", "(3,)", {0, 5, 4}),
         "member 'indptr.npy' does not grow from 0 at place 2");
  expect("indptr.npy", npy<std::int32_t>("<i4", "(4,)", {0, 1, 2, 4}),
         "member 'indptr.npy' has 4 offsets for 2 rows");
  expect("shape.npy", npy<std::int64_t>("<i8", "(2,)", {2, 5000000000}),
         "member 'shape.npy' holds 5000000000 at place 1, outside 0 to 2147483647");
  // Items of zero bytes: a file can claim any number of them.
  for (const std::string member : {"data.npy", "indices.npy", "indptr.npy", "shape.npy"}) {
    for (const std::string type : {"|S0", "<U0"}) {
      expect(member, npy<char>(type, "(2000000000000,)", {}),
             "member '" + member + "' holds items of zero bytes, of type '" + type + "'");
    }
  }
  expect("indices.npy", npy<char>("|S1", "(4,)", {'1', '2', '0', '2'}),
         "member 'indices.npy' holds no integers");
  expect("data.npy", npy<char>("|S1", "(4,)", {'1', '2', '0', '2'}),
         "member 'data.npy' holds no numbers");
  expect("format.npy", npy<char>("|S3", "()", {'l', 'i', 'l'}),
         "a matrix in format 'lil'; save matrix.tocsr()");
}

TEST(Npz, RefusesWhatIsNoArchive) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.npz", "PK\x03\x04 and no more");
  try {
    read_scalar_matrix(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed_file);
    EXPECT_EQ(std::string(error.what()).rfind(path + ": ", 0), 0u) << error.what();
  }
  EXPECT_THROW(read_scalar_matrix(folder / "none.npz"), Error);
}

TEST(Npz, TruncatedFilesAreErrors) {
  const TemporaryFolder folder;
  const std::string path = archive(folder, small_csr(), ZIP_CM_DEFLATE);
  const std::string whole = contents(path);
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    const std::string cut = folder.write("cut.npz", whole.substr(0, size));
    EXPECT_THROW(read_npz(cut), Error) << size;
    EXPECT_THROW(read_as_a_rank(cut), Error) << size;
  }
}

TEST(Npz, DamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  const std::string whole = contents(archive(folder, small_csr(), ZIP_CM_STORE));
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string path = folder.write("damaged.npz", damaged);
    for (const auto& read : {+[](const std::string& p) { (void)read_npz(p); }, &read_as_a_rank}) {
      try {
        read(path);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
