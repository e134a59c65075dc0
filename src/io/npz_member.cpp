#include "npz_member.hpp"

#include <zip.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/read.hpp"

namespace heddle::io {

namespace {

/// `zip_code`: an error code of libzip.
[[noreturn]] void fail_by_zip(int zip_code, ErrorKind kind, const std::string& what) {
  throw Error(zip_code == ZIP_ER_MEMORY ? ErrorKind::memory : kind, what);
}

}  // namespace

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
    fail_by_zip(code, is_damaged ? ErrorKind::malformed_file : ErrorKind::io, path + ": " + what);
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
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC;
  if ((status.valid & needed) != needed) fail("has no size");
  crc_ = status.crc;
  // Nothing is allocated for more than deflate could make of the bytes that are there.
  constexpr zip_uint64_t best_deflate = 1032, slack = 1024;
  if (status.comp_size > archive.bytes || status.size > best_deflate * status.comp_size + slack) {
    fail("promises an impossible size");
  }
  file_.reset(zip_fopen(archive.zip.get(), name.c_str(), 0));
  if (!file_) {
    zip_error_t* const error = zip_get_error(archive.zip.get());
    fail_by_zip(zip_error_code_zip(error), ErrorKind::malformed_file,
                "member '" + name_ + "' cannot be read: " + zip_error_strerror(error));
  }
  const NpyStart start = read_npy_start(
      [&](void* to, std::size_t bytes) {
        read_bytes(to, bytes);
        start_.add(to, bytes);
      },
      [&](const std::string& what) { fail(what); });
  header_ = start.header;
  items_ = static_cast<std::size_t>(header_.items());
  const auto data =
      static_cast<std::int64_t>(status.size - std::min<zip_uint64_t>(status.size, start.bytes));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(header_.items(), static_cast<std::int64_t>(header_.item_bytes),
                             &bytes) ||
      bytes != data) {
    fail("has " + std::to_string(data) + " bytes, which is not what its header promises");
  }
}

void ByteSum::add(const void* data, std::size_t size) {
  crc = static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(data), size));
  bytes += static_cast<long long>(size);
}

void ByteSum::append(const ByteSum& next) {
  crc = static_cast<std::uint32_t>(crc32_combine(crc, next.crc, next.bytes));
  bytes += next.bytes;
}

void Member::fail(const std::string& what) const {
  detail::malformed_file("member '" + name_ + "' " + what);
}

void Member::fail_at_file() const {
  zip_error_t* const error = zip_file_get_error(file_.get());
  const int code = zip_error_code_zip(error);
  fail_by_zip(
      code, ErrorKind::malformed_file,
      "member '" + name_ + "' " +
          (code == ZIP_ER_CRC ? std::string("is damaged: its checksum does not match its bytes")
                              : std::string("cannot be read: ") + zip_error_strerror(error)));
}

void Member::read_bytes(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  for (std::size_t left = bytes; left > 0;) {
    const zip_int64_t count = zip_fread(file_.get(), at, left);
    if (count < 0) fail_at_file();
    if (count == 0) fail("is truncated");
    at += count;
    left -= static_cast<std::size_t>(count);
  }
  if (is_part_ && bytes > 0) part_.add(to, bytes);
}

void Member::skip(std::size_t count) {
  std::size_t bytes = count * header_.item_bytes;
  if (bytes > 0 && zip_fseek(file_.get(), static_cast<zip_int64_t>(bytes), SEEK_CUR) != 0) {
    zip_file_error_clear(file_.get());
    std::array<char, 65536> some;
    for (; bytes > 0; bytes -= std::min(bytes, some.size())) {
      read_bytes(some.data(), std::min(bytes, some.size()));
    }
  }
  is_part_ = true;
}

void Member::finish() {
  char more = 0;
  const zip_int64_t count = zip_fread(file_.get(), &more, 1);  // libzip compares at the end
  if (count < 0) fail_at_file();
  if (count > 0) fail("has more bytes than its header promises");
}

