#include <zip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "assemble.hpp"
#include "heddle/npz.hpp"
#include "heddle/read.hpp"
#include "heddle/tools/team.hpp"
#include "npy.hpp"

namespace heddle {

namespace {

using io::NpyHeader;
using io::NpyType;

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

struct Archive {
  std::unique_ptr<zip_t, CloseArchive> zip;
  std::uintmax_t bytes = 0;
};

/// One array of the archive, read from front to back.
class Member {
 public:
  Member(const Archive& archive, const std::string& name) : name_(name) {
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat(archive.zip.get(), name.c_str(), 0, &status) != 0) {
      detail::malformed_file("no member '" + name + "': not a sparse matrix that SciPy saved");
    }
    constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if ((status.valid & needed) != needed) fail("has no size");
    // Nothing is allocated for more than deflate could make of the bytes that are there.
    constexpr zip_uint64_t best_deflate = 1032, slack = 1024;
    if (status.comp_size > archive.bytes || status.size > best_deflate * status.comp_size + slack) {
      fail("promises an impossible size");
    }
    file_.reset(zip_fopen(archive.zip.get(), name.c_str(), 0));
    if (!file_) fail(std::string("cannot be read: ") + zip_strerror(archive.zip.get()));
    read_header(status.size);
  }

  const NpyHeader& header() const { return header_; }
  std::size_t items() const { return items_; }

  /// The next `count` items, as they are stored.
  void read(void* to, std::size_t count) { read_bytes(to, count * header_.item_bytes); }

  /// A number of type From after the other.
  template <class From, class Take>
  void for_each(std::size_t count, const Take& take) {
    std::array<From, 4096> some;
    for (std::size_t done = 0; done < count;) {
      const std::size_t now = std::min(count - done, some.size());
      read_bytes(some.data(), now * sizeof(From));
      for (std::size_t k = 0; k < now; ++k) take(done + k, some[k]);
      done += now;
    }
  }

  bool holds_integers() const {
    return header_.type == NpyType::int32 || header_.type == NpyType::int64;
  }
  bool holds_numbers() const {
    return holds_integers() || (header_.type != NpyType::bytes && header_.type != NpyType::text);
  }

  [[noreturn]] void fail(const std::string& what) const {
    detail::malformed_file("member '" + name_ + "' " + what);
  }

 private:
  void read_header(zip_uint64_t size) {
    std::array<unsigned char, 12> start{};
    read_bytes(start.data(), 10);
    if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) fail("is no NumPy array");
    std::size_t length = start[8] + 256u * start[9];
    std::size_t prefix = 10;
    if (start[6] >= 2) {
      read_bytes(start.data() + 10, 2);
      length += std::size_t(65536) * (start[10] + 256u * start[11]);
      prefix = 12;
    }
    constexpr std::size_t longest = 65536;
    if (length > longest) fail("has an impossible header");
    std::string literal(length, '\0');
    read_bytes(literal.data(), length);
    try {
      header_ = io::parse_npy_header(literal);
      items_ = static_cast<std::size_t>(header_.items());
    } catch (const Error& error) {
      fail(std::string("holds ") + error.what());
    }
    const auto data =
        static_cast<std::int64_t>(size - std::min<zip_uint64_t>(size, prefix + length));
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(header_.items(), static_cast<std::int64_t>(header_.item_bytes),
                               &bytes) ||
        bytes != data) {
      fail("has " + std::to_string(data) + " bytes, which is not what its header promises");
    }
  }

  void read_bytes(void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const zip_int64_t count = zip_fread(file_.get(), at, bytes);
      if (count < 0) fail(std::string("cannot be read: ") + zip_file_strerror(file_.get()));
      if (count == 0) fail("is truncated");
      at += count;
      bytes -= static_cast<std::size_t>(count);
    }
  }

  std::string name_;
  std::unique_ptr<zip_file_t, CloseMember> file_;
  NpyHeader header_;
  std::size_t items_ = 0;
};

/// The text of a scalar array of strings, 'csr' or 'bsr'.
std::string read_format(const Archive& archive) {
  Member member(archive, "format.npy");
  const NpyType type = member.header().type;
  if (member.items() != 1 || (type != NpyType::bytes && type != NpyType::text)) {
    member.fail("is no name");
  }
  std::vector<char> raw(member.header().item_bytes);
  member.read(raw.data(), 1);
  std::string format;
  for (const char c : raw) {
    if (c > ' ' && c < 127) format += c;
  }
  return format;
}

/// Integers of either width, each in 0 to `most`.
template <class T>
Array<T> read_integers(Member& member, T most, const Device& device) {
  if (!member.holds_integers()) member.fail("holds no integers");
  Array<T> integers(member.items(), device);
  const auto take = [&](std::size_t i, std::int64_t value) {
    if (value < 0 || value > most) {
      member.fail("holds " + std::to_string(value) + " at place " + std::to_string(i) +
                  ", outside 0 to " + std::to_string(most));
    }
    integers[i] = static_cast<T>(value);
  };
  if (member.header().type == NpyType::int32) {
    member.for_each<std::int32_t>(member.items(), take);
  } else {
    member.for_each<std::int64_t>(member.items(), take);
  }
  return integers;
}

