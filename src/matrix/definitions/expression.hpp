// The text of one expression of an entry definition:
//
//   expression = term { ( "+" | "-" ) term }
//   term       = factor { ( "*" | "/" ) factor }
//   factor     = [ "+" | "-" ] factor | number | "(" expression ")" | "conj" "(" expression ")"
//              | operand "." member [ "." ( "re" | "im" ) ]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formula_builder.hpp"

namespace heddle::detail {

/// A named part of an entry: one component, or two that are a complex number.
struct Member {
  std::string name;
  bool is_complex = false;
  int first = 0;  // component
};

/// A name that expressions may use: `name`.member is read with `load` (first or second).
struct Operand {
  std::string name;
  const std::vector<Member>* members;
  Operation load;
};

/// Appends the computation that `text` describes to `builder`. Throws `Error` (malformed_file)
/// "column N: what was found, what was expected".
Value parse_expression(std::string_view text, const std::vector<Operand>& operands,
                       FormulaBuilder& builder);

}  // namespace heddle::detail
