// Prints an entry definition as a C++ type.
#include <charconv>
#include <cmath>
#include <string>

#include "heddle/runtime/entry_definition.hpp"

namespace heddle {

namespace {

std::string identifier(const EntryDefinition& definition) {
  std::string text = definition.name + "_entry";  // so that no name is a word of C++
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
}

/// The shortest text that reads back as the same double and is no integer too large for C++.
std::string number(double value) {
  char text[32];
  const bool is_large = std::abs(value) >= 0x1p63;
  const char* const end =
      is_large ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr
               : std::to_chars(text, text + sizeof text, value).ptr;
  return "S(" + std::string(text, static_cast<std::size_t>(end - text)) + ")";
}

std::string component(const char* of, int k) {
  return std::string(of) + ".component[" + std::to_string(k) + "]";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// "a0 * x1" with its sign and coefficient, as it follows "y0 ".
std::string term_text(const ProductTerm& term) {
  const double size = std::abs(term.coefficient);
  return std::string(term.coefficient > 0 ? "+= " : "-= ") +
         (size == 1 ? "" : number(size) + " * ") + component("a", term.left) + " * " +
         component("x", term.right) + ";\n";
}

std::string multiply_add_text(const EntryDefinition& definition, const std::string& type) {
  std::string text = "  friend HEDDLE_INLINE void multiply_add(vector_entry& y, const " + type +
                     "& a, const vector_entry& x) {\n";
  for (int i = 0; i < definition.vector_size(); ++i) {
    const std::string sum = "y" + std::to_string(i);
    text += "    S " + sum + " = " + component("y", i) + ";\n";
    for (const ProductTerm& term : definition.product) {
      if (term.result == i) text += "    " + sum + " " + term_text(term);
    }
  }
  // Stored at the end: y may be of the same type as x, and a store would cost reloads of x.
  for (int i = 0; i < definition.vector_size(); ++i) {
    text += "    " + component("y", i) + " = y" + std::to_string(i) + ";\n";
  }
  return text + "  }\n";
}

std::string instruction_text(const Instruction& at, const char* operand) {
  const std::string left = "t" + std::to_string(at.left), right = "t" + std::to_string(at.right);
  switch (at.operation) {
    case Operation::number:
      return number(at.number);
    case Operation::negate:
      return "-" + left;
    case Operation::add:
      return left + " + " + right;
    case Operation::subtract:
      return left + " - " + right;
    case Operation::multiply:
      return left + " * " + right;
    case Operation::divide:
      return left + " / " + right;
    default:
      return component(operand, at.left);
  }
}

/// Statements that compute every instruction from `operand`.
std::string statements(const Formula& formula, const char* operand) {
  std::string text;
  for (std::size_t i = 0; i < formula.instructions.size(); ++i) {
    text += "    const S t" + std::to_string(i) + " = " +
            instruction_text(formula.instructions[i], operand) + ";\n";
  }
  return text;
}

std::string results(const Formula& formula, const char* suffix) {
  std::string text;
  for (const int result : formula.results) {
    text += (text.empty() ? "t" : ", t") + std::to_string(result) + suffix;
  }
  return "    return {{" + text + "}};\n  }\n";
}

}  // namespace

std::string cuda_type_name(const EntryDefinition& definition) {
  return "heddle_user::" + identifier(definition);
}

std::string cuda_text(const EntryDefinition& definition) {
  const std::string type = identifier(definition);
  const std::string size = std::to_string(definition.size());
  const bool acts_on_itself = definition.components == definition.vector_components;
  const char* const ring = definition.ring == Ring::real      ? "real"
                           : definition.ring == Ring::complex ? "complex"
                                                              : "quaternion";
  std::string text = "// Printed by heddle from the definition of entry " + definition.name +
                     ".\n#pragma once\n\n#include \"heddle/entries/entry.hpp\"\n\n"
                     "namespace heddle_user {\n\n/// Components " +
                     listed(definition.components);
  if (!acts_on_itself) text += "; it acts on " + listed(definition.vector_components);
  text += ".\ntemplate <class S>\nstruct " + type +
          " {\n  using scalar = S;\n"
          "  using stored_scalar = S;\n  using vector_entry = " +
          (acts_on_itself
               ? type
               : "heddle::small_vector<S, " + std::to_string(definition.vector_size()) + ">") +
          ";\n  static constexpr int components = " + size +
          ";\n  static constexpr heddle::Ring ring = heddle::Ring::" + ring +
          ";\n  template <class T>\n  using with_scalar = " + type +
          "<T>;\n\n  S component[components];\n\n"
          "  HEDDLE_HD static constexpr " +
          type + " zero() { return {}; }\n" + multiply_add_text(definition, type) +
          "  friend HEDDLE_HD " + type + " add(const " + type + "& a, const " + type +
          "& b) { return heddle::add_components(a, b); }\n";
  if (definition.has_inverse()) {
    // Scaled as in `invert`.
    text += "  friend HEDDLE_HD " + type + " inverse(const " + type +
            "& a) {\n    S largest = 0;\n"
            "    for (S c : a.component) largest = (c < 0 ? -c : c) > largest ? (c < 0 ? -c : c) : "
            "largest;\n    " +
            type +
            " scaled;\n"
            "    for (int k = 0; k < components; ++k) scaled.component[k] = a.component[k] / "
            "largest;\n" +
            statements(definition.inverse, "scaled") + results(definition.inverse, " / largest");
  }
  if (definition.has_adjoint()) {
    text += "  friend HEDDLE_HD " + type + " adjoint(const " + type + "& a) {\n" +
            statements(definition.adjoint, "a") + results(definition.adjoint, "");
  }
  return text + "};\n\n}  // namespace heddle_user\n";
}

}  // namespace heddle