void Member::check(const std::vector<ByteSum>& parts) const {
  ByteSum all = start_;
  for (const ByteSum& part : parts) all.append(part);
  const auto promised = start_.bytes + static_cast<long long>(items_ * header_.item_bytes);
  if (all.bytes != promised || all.crc != crc_) {
    fail("is damaged: its checksum does not match its bytes");
  }
}

Array<double> read_numbers(Member& member, std::size_t first, std::size_t count,
                           const Device& device) {
  if (!member.header().holds_numbers()) member.fail("holds no numbers");
  const bool is_complex = member.header().is_complex();
  const std::size_t scalars = count * (is_complex ? 2 : 1);
  Array<double> numbers(scalars, device);
  if (member.header().scalar_bytes() == sizeof(double) && !member.header().holds_integers() &&
      !member.header().is_big_endian) {
    member.read(numbers.data(), count);
  } else {
    member.for_each_scalar(
        scalars, [&](std::size_t i, auto value) { numbers[i] = static_cast<double>(value); });
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
    member.fail("is not a name");
  }
  std::vector<char> raw(member.header().item_bytes);
  member.read(raw.data(), 1);
  member.finish();
  std::string format;
  for (const char c : raw) {
    if (c > ' ' && c < 127) format += c;
  }
  for (const char* const known : {"csr", "csc", "coo", "dia", "bsr"}) {
    if (format == known) return format;
  }
  detail::malformed_file("a matrix in format '" + format + "'; save matrix.tocsr()");
}

namespace {

void check_blocks(const Array<Offset>& shape, std::int64_t block_rows, std::int64_t block_columns) {
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
}

/// Memory is spent on what a file holds, not on what it says.
void check_spare_rows(std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t spare = std::int64_t(1) << 24, spare_an_entry = 16;
  if (entries >= (rows - spare) / spare_an_entry) return;
  detail::malformed_file(std::to_string(rows) + " rows for " + std::to_string(entries) +
                         " entries; nearly all would be empty");
}

std::string upper_case(std::string word) {
  for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
  return word;
}

}  // namespace

BlockSizes read_sizes(const Archive& archive, const NpyHeader& data, const std::string& format) {
  Member member(archive, "shape.npy");
  if (member.items() != 2) member.fail("does not hold two sizes");
  const Array<Offset> shape =
      read_all_integers<Offset>(member, std::numeric_limits<Index>::max(), Device::cpu(1));
  const std::size_t dimensions = format == "bsr" ? 3 : format == "dia" ? 2 : 1;
  if (data.shape.size() != dimensions) {
    const char* const words[] = {"one", "two", "three"};
    detail::malformed_file("a " + upper_case(format) + " matrix whose 'data.npy' is not " +
                           words[dimensions - 1] + "-dimensional");
  }
  BlockSizes sizes{shape[0], shape[1], 1, 1};
  if (format == "bsr") {
    check_blocks(shape, data.shape[1], data.shape[2]);
    sizes = {shape[0] / data.shape[1], shape[1] / data.shape[2], static_cast<int>(data.shape[1]),
             static_cast<int>(data.shape[2])};
  }
  check_spare_rows(sizes.rows, format == "dia" ? data.items() : data.shape[0]);
  return sizes;
}

void check_offset_count(const Member& offsets, std::int64_t rows, const char* lines) {
  if (offsets.items() == static_cast<std::size_t>(rows) + 1) return;
  detail::malformed_file("member 'indptr.npy' has " + std::to_string(offsets.items()) +
                         " offsets for " + std::to_string(rows) + " " + lines);
}

void check_offsets(const Array<Offset>& offsets, std::size_t columns, std::int64_t values) {
  for (std::size_t row = 0; row < offsets.size(); ++row) {
    if (offsets[row] < (row == 0 ? 0 : offsets[row - 1]) || (row == 0 && offsets[row] != 0)) {
      detail::malformed_file("member 'indptr.npy' does not grow from 0 at place " +
                             std::to_string(row));
    }
  }
  const Offset entries = offsets[offsets.size() - 1];
  if (static_cast<std::size_t>(entries) == columns && entries == values) return;
  detail::malformed_file("offsets for " + std::to_string(entries) + " entries, with " +
                         std::to_string(columns) + " columns and " + std::to_string(values) +
                         " values");
}

}  // namespace heddle::io