Array<double> read_numbers(Member& member, bool is_complex, const Device& device) {
  if (!member.holds_numbers()) member.fail("holds no numbers");
  const std::size_t count = member.items() * (is_complex ? 2 : 1);
  Array<double> numbers(count, device);
  const auto take = [&](std::size_t i, auto value) { numbers[i] = static_cast<double>(value); };
  switch (member.header().type) {
    case NpyType::float64:
    case NpyType::complex128:
      member.read(numbers.data(), member.items());
      break;
    case NpyType::float32:
    case NpyType::complex64:
      member.for_each<float>(count, take);
      break;
    case NpyType::int32:
      member.for_each<std::int32_t>(count, take);
      break;
    default:
      member.for_each<std::int64_t>(count, take);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) {
      throw Error(ErrorKind::not_finite, "member 'data.npy' holds a non-finite value at place " +
                                             std::to_string(i / (is_complex ? 2 : 1)));
    }
  }
  return numbers;
}

/// Blocks whose first index runs fastest, put in the order in which ours stand.
Array<double> to_row_order(const Array<double>& from, std::size_t blocks, std::size_t rows,
                           std::size_t columns, std::size_t scalars, const Device& device) {
  Array<double> to(from.size(), device);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k < scalars; ++k) {
          to[((b * rows + r) * columns + c) * scalars + k] =
              from[(b + blocks * (r + rows * c)) * scalars + k];
        }
      }
    }
  }
  return to;
}

/// Sizes of the matrix in blocks.
void set_sizes(const Archive& archive, const NpyHeader& data, const std::string& format,
               BlockMatrix& matrix) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  Member member(archive, "shape.npy");
  if (member.items() != 2) member.fail("does not hold two sizes");
  const Array<Offset> shape = read_integers<Offset>(member, most, Device::cpu(1));
  std::int64_t block_rows = 1, block_columns = 1;
  if (format == "bsr") {
    if (data.shape.size() != 3)
      detail::malformed_file("a BSR matrix whose 'data.npy' is not three-dimensional");
    block_rows = data.shape[1];
    block_columns = data.shape[2];
    constexpr std::int64_t largest_block = 1024;
    if (block_rows < 1 || block_columns < 1 || block_rows > largest_block ||
        block_columns > largest_block) {
      detail::malformed_file("blocks of " + std::to_string(block_rows) + " by " +
                             std::to_string(block_columns) + " numbers, where 1 to " +
                             std::to_string(largest_block) + " are possible");
    }
    if (shape[0] % block_rows != 0 || shape[1] % block_columns != 0) {
      detail::malformed_file("a size of " + std::to_string(shape[0]) + " by " +
                             std::to_string(shape[1]) + " that blocks of " +
                             std::to_string(block_rows) + " by " + std::to_string(block_columns) +
                             " do not divide");
    }
  } else if (data.shape.size() != 1) {
    detail::malformed_file("a CSR matrix whose 'data.npy' is not one-dimensional");
  }
  matrix.rows = static_cast<Index>(shape[0] / block_rows);
  matrix.columns = static_cast<Index>(shape[1] / block_columns);
  matrix.block_rows = static_cast<int>(block_rows);
  matrix.block_columns = static_cast<int>(block_columns);
}

void check_offsets(const BlockMatrix& matrix) {
  if (matrix.offsets.size() != static_cast<std::size_t>(matrix.rows) + 1) {
    detail::malformed_file("member 'indptr.npy' has " + std::to_string(matrix.offsets.size()) +
                           " offsets for " + std::to_string(matrix.rows) + " rows");
  }
  for (std::size_t row = 0; row < matrix.offsets.size(); ++row) {
    if (matrix.offsets[row] < (row == 0 ? 0 : matrix.offsets[row - 1]) ||
        (row == 0 && matrix.offsets[row] != 0)) {
      detail::malformed_file("member 'indptr.npy' does not grow from 0 at place " +
                             std::to_string(row));
    }
  }
}

