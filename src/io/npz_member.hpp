// The arrays of a NumPy archive, and numbers of one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/entries/slots.hpp"
#include "npy.hpp"

// Types of libzip, whose header only `npz_member.cpp` needs.
struct zip;
struct zip_file;

namespace heddle::io {

struct CloseArchive {
  void operator()(::zip* archive) const;
};
struct CloseMember {
  void operator()(::zip_file* member) const;
};

struct Archive {
  std::unique_ptr<::zip, CloseArchive> zip;
  std::uintmax_t bytes = 0;
};

/// Throws `Error`: io, malformed_file.
Archive open_archive(const std::string& path);

/// A checksum of consecutive bytes, as in zip archives.
struct ByteSum {
  std::uint32_t crc = 0;
  long long bytes = 0;

  void add(const void* data, std::size_t size);
  /// Appends the bytes of `next`.
  void append(const ByteSum& next);
};

/// One array of the archive, read from front to back. Throws `Error`: malformed_file for a member
/// that does not exist, is no array, or has other bytes than its header and the archive promise;
/// memory.
class Member {
 public:
  Member(const Archive& archive, const std::string& name);

  const NpyHeader& header() const { return header_; }
  std::size_t items() const { return items_; }

  /// The next `count` items, as they are stored.
  void read(void* to, std::size_t count) { read_bytes(to, count * header_.item_bytes); }
  /// Skips the next `count` items: a stored member is entered after them, a compressed one has to
  /// be read. The items read from here on are a part, see `part`.
  void skip(std::size_t count);
  /// To be called when all was read: compares the checksum of the member with the archive's.
  void finish();

  /// The checksum of the bytes read since `skip`. `check` compares the checksums of all parts, in
  /// their order, with the archive's.
  const ByteSum& part() const { return part_; }
  void check(const std::vector<ByteSum>& parts) const;

  /// Calls take(i, value) for scalars, of which a complex number has two, in the file's type.
  template <class Take>
  void for_each_scalar(std::size_t count, const Take& take) {
    if (!header_.holds_numbers()) fail("holds no numbers");
    const auto next = [this](void* to, std::size_t bytes) { read_bytes(to, bytes); };
    io::for_each_scalar(header_, count, next, take);
  }
  /// Calls take(i, value) for integers from `least` to `most`. Messages count from `first`.
  template <class Take>
  void for_each_integer(std::size_t first, std::size_t count, std::int64_t least, std::int64_t most,
                        const Take& take) {
    if (!header_.holds_integers()) fail("holds no integers");
    for_each_scalar(count, [&]<class T>(std::size_t i, T value) {
      if constexpr (std::is_integral_v<T>) {
        if (std::cmp_less(value, least) || std::cmp_greater(value, most)) {
          fail("holds " + std::to_string(value) + " at place " + std::to_string(first + i) +
               ", outside " + std::to_string(least) + " to " + std::to_string(most));
        }
        take(i, static_cast<std::int64_t>(value));
      }
    });
  }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void read_bytes(void* to, std::size_t bytes);
  [[noreturn]] void fail_at_file() const;

  std::string name_;
  std::unique_ptr<::zip_file, CloseMember> file_;
  NpyHeader header_;
  std::size_t items_ = 0;
  std::uint32_t crc_ = 0;  // the archive's checksum of all bytes
  ByteSum start_, part_;
  bool is_part_ = false;
};

/// The next `count` integers, each from 0 to `most`, at the places from `first` on.
template <class T>
Array<T> read_integers(Member& member, std::size_t first, std::size_t count, T most,
                       const Device& device) {
  Array<T> integers(count, device);
  member.for_each_integer(first, count, 0, most, [&](std::size_t i, std::int64_t value) {
    integers[i] = static_cast<T>(value);
  });
  return integers;
}

/// All integers of a member, each from 0 to `most`.
template <class T>
Array<T> read_all_integers(Member& member, T most, const Device& device) {
  Array<T> integers = read_integers<T>(member, 0, member.items(), most, device);
  member.finish();
  return integers;
}

/// The next `count` numbers, complex ones as two, at the places from `first` on. Throws `Error`:
/// malformed_file, not_finite.
Array<double> read_numbers(Member& member, std::size_t first, std::size_t count,
                           const Device& device);

/// 'csr', 'csc', 'coo', 'dia' or 'bsr'. Throws `Error` (malformed_file) for another format.
std::string read_format(const Archive& archive);

struct BlockSizes {
  std::int64_t rows = 0, columns = 0;  // size of the matrix, in blocks
  int block_rows = 1, block_columns = 1;
};
/// Throws `Error` (malformed_file) if shape and blocks do not agree, or if nearly all rows would be
/// empty.
BlockSizes read_sizes(const Archive& archive, const NpyHeader& data, const std::string& format);

/// Throws `Error` (malformed_file) unless there are offsets of `rows` rows (`lines`: their name).
void check_offset_count(const Member& offsets, std::int64_t rows, const char* lines);
/// Throws `Error` (malformed_file) unless offsets rise from 0 to the number of columns and values.
void check_offsets(const Array<Offset>& offsets, std::size_t columns, std::int64_t values);

}  // namespace heddle::io
