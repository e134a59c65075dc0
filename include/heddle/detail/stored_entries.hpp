// The entries of a matrix, in whatever storage they lie.
#pragma once

#include <functional>
#include <memory>

#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

struct MultigridChoice;
struct MultigridReport;
struct PreconditionerChoice;

namespace detail {

template <class S>
class SlicedOperator;

template <class S>
struct MadeMultigrid {
  std::shared_ptr<Preconditioner<S>> preconditioner;
  std::function<MultigridReport()> report;  // empty once the preconditioner is gone
};

/// A base of operators that store entries, next to `LinearOperator`, whose `stored_entries` returns
/// it, as that of its `handle` does. A storage states its entries, and preconditioners are made
/// from them. One that makes its own, as ranks do together, overrides the functions that return
/// none here; then all three may be collective.
template <class S>
class HEDDLE_EXPORT StoredEntries {
 public:
  virtual ~StoredEntries() = default;

  /// False if the entry defines no inverse.
  virtual bool has_inverses() const = 0;
  /// At least the entries on the diagonal, in sliced storage and in the operator's basis: the
  /// storage itself, whose `generation` follows new values, or a copy if values never change.
  virtual SlicedOperator<S> sliced_diagonal() const = 0;
  /// All entries, likewise. Throws `Error` (unsupported) if no process has all of them.
  virtual SlicedOperator<S> sliced() const = 0;
  /// True if each call of these two makes a copy.
  virtual bool makes_copies() const { return false; }

  virtual std::shared_ptr<Preconditioner<S>> jacobi() const { return nullptr; }
  /// Block Jacobi, FSAI, ISAI or a factorization.
  virtual std::shared_ptr<Preconditioner<S>> make_inverse(const PreconditionerChoice&) const {
    return nullptr;
  }
  /// `degree`: that of the smoother. Candidates and points of the choice are those of all rows, on
  /// ranks too.
  virtual MadeMultigrid<S> make_multigrid(int /*degree*/, const MultigridChoice&) const {
    return {};
  }

 protected:
  StoredEntries() = default;
  StoredEntries(const StoredEntries&) = default;
  StoredEntries& operator=(const StoredEntries&) = default;
};

}  // namespace detail

}  // namespace heddle
