#include <cmath>
#include <string>

#include "field_files.hpp"
#include "heddle/error.hpp"
#include "npy.hpp"

namespace heddle::io {

namespace {

class NpyField {
 public:
  NpyField(const std::string& name, ByteSource& source) : name_(name), source_(source) {}

  ScalarField read(const Device& device) {
    const auto fill = [this](void* to, std::size_t bytes) { read_bytes(to, bytes); };
    const NpyHeader header =
        read_npy_start(fill, [this](const std::string& what) { fail(what); }).header;
    ScalarField field = empty_field(header);
    check_bytes(header);
    const std::size_t scalars = field.is_complex ? 2 : 1;
    const auto rows = static_cast<std::size_t>(field.rows);
    const auto columns = static_cast<std::size_t>(field.columns);
    field.values = Array<double>(rows * columns * scalars, device);
    for_each_scalar(header, field.values.size(), fill, [&](std::size_t i, auto value) {
      const std::size_t item = i / scalars;
      const std::size_t row = header.fortran_order ? item % rows : item / columns;
      const std::size_t column = header.fortran_order ? item / rows : item % columns;
      const auto number = static_cast<double>(value);
      if (!std::isfinite(number)) refuse_number(row, column);
      field.values[(row * columns + column) * scalars + i % scalars] = number;
    });
    char more = 0;
    if (read_some(&more, 1) != 0) fail("has more bytes than its header promises");
    return field;
  }

 private:
  ScalarField empty_field(const NpyHeader& header) const {
    if (!header.holds_numbers()) fail("holds no numbers");
    const std::size_t dimensions = header.shape.size();
    if (dimensions != 1 && dimensions != 2) {
      fail("has " + std::to_string(dimensions) + " dimensions, where a field has one or two");
    }
    return {header.shape[0], dimensions == 2 ? header.shape[1] : 1, header.is_complex(), {}};
  }

  /// Nothing is allocated for numbers that cannot be there.
  void check_bytes(const NpyHeader& header) const {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(header.items(), static_cast<std::int64_t>(header.item_bytes),
                               &bytes)) {
      fail("has an impossible shape");
    }
    const double most = source_.max_bytes();
    if (most >= 0 && static_cast<double>(bytes) > most) fail("is truncated");
  }

  void read_bytes(void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const std::size_t count = read_some(at, bytes);
      if (count == 0) fail("is truncated");
      at += count;
      bytes -= count;
    }
  }
  std::size_t read_some(char* to, std::size_t bytes) {
    try {
      return source_.read(to, bytes);
    } catch (const Error& error) {
      throw Error(error.kind(), name_ + ": " + error.what());
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    detail::malformed_file(name_ + ": the array " + what);
  }
  [[noreturn]] void refuse_number(std::size_t row, std::size_t column) const {
    throw Error(ErrorKind::not_finite, name_ + ": a non-finite value in row " +
                                           std::to_string(row) + ", column " +
                                           std::to_string(column) + ", counted from 0");
  }

  const std::string& name_;
  ByteSource& source_;
};

}  // namespace

ScalarField read_npy_field(const std::string& name, ByteSource& source, const Device& device) {
  return NpyField(name, source).read(device);
}

}  // namespace heddle::io
