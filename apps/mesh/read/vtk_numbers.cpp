#include "vtk_numbers.hpp"

#include <cstdint>

namespace heddle::mesh {

namespace {

using enum VtkType::Kind;
constexpr VtkType vtk_types[] = {
    {"char", "Int8", 1, whole},          {"unsigned_char", "UInt8", 1, natural},
    {"short", "Int16", 2, whole},        {"unsigned_short", "UInt16", 2, natural},
    {"int", "Int32", 4, whole},          {"unsigned_int", "UInt32", 4, natural},
    {"long", "Int64", 8, whole},         {"unsigned_long", "UInt64", 8, natural},
    {"vtktypeint64", "Int64", 8, whole}, {"vtktypeuint64", "UInt64", 8, natural},
    {"float", "Float32", 4, real},       {"double", "Float64", 8, real},
};

}  // namespace

const VtkType* find_vtk_type(std::string_view name) {
  for (const VtkType& type : vtk_types) {
    if (is_keyword(name, type.name) || name == type.xml_name) return &type;
  }
  return nullptr;
}

double VtkNumbers::real(const VtkType& type) {
  if (is_text_) return scan_.real();
  if (type.is_whole()) return static_cast<double>(integer(type));
  return type.size == sizeof(float) ? bytes_.take_finite<float>() : bytes_.take_finite<double>();
}

long long VtkNumbers::integer(const VtkType& type) {
  if (is_text_) return scan_.integer();
  const bool is_natural = type.kind == VtkType::Kind::natural;
  switch (type.size) {
    case 1:
      return is_natural ? bytes_.take<std::uint8_t>() : bytes_.take<std::int8_t>();
    case 2:
      return is_natural ? bytes_.take<std::uint16_t>() : bytes_.take<std::int16_t>();
    case 4:
      if (is_natural) return bytes_.take<std::uint32_t>();
      return bytes_.take<std::int32_t>();
    default:
      return bytes_.take<std::int64_t>();
  }
}

void VtkNumbers::skip(const VtkType& type, long long count) {
  if (!is_text_) {
    scan_.bytes(type.size * static_cast<std::size_t>(count));
    return;
  }
  for (; count > 0; --count) scan_.word();
}

}  // namespace heddle::mesh
