// Entries that a user defines in a JSON file instead of a C++ type; the schema is in
// docs/reference/file-formats.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/entries/entry.hpp"
#include "heddle/expansion.hpp"
#include "heddle/export.hpp"
#include "heddle/runtime/formula.hpp"

namespace heddle {

/// One term of a product y += a x: y_result += coefficient * a_left * x_right, in components.
struct HEDDLE_EXPORT ProductTerm {
  int result = 0;
  int left = 0;
  int right = 0;
  double coefficient = 0;
};

/// The content of a definition, in real components; a complex member is two of them, re and im.
struct HEDDLE_EXPORT EntryDefinition {
  /// The limit for a file: tables of products have its cube of terms.
  static constexpr int max_components = 36;

  std::string name;
  std::vector<std::string> components;  // "x", "a.re", ...: components of an entry, K of them
  std::vector<std::string> vector_components;  // components of its vector entry, V of them
  Ring ring = Ring::real;
  std::vector<ProductTerm> product;  // by result, then left, then right
  Formula inverse;                   // formulas for K components; empty if undefined
  Formula adjoint;                   // likewise

  int size() const { return static_cast<int>(components.size()); }
  int vector_size() const { return static_cast<int>(vector_components.size()); }
  bool has_inverse() const { return !inverse.empty(); }
  bool has_adjoint() const { return !adjoint.empty(); }
};

/// Parses and checks a definition, on random numbers: `multiply` is linear in both factors and uses
/// every component, the inverse inverts, the adjoint is the transpose of the real representation,
/// and the ring commutes. Throws `Error` (malformed_file) "source: key path: fault".
HEDDLE_EXPORT EntryDefinition parse_entry_definition(std::string_view json,
                                                     const std::string& source);

/// The same for a file; also throws `Error` (io).
HEDDLE_EXPORT EntryDefinition read_entry_definition(const std::string& path);

/// The V x V matrix by which `entry` (K components) acts, row by row.
HEDDLE_EXPORT std::vector<double> real_representation(const EntryDefinition& definition,
                                                      const double* entry);

/// The place of each component in that matrix. Throws `Error` (unsupported) if some number of it is
/// not one component, its negative, or zero.
HEDDLE_EXPORT detail::Arrangement arrangement(const EntryDefinition& definition);

/// The inverse of an entry (K components each), scaled so that no intermediate overflows. For a
/// singular entry it is not finite, or so large that |a| |a^-1| exceeds 1 / epsilon.
template <class S>
HEDDLE_EXPORT void invert(const EntryDefinition& definition, const S* entry, S* inverse,
                          std::vector<S>& registers);

/// A C++ header for host compiler, nvcc and NVRTC, over heddle's own `entries/` headers: a template
/// over the scalar that states what entries/entry.hpp requires.
HEDDLE_EXPORT std::string cuda_text(const EntryDefinition& definition);

/// The name of that template, e.g. "heddle_user::split_complex_entry".
HEDDLE_EXPORT std::string cuda_type_name(const EntryDefinition& definition);

}  // namespace heddle
