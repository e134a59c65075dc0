// The readers of Matrix Market, and of fields in NumPy arrays and text, over arbitrary bytes: they
// return or throw Error, and what the former say does not depend on how the text was cut into
// blocks or on the number of threads.
//
//   clang++-19 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude
//       tests/fuzz/matrix_market_fuzz.cpp src/io/*.cpp src/base/*.cpp src/matrix/csr.cpp
//       -lz -lzip -o matrix_market_fuzz
//
// With replay_main.cpp instead of -fsanitize=fuzzer it runs once over the files of a folder.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "io/field_files.hpp"
#include "io/matrix_market_read.hpp"

using namespace heddle;

namespace {

template <class T>
void append_bytes(std::string& to, const Array<T>& array) {
  to.append(reinterpret_cast<const char*>(array.data()), array.size() * sizeof(T));
}

/// The data that was read, or the message.
template <class Read>
std::string outcome(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find('\n') != std::string::npos) std::abort();
    if (message.rfind("f:", 0) != 0) std::abort();
    return message;
  }
}

std::string read_as_matrix(std::string_view text, const io::ReadLimits& limits) {
  return outcome([&] {
    const ScalarMatrix matrix =
        io::read_matrix_market("f", io::open_bytes(text), Device::cpu(1), nullptr, limits);
    std::string bytes;
    std::visit(
        [&](const auto& m) {
          append_bytes(bytes, m.offsets());
          append_bytes(bytes, m.column());
          append_bytes(bytes, m.values());
        },
        matrix.matrix);
    return bytes;
  });
}

std::string read_as_field(std::string_view text, const io::ReadLimits& limits) {
  return outcome([&] {
    const ScalarField field =
        io::read_matrix_market_field("f", io::open_bytes(text), Device::cpu(1), nullptr, limits);
    std::string bytes = std::to_string(field.rows) + " " + std::to_string(field.columns) + " ";
    append_bytes(bytes, field.values);
    return bytes;
  });
}

template <class Read>
std::string read_table(const Read& read) {
  return outcome([&] {
    const ScalarField field = read();
    std::string bytes = std::to_string(field.rows) + " " + std::to_string(field.columns) + " ";
    append_bytes(bytes, field.values);
    return bytes;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr Offset few_rows = 4096;
  const io::ReadLimits whole{std::size_t(1) << 12, few_rows}, cut{17, few_rows};
  // A damaged gzip file is detected at other places when it is read in other portions.
  const bool is_plain = text.substr(0, 2) != "\x1f\x8b";
  if (read_as_matrix(text, whole) != read_as_matrix(text, cut) && is_plain) std::abort();
  if (read_as_field(text, whole) != read_as_field(text, cut) && is_plain) std::abort();
  read_table([&] { return io::read_npy_field("f", *io::open_bytes(text), Device::cpu(1)); });
  read_table(
      [&] { return io::read_text_field("f", io::open_bytes(text), Device::cpu(1), nullptr); });
  return 0;
}
