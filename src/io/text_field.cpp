#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text/readable.hpp"
#include "field_files.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::io {

namespace {

bool is_separator(char c) { return is_blank(c) || c == ',' || c == ';'; }
bool ends_line(char c) { return c == '\n' || c == '#' || c == '%'; }

struct Number {
  double real = 0, imaginary = 0;
  bool is_complex = false;
};

/// A number as Python prints it, from `p` on in a text that ends in a line end. Returns the byte
/// after it, or nullptr if there is none.
const char* read_number(const char* p, const char* end, Number& number) {
  const bool is_in_parentheses = *p == '(';
  p = read_double(is_in_parentheses ? p + 1 : p, end, number.real);
  if (p == nullptr) return nullptr;
  if (*p == '+' || *p == '-') {
    p = read_double(p, end, number.imaginary);
    if (p == nullptr || (*p != 'j' && *p != 'i')) return nullptr;
  } else if (*p == 'j' || *p == 'i') {
    std::swap(number.real, number.imaginary);
  }
  number.is_complex = *p == 'j' || *p == 'i';
  if (number.is_complex) ++p;
  if (is_in_parentheses && *p++ != ')') return nullptr;
  return is_separator(*p) || ends_line(*p) ? p : nullptr;
}

class TextField {
 public:
  TextField(const std::string& name, std::unique_ptr<ByteSource> source, Progress* progress)
      : name_(name), blocks_(std::move(source), block_bytes, progress) {}

  ScalarField read(const Device& device) {
    try {
      blocks_.limit(spare_text, beyond_limit);
      for (Block block; blocks_.next(block);) {
        read_lines(block.lines());
        check_memory();
        blocks_.limit(spare_text + longest_usual_number * static_cast<double>(real_.size()),
                      beyond_limit);
      }
    } catch (const Error& error) {
      throw Error(error.kind(),
                  name_ + ":" + std::to_string(std::max(line_, 1LL)) + ": " + error.what());
    }
    if (real_.empty()) detail::malformed_file(name_ + ": no number in the file");
    const bool is_complex = !imaginary_.empty();
    ScalarField field{rows_, static_cast<Offset>(real_.size()) / rows_, is_complex,
                      Array<double>(real_.size() * (is_complex ? 2 : 1), device)};
    for (std::size_t i = 0; i < real_.size(); ++i) {
      field.values[is_complex ? 2 * i : i] = real_[i];
      if (is_complex) field.values[2 * i + 1] = i < imaginary_.size() ? imaginary_[i] : 0;
    }
    return field;
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t(1) << 19;
  static constexpr double spare_text = 64 << 20, longest_usual_number = 128;
  static constexpr const char* beyond_limit =
      "more than 64 MiB of blank lines, comments and spaces";

  void read_lines(std::string_view text) {
    const char* const end = text.data() + text.size();
    for (const char* p = text.data(); p != end; ++p) {
      ++line_;
      const std::size_t before = real_.size();
      while (is_separator(*p)) ++p;
      while (!ends_line(*p)) {
        const char* const after = read_one(p, end);
        p = after;
        while (is_separator(*p)) ++p;
      }
      p = std::find(p, end, '\n');
      if (real_.size() > before) end_row(real_.size() - before);
    }
  }

  const char* read_one(const char* p, const char* end) {
    Number number;
    const char* const after = read_number(p, end, number);
    const bool is_finite = std::isfinite(number.real) && std::isfinite(number.imaginary);
    if (after == nullptr || !is_finite) {
      const auto ends = [](char c) { return is_separator(c) || ends_line(c); };
      refuse({p, static_cast<std::size_t>(std::find_if(p, end, ends) - p)}, after != nullptr);
    }
    if (number.is_complex) {
      imaginary_.resize(real_.size());
      imaginary_.push_back(number.imaginary);
    }
    real_.push_back(number.real);
    return after;
  }

  [[noreturn]] static void refuse(std::string_view word, bool is_number) {
    std::string letters;
    for (const char c : word) {
      if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') letters += static_cast<char>(c | 0x20);
    }
    if (is_number || letters == "nan" || letters == "inf" || letters == "infinity") {
      throw Error(ErrorKind::not_finite, "non-finite value " + in_quotes(word));
    }
    detail::malformed_file(in_quotes(word) + " is not a number");
  }

  void end_row(std::size_t numbers) {
    if (rows_ > 0 && numbers != columns_) {
      detail::malformed_file(std::to_string(numbers) + (numbers == 1 ? " number" : " numbers") +
                             " where the lines before have " + std::to_string(columns_));
    }
    columns_ = numbers;
    ++rows_;
  }

  /// A vector that grows exists twice for a while, and then the field is added.
  void check_memory() {
    constexpr std::size_t worth_a_look = std::size_t(64) << 20;
    const std::size_t bytes = sizeof(double) * (real_.size() + imaginary_.size());
    if (bytes < worth_a_look || bytes < 2 * looked_at_) return;
    looked_at_ = bytes;
    const auto needed = static_cast<long long>(2 * bytes);
    const long long available = Device::cpu(1).available_memory();
    if (needed <= available) return;
    throw Error(ErrorKind::memory, std::to_string(real_.size()) + " numbers and more take " +
                                       readable_bytes(needed) + ", available are " +
                                       readable_bytes(available));
  }

  std::string name_;
  LineBlocks blocks_;
  std::vector<double> real_, imaginary_;  // the latter up to the last complex number
  std::size_t columns_ = 0, looked_at_ = 0;
  Offset rows_ = 0;
  long long line_ = 0;
};

}  // namespace

bool begins_as_text_of_numbers(std::string_view first_bytes) {
  if (first_bytes.starts_with("%%")) return false;
  const std::size_t at = first_bytes.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return false;
  return std::string_view("0123456789+-.(#%").find(first_bytes[at]) != std::string_view::npos;
}

ScalarField read_text_field(const std::string& name, std::unique_ptr<ByteSource> source,
                            const Device& device, Progress* progress) {
  return TextField(name, std::move(source), progress).read(device);
}

}  // namespace heddle::io
