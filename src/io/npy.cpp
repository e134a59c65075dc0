#include "npy.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::io {

namespace {

/// The text after 'key': in the dictionary, up to the end of the value.
std::string_view value_of(std::string_view literal, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  std::size_t at = literal.find(quoted);
  if (at != std::string_view::npos) at = literal.find(':', at + quoted.size());
  if (at == std::string_view::npos) detail::malformed_file("an array header without " + quoted);
  const std::size_t begin = literal.find_first_not_of(' ', at + 1);
  if (begin == std::string_view::npos) detail::malformed_file("an array header that ends early");
  const char close = literal[begin] == '(' ? ')' : literal[begin] == '\'' ? '\'' : ',';
  const std::size_t end =
      literal.find_first_of(close == ',' ? ",}" : std::string(1, close), begin + 1);
  if (end == std::string_view::npos) detail::malformed_file("an array header that ends early");
  return literal.substr(begin, end - begin);
}

/// `type` begins with the order of bytes.
NpyType type_named(std::string_view type) {
  constexpr std::pair<std::string_view, NpyType> known[] = {
      {"b1", NpyType::boolean},    {"i1", NpyType::int8},    {"i2", NpyType::int16},
      {"i4", NpyType::int32},      {"i8", NpyType::int64},   {"u1", NpyType::uint8},
      {"u2", NpyType::uint16},     {"u4", NpyType::uint32},  {"u8", NpyType::uint64},
      {"f4", NpyType::float32},    {"f8", NpyType::float64}, {"c8", NpyType::complex64},
      {"c16", NpyType::complex128}};
  const std::string_view kind = type.substr(1);
  for (const auto& [name, as] : known) {
    if (kind == name) return as;
  }
  constexpr std::size_t longest_name = 2;  // an item has fewer than 100 characters
  if (kind[0] == 'S' && kind.size() <= longest_name + 1) return NpyType::bytes;
  if (kind[0] == 'U' && kind.size() <= longest_name + 1) return NpyType::text;
  detail::malformed_file(
      "numbers of the unsupported type " + in_quotes(type) +
      "; supported are bool, integers, float32, float64, complex64 and complex128");
}

}  // namespace

std::int64_t NpyHeader::items() const {
  std::int64_t product = 1;
  for (const std::int64_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(product, length, &product)) {
      detail::malformed_file("an array of impossible shape");
    }
  }
  return product;
}

NpyHeader parse_npy_header(std::string_view literal) {
  NpyHeader header;
  std::string_view type = value_of(literal, "descr");
  if (type.size() < 3 || type[0] != '\'') detail::malformed_file("an array of structures");
  type.remove_prefix(1);
  header.is_big_endian = type[0] == '>';
  const std::string_view kind = type.substr(1);
  std::size_t width = 0;
  std::from_chars(kind.data() + 1, kind.data() + kind.size(), width);
  // NumPy's S0 and U0: any number of items would take no bytes.
  if (width == 0) detail::malformed_file("items of zero bytes, of type " + in_quotes(type));
  header.item_bytes = width;
  header.type = type_named(type);
  if (header.type == NpyType::text) header.item_bytes *= 4;
  header.fortran_order = value_of(literal, "fortran_order") == "True";
  std::string_view shape = value_of(literal, "shape");
  if (shape.empty() || shape[0] != '(') detail::malformed_file("an array without shape");
  shape.remove_prefix(1);
  while (true) {
    const std::size_t digit = shape.find_first_not_of(" ,");
    if (digit == std::string_view::npos) break;
    std::int64_t length = -1;
    const auto [end, error] =
        std::from_chars(shape.data() + digit, shape.data() + shape.size(), length);
    if (error != std::errc() || length < 0) detail::malformed_file("an array of impossible shape");
    header.shape.push_back(length);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  return header;
}

NpyStart read_npy_start(const std::function<void(void*, std::size_t)>& read,
                        const std::function<void(const std::string&)>& fail) {
  std::array<unsigned char, 12> start{};
  NpyStart found;
  found.bytes = 10;
  read(start.data(), found.bytes);
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0) fail("is not a NumPy array");
  std::size_t length = start[8] + 256u * start[9];
  if (start[6] >= 2) {
    read(start.data() + found.bytes, 2);
    length += std::size_t(65536) * (start[10] + 256u * start[11]);
    found.bytes = 12;
  }
  constexpr std::size_t longest = 65536;
  if (length > longest) fail("has an impossible header");
  std::string literal(length, '\0');
  read(literal.data(), length);
  found.bytes += length;
  try {
    found.header = parse_npy_header(literal);
    (void)found.header.items();
  } catch (const Error& error) {
    fail(std::string("holds ") + error.what());
  }
  return found;
}

std::string npy_header(const std::string& descriptor, const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t length : shape) sizes += std::to_string(length) + ", ";
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (shape.size() == 1) sizes.pop_back();
  std::string literal =
      "{'descr': '" + descriptor + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  constexpr std::size_t prefix = 10, alignment = 64;
  while ((prefix + literal.size() + 1) % alignment != 0) literal += ' ';
  literal += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(literal.size() & 0xFF);
  header += static_cast<char>(literal.size() >> 8);
  return header + literal;
}

}  // namespace heddle::io
