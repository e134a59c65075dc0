// What approximate inverses refuse, and why.
#include <string>

#include "heddle/runtime/entry_definition.hpp"
#include "inverse_parts.hpp"
#include "operator_checks.hpp"

namespace heddle::detail {

template <class S>
void InverseParts<S>::check() const {
  const EntryTable<S>& entry = matrix_.entry();
  const std::string of_entry = entry.definition ? "entry " + entry.definition->name : "the entry";
  if (entry.invert_diagonal == nullptr) {
    throw Error(ErrorKind::unsupported,
                std::string(name()) + ": " + of_entry +
                    " defines no inverse; add one to its definition, or take the preconditioner "
                    "none");
  }
  if (form_ == InverseForm::factorized && !entry.has_adjoint) {
    throw Error(ErrorKind::unsupported,
                "FSAI: " + of_entry + " has no adjoint; take the preconditioner isai");
  }
  check_square(matrix_, name());
}

template <class S>
void InverseParts<S>::check_rows(Index singular, Index too_large, Index without_entry) const {
  const Index n = matrix_.rows();
  if (singular < n) refuse_singular(singular);
  if (const Index row = too_large; row < n) {
    throw Error(ErrorKind::singular, std::string(name()) + ": the inverse of " + row_text(row) +
                                         " overflows the scalars it is stored in");
  }
  if (const Index row = without_entry; row < n) {
    throw Error(ErrorKind::unsupported, std::string(name()) + ": the inverse of " + row_text(row) +
                                            " is none of these entries, whose products must be "
                                            "such entries too");
  }
}

/// `row` is the first of its unit.
template <class S>
void InverseParts<S>::refuse_singular(Index row) const {
  std::string what;
  switch (form_) {
    case InverseForm::factorized:
      what =
          "the matrix is not positive definite; a pivot of " + row_text(row) + " is not positive";
      break;
    case InverseForm::general:
      what = "the local matrix of " + row_text(row) + " has no inverse";
      break;
    case InverseForm::blocks:
      const auto others = static_cast<Index>(pattern_.row(row).size()) - 1;
      what = "the block of row" +
             (others > 0 ? "s " + std::to_string(row) + " to " + std::to_string(row + others)
                         : " " + std::to_string(row)) +
             " (counted from 0) has no inverse";
      break;
  }
  throw Error(ErrorKind::singular, std::string(name()) + ": " + what);
}

#define HEDDLE_REFUSALS(S)                                              \
  template void InverseParts<S>::check() const;                         \
  template void InverseParts<S>::check_rows(Index, Index, Index) const; \
  template void InverseParts<S>::refuse_singular(Index) const;
HEDDLE_REFUSALS(float)
HEDDLE_REFUSALS(double)
HEDDLE_REFUSALS(long double)
#undef HEDDLE_REFUSALS

}  // namespace heddle::detail
