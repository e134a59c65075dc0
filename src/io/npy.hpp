// NumPy's arrays, alone or as members of an `.npz` file: a header of text, then the numbers.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::io {

enum class NpyType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
  bytes,
  text
};

struct NpyHeader {
  NpyType type = NpyType::float64;
  std::size_t item_bytes = 0;
  bool is_big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  /// Product of the shape; throws `Error` if it overflows.
  std::int64_t items() const;
  bool is_complex() const { return type == NpyType::complex64 || type == NpyType::complex128; }
  bool holds_integers() const { return type >= NpyType::int8 && type <= NpyType::uint64; }
  bool holds_numbers() const { return type <= NpyType::complex128; }
  std::size_t scalar_bytes() const { return is_complex() ? item_bytes / 2 : item_bytes; }
};

/// `literal` is the dictionary after the magic bytes. Throws `Error` without the place.
NpyHeader parse_npy_header(std::string_view literal);

/// The header of an array, and the number of its bytes including the magic bytes.
struct NpyStart {
  NpyHeader header;
  std::size_t bytes = 0;
};
/// `read` fills `bytes` bytes; `fail` throws for an array, with `what` as the rest of the sentence.
NpyStart read_npy_start(const std::function<void(void* to, std::size_t bytes)>& read,
                        const std::function<void(const std::string& what)>& fail);

/// Magic bytes, version and dictionary for an array in C order.
std::string npy_header(const std::string& descriptor, const std::vector<std::int64_t>& shape);

/// Calls `f` with a number of the given type, which must be one of numbers.
template <class F>
void visit_scalar_type(NpyType type, const F& f) {
  switch (type) {
    // NOLINTNEXTLINE(bugprone-branch-clone): each branch calls f of another type
    case NpyType::boolean:
    case NpyType::uint8:
      return f(std::uint8_t());
    case NpyType::int8:
      return f(std::int8_t());
    case NpyType::int16:
      return f(std::int16_t());
    case NpyType::int32:
      return f(std::int32_t());
    case NpyType::int64:
      return f(std::int64_t());
    case NpyType::uint16:
      return f(std::uint16_t());
    case NpyType::uint32:
      return f(std::uint32_t());
    case NpyType::uint64:
      return f(std::uint64_t());
    case NpyType::float32:
    case NpyType::complex64:
      return f(float());
    default:
      return f(double());
  }
}

/// Calls take(i, value) for the next `count` scalars, of which a complex number has two, in the
/// type of the file. `read` fills a number of bytes.
template <class Read, class Take>
void for_each_scalar(const NpyHeader& header, std::size_t count, const Read& read,
                     const Take& take) {
  visit_scalar_type(header.type, [&]<class From>(From) {
    std::array<From, 4096> some;
    for (std::size_t done = 0; done < count;) {
      const std::size_t now = std::min(count - done, some.size());
      read(some.data(), now * sizeof(From));
      for (std::size_t k = 0; k < now; ++k) {
        if (header.is_big_endian) {
          auto* const bytes = reinterpret_cast<unsigned char*>(&some[k]);
          std::reverse(bytes, bytes + sizeof(From));
        }
        take(done + k, some[k]);
      }
      done += now;
    }
  });
}

}  // namespace heddle::io
