// The arrays of a NumPy archive, and numbers of one of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "heddle/array.hpp"
#include "npy.hpp"

// Of libzip, whose header only `npz_member.cpp` needs.
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

/// One array of the archive, read from front to back. Throws `Error` (malformed_file) for a member
/// that there is not, is no array, or has other bytes than its header promises.
class Member {
 public:
  Member(const Archive& archive, const std::string& name);

  const NpyHeader& header() const { return header_; }
  std::size_t items() const { return items_; }

  /// The next `count` items, as they are stored.
  void read(void* to, std::size_t count) { read_bytes(to, count * header_.item_bytes); }
  /// Leaves out the next `count` items: a stored member is entered behind them, a compressed one
  /// has to be read.
  void skip(std::size_t count);

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
  /// Integers of either width, each in 0 to `most`: take(place, value), with places from `first`
  /// on.
  template <class Take>
  void for_each_integer(std::size_t first, std::size_t count, std::int64_t most, const Take& take) {
    if (!holds_integers()) fail("holds no integers");
    const auto checked = [&](std::size_t i, std::int64_t value) {
      if (value < 0 || value > most) {
        fail("holds " + std::to_string(value) + " at place " + std::to_string(first + i) +
             ", outside 0 to " + std::to_string(most));
      }
      take(i, value);
    };
    if (header_.type == NpyType::int32) {
      for_each<std::int32_t>(count, checked);
    } else {
      for_each<std::int64_t>(count, checked);
    }
  }

  bool holds_integers() const {
    return header_.type == NpyType::int32 || header_.type == NpyType::int64;
  }
  bool holds_numbers() const {
    return holds_integers() || (header_.type != NpyType::bytes && header_.type != NpyType::text);
  }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void read_header(std::uint64_t size);
  void read_bytes(void* to, std::size_t bytes);

  std::string name_;
  std::unique_ptr<::zip_file, CloseMember> file_;
  NpyHeader header_;
  std::size_t items_ = 0;
};

/// The next `count` ones of 0 to `most`, of places from `first` on.
template <class T>
Array<T> read_integers(Member& member, std::size_t first, std::size_t count, T most,
                       const Device& device) {
  Array<T> integers(count, device);
  member.for_each_integer(first, count, most, [&](std::size_t i, std::int64_t value) {
    integers[i] = static_cast<T>(value);
  });
  return integers;
}

/// The next `count` numbers, complex ones as two, of places from `first` on. Throws `Error`:
/// malformed_file, not_finite.
Array<double> read_numbers(Member& member, std::size_t first, std::size_t count, bool is_complex,
                           const Device& device);

/// 'csr' or 'bsr'. Throws `Error` (malformed_file) for another format.
std::string read_format(const Archive& archive);

struct BlockSizes {
  std::int64_t rows = 0, columns = 0;  // of the matrix, in blocks
  int block_rows = 1, block_columns = 1;
};
/// Throws `Error` (malformed_file) where shape and blocks do not agree.
BlockSizes read_sizes(const Archive& archive, const NpyHeader& data, const std::string& format);

}  // namespace heddle::io
