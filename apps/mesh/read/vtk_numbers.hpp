// The numbers of VTK's files: of many types, as text or as bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "binary_numbers.hpp"

namespace heddle::mesh {

struct VtkType {
  std::string_view name, xml_name;
  std::size_t size;  // in bytes
  enum class Kind { whole, natural, real } kind;

  bool is_whole() const { return kind != Kind::real; }
};

/// Finds a type by its name in a legacy file or in XML; nullptr if the name is not a number type.
const VtkType* find_vtk_type(std::string_view name);

class VtkNumbers {
 public:
  VtkNumbers(TextScanner& scan, bool is_text, bool is_swapped)
      : scan_(scan), bytes_(scan, is_swapped), is_text_(is_text) {}

  /// Least number of bytes that a number takes in the file.
  std::size_t min_bytes(const VtkType& type) const { return is_text_ ? 2 : type.size; }
  double real(const VtkType& type);
  /// For integer types only. Values of 2^63 and more become negative, which no index may be.
  long long integer(const VtkType& type);
  /// Skips any numbers, including nan.
  void skip(const VtkType& type, long long count);

 private:
  TextScanner& scan_;
  BinaryNumbers bytes_;
  bool is_text_;
};

}  // namespace heddle::mesh
