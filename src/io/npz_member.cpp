#include "npz_member.hpp"

#include <zip.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/read.hpp"

namespace heddle::io {

void CloseArchive::operator()(::zip* archive) const { zip_discard(archive); }
void CloseMember::operator()(::zip_file* member) const { zip_fclose(member); }

Archive open_archive(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw Error(ErrorKind::io, path + ": is a directory");
  }
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
  archive.bytes = std::filesystem::file_size(path, unknown);
  return archive;
}

Member::Member(const Archive& archive, const std::string& name) : name_(name) {
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

void Member::fail(const std::string& what) const {
  detail::malformed_file("member '" + name_ + "' " + what);
}

void Member::read_header(std::uint64_t size) {
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
  const auto data = static_cast<std::int64_t>(size - std::min<zip_uint64_t>(size, prefix + length));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(header_.items(), static_cast<std::int64_t>(header_.item_bytes),
                             &bytes) ||
      bytes != data) {
    fail("has " + std::to_string(data) + " bytes, which is not what its header promises");
  }
}

void Member::read_bytes(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const zip_int64_t count = zip_fread(file_.get(), at, bytes);
    if (count < 0) fail(std::string("cannot be read: ") + zip_file_strerror(file_.get()));
    if (count == 0) fail("is truncated");
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

void Member::skip(std::size_t count) {
  std::size_t bytes = count * header_.item_bytes;
  if (bytes == 0) return;
  if (zip_fseek(file_.get(), static_cast<zip_int64_t>(bytes), SEEK_CUR) == 0) return;
  zip_file_error_clear(file_.get());
  std::array<char, 65536> some;
  for (; bytes > 0; bytes -= std::min(bytes, some.size())) {
    read_bytes(some.data(), std::min(bytes, some.size()));
  }
}

Array<double> read_numbers(Member& member, std::size_t first, std::size_t count, bool is_complex,
                           const Device& device) {
  if (!member.holds_numbers()) member.fail("holds no numbers");
  const std::size_t scalars = count * (is_complex ? 2 : 1);
  Array<double> numbers(scalars, device);
  const auto take = [&](std::size_t i, auto value) { numbers[i] = static_cast<double>(value); };
  switch (member.header().type) {
    case NpyType::float64:
    case NpyType::complex128:
      member.read(numbers.data(), count);
      break;
    case NpyType::float32:
    case NpyType::complex64:
      member.for_each<float>(scalars, take);
      break;
    case NpyType::int32:
      member.for_each<std::int32_t>(scalars, take);
      break;
    default:
      member.for_each<std::int64_t>(scalars, take);
  }
  for (std::size_t i = 0; i < scalars; ++i) {
    if (!std::isfinite(numbers[i])) {
      throw Error(ErrorKind::not_finite, "member 'data.npy' holds a non-finite value at place " +
                                             std::to_string(first + i / (is_complex ? 2 : 1)));
    }
  }
  return numbers;
}

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
  if (format != "csr" && format != "bsr") {
    detail::malformed_file("a matrix in format '" + format +
                           "'; save matrix.tocsr() or matrix.tobsr()");
  }
  return format;
}

BlockSizes read_sizes(const Archive& archive, const NpyHeader& data, const std::string& format) {
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  Member member(archive, "shape.npy");
  if (member.items() != 2) member.fail("does not hold two sizes");
  const Array<Offset> shape = read_integers<Offset>(member, 0, 2, most, Device::cpu(1));
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
  return {shape[0] / block_rows, shape[1] / block_columns, static_cast<int>(block_rows),
          static_cast<int>(block_columns)};
}

}  // namespace heddle::io