BlockMatrix read_archive(const Archive& archive, const Device& device, Progress* progress) {
  const auto report = [&](double fraction) {
    if (progress != nullptr) progress->report(fraction, "reading");
  };
  report(0);
  const std::string format = read_format(archive);
  if (format != "csr" && format != "bsr") {
    detail::malformed_file("a matrix in format '" + format +
                           "'; save matrix.tocsr() or matrix.tobsr()");
  }
  BlockMatrix matrix;
  Member data(archive, "data.npy");
  set_sizes(archive, data.header(), format, matrix);
  Member offsets(archive, "indptr.npy");
  matrix.offsets = read_integers<Offset>(offsets, std::numeric_limits<Offset>::max(), device);
  check_offsets(matrix);
  report(0.1);
  Member column(archive, "indices.npy");
  matrix.column = read_integers<Index>(column, std::max(matrix.columns - 1, 0), device);
  report(0.3);
  const NpyType type = data.header().type;
  matrix.is_complex = type == NpyType::complex64 || type == NpyType::complex128;
  const int components = matrix.block_rows * matrix.block_columns * (matrix.is_complex ? 2 : 1);
  matrix.values = read_numbers(data, matrix.is_complex, device);
  const Offset entries = matrix.offsets[matrix.offsets.size() - 1];
  if (static_cast<std::size_t>(entries) != matrix.column.size() ||
      static_cast<std::size_t>(data.header().shape[0]) != matrix.column.size()) {
    detail::malformed_file("offsets for " + std::to_string(entries) + " entries, with " +
                           std::to_string(matrix.column.size()) + " columns and " +
                           std::to_string(data.header().shape[0]) + " values");
  }
  if (matrix.columns == 0 && entries > 0)
    detail::malformed_file("entries in a matrix without columns");
  if (data.header().fortran_order && data.header().shape.size() == 3) {
    matrix.values = to_row_order(
        matrix.values, matrix.column.size(), static_cast<std::size_t>(matrix.block_rows),
        static_cast<std::size_t>(matrix.block_columns), matrix.is_complex ? 2 : 1, device);
  }
  report(0.9);
  const Index row =
      io::sort_and_sum_rows(matrix.offsets, matrix.column, matrix.values, components, device);
  if (row >= 0) {
    throw Error(ErrorKind::not_finite,
                "the sum of duplicate entries in row " + std::to_string(row) + " is not finite");
  }
  return matrix;
}

ScalarMatrix of_scalars(bool is_complex, Index rows, Index columns, Array<Offset> offsets,
                        Array<Index> column, Array<double> values) {
  ScalarMatrix matrix;
  const auto build = [&]<class E>(E) {
    matrix.matrix =
        CsrMatrix<E>(rows, columns, std::move(offsets), std::move(column), std::move(values));
  };
  is_complex ? build(complex<double>{}) : build(real<double>{});
  return matrix;
}

}  // namespace

BlockMatrix read_npz(const std::string& path, const Device& device, Progress* progress) {
  int code = 0;
  Archive archive;
  archive.zip.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive.zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string what = zip_error_strerror(&error);
    zip_error_fini(&error);
    const bool is_damaged = code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS;
    throw Error(is_damaged ? ErrorKind::malformed_file : ErrorKind::io, path + ": " + what);
  }
  std::error_code unknown;
  archive.bytes = std::filesystem::file_size(path, unknown);
  return detail::naming_file(path, [&] { return read_archive(archive, device, progress); });
}

ScalarMatrix expand_blocks(BlockMatrix matrix, const Device& device) {
  if (matrix.block_rows == 1 && matrix.block_columns == 1) {
    return of_scalars(matrix.is_complex, matrix.rows, matrix.columns, std::move(matrix.offsets),
                      std::move(matrix.column), std::move(matrix.values));
  }
  const int block_rows = matrix.block_rows, block_columns = matrix.block_columns;
  const int scalars = matrix.is_complex ? 2 : 1;
  const Offset rows = Offset(matrix.rows) * block_rows;
  const Offset columns = Offset(matrix.columns) * block_columns;
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (rows > most || columns > most) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(rows) + " by " +
                                              std::to_string(columns) + " numbers, where " +
                                              std::to_string(most) + " rows are possible");
  }
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, device);
  Array<Index> column(matrix.column.size() * static_cast<std::size_t>(block_rows * block_columns),
                      device);
  Array<double> values(column.size() * static_cast<std::size_t>(scalars), device);
  const int team = team_size(device.stream(), static_cast<Offset>(values.size()) + rows);
  parallel_for(team, rows, [&](Offset row) {
    const auto block_row = static_cast<std::size_t>(row / block_rows);
    const Offset begin = matrix.offsets[block_row], end = matrix.offsets[block_row + 1];
    const Offset inside = row % block_rows;
    // All rows of the block rows before, then the rows before this one in its own.
    Offset to = (begin * block_rows + (end - begin) * inside) * block_columns;
    for (Offset i = begin; i < end; ++i) {
      for (int c = 0; c < block_columns; ++c, ++to) {
        column[static_cast<std::size_t>(to)] =
            matrix.column[static_cast<std::size_t>(i)] * block_columns + c;
        for (int k = 0; k < scalars; ++k) {
          values[static_cast<std::size_t>(to * scalars + k)] =
              matrix.values[static_cast<std::size_t>(
                  ((i * block_rows + inside) * block_columns + c) * scalars + k)];
        }
      }
    }
    offsets[static_cast<std::size_t>(row) + 1] = to;
  });
  ScalarMatrix expanded =
      of_scalars(matrix.is_complex, static_cast<Index>(rows), static_cast<Index>(columns),
                 std::move(offsets), std::move(column), std::move(values));
  expanded.block_rows = block_rows;
  expanded.block_columns = block_columns;
  return expanded;
}

}  // namespace heddle
