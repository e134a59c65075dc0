// Entries from definitions that tests share.
#pragma once

#include <memory>
#include <string>

#include "heddle/runtime/defined_matrix.hpp"

namespace heddle::test {

using Definition = std::shared_ptr<const EntryDefinition>;

inline Definition definition_of(const std::string& json) {
  return std::make_shared<const EntryDefinition>(parse_entry_definition(json, "test"));
}

inline Definition split_complex_definition() {
  return definition_of(R"json({
    "name": "split-complex", "members": ["x", "y"],
    "multiply": {"x": "a.x * x.x + a.y * x.y", "y": "a.x * x.y + a.y * x.x"},
    "inverse": {"x": "a.x / ((a.x - a.y) * (a.x + a.y))",
                "y": "-a.y / ((a.x - a.y) * (a.x + a.y))"},
    "adjoint": {"x": "a.x", "y": "a.y"}})json");
}

inline Definition dual_complex_definition() {
  return definition_of(R"json({
    "name": "dual-complex", "ring": "complex",
    "members": [{"name": "a", "type": "complex"}, {"name": "b", "type": "complex"}],
    "multiply": {"a": "a.a * x.a", "b": "a.a * x.b + a.b * x.a"},
    "inverse": {"a": "1 / a.a", "b": "-a.b / (a.a * a.a)"}})json");
}

inline Definition quaternion_definition() {
  return definition_of(R"json({
    "name": "my-quaternion", "ring": "quaternion", "members": ["w", "x", "y", "z"],
    "multiply": {"w": "a.w * x.w - a.x * x.x - a.y * x.y - a.z * x.z",
                 "x": "a.w * x.x + a.x * x.w + a.y * x.z - a.z * x.y",
                 "y": "a.w * x.y - a.x * x.z + a.y * x.w + a.z * x.x",
                 "z": "a.w * x.z + a.x * x.y - a.y * x.x + a.z * x.w"},
    "inverse": {"w": "a.w / (a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z)",
                "x": "-a.x / (a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z)",
                "y": "-a.y / (a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z)",
                "z": "-a.z / (a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z)"},
    "adjoint": {"w": "a.w", "x": "-a.x", "y": "-a.y", "z": "-a.z"}})json");
}

/// The entries of a matrix of a built-in type, reinterpreted as entries of a definition.
template <class E>
DefinedMatrix<stored_scalar_t<E>> as_defined(const CsrMatrix<E>& matrix, Definition definition) {
  return {std::move(definition), matrix.rows(),   matrix.columns(),
          matrix.offsets(),      matrix.column(), matrix.values()};
}

}  // namespace heddle::test
