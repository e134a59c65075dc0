// The refusals of approximate inverses, and their reasons.
#include <algorithm>
#include <string>

#include "base/long_double.hpp"
#include "heddle/runtime/entry_definition.hpp"
#include "local_inverse.hpp"

namespace heddle::detail {

template <class S>
void LocalInverse<S>::check(const EntryTable<S>& entry) const {
  const std::string of_entry = entry.definition ? "entry " + entry.definition->name : "the entry";
  if (entry.invert_diagonal == nullptr) {
    throw Error(ErrorKind::unsupported,
                std::string(name()) + ": " + of_entry +
                    " defines no inverse; add one to its definition, or use the preconditioner "
                    "none");
  }
  if (form_ == InverseForm::factorized && !entry.has_adjoint) {
    throw Error(ErrorKind::unsupported,
                "FSAI: " + of_entry + " has no adjoint; use the preconditioner isai");
  }
}

template <class S>
void LocalInverse<S>::refuse_without_diagonal(Index row) const {
  throw Error(ErrorKind::singular,
              std::string(name()) + ": the diagonal entry of " + row_text(row) + " is missing");
}

template <class S>
void LocalInverse<S>::check_rows(const FailedRows& failed, Index n) const {
  if (failed.singular < n) refuse_singular(failed.singular);
  if (const Index row = failed.too_large; row < n) {
    throw Error(ErrorKind::singular, std::string(name()) + ": the inverse of " + row_text(row) +
                                         " overflows the scalars it is stored in");
  }
  if (const Index row = failed.without_entry; row < n) {
    throw Error(ErrorKind::unsupported, std::string(name()) + ": the inverse of " + row_text(row) +
                                            " is not an entry of this kind; the kind must be "
                                            "closed under products");
  }
}

/// `row` is the first of its unit.
template <class S>
void LocalInverse<S>::refuse_singular(Index row) const {
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
      const long long first = of_rank_.row_of_all(row);
      const long long others = *std::upper_bound(groups_.begin(), groups_.end(), row) - row - 1;
      what = "the block of row" +
             (others > 0 ? "s " + std::to_string(first) + " to " + std::to_string(first + others)
                         : " " + std::to_string(first)) +
             " (counted from 0) has a number that is not finite";
      break;
  }
  throw Error(ErrorKind::singular, std::string(name()) + ": " + what);
}

#define HEDDLE_REFUSALS(S)                                                   \
  template void LocalInverse<S>::check(const EntryTable<S>&) const;          \
  template void LocalInverse<S>::refuse_without_diagonal(Index) const;       \
  template void LocalInverse<S>::check_rows(const FailedRows&, Index) const; \
  template void LocalInverse<S>::refuse_singular(Index) const;
HEDDLE_REFUSALS(float)
HEDDLE_REFUSALS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_REFUSALS(long double))
#undef HEDDLE_REFUSALS

}  // namespace heddle::detail
