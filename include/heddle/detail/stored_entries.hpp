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
/// it. A storage states its entries, and preconditioners are made from them. One that makes its
/// own, as ranks do together, overrides the functions that return none here.
template <class S>
class HEDDLE_EXPORT StoredEntries {
 public:
  virtual ~StoredEntries() = default;

  /// At least the entries on the diagonal, in sliced storage and in the operator's basis.
  virtual SlicedOperator<S> sliced_diagonal() const = 0;
  /// All entries, likewise. Throws `Error` (unsupported) if no process has all of them.
  virtual SlicedOperator<S> sliced() const = 0;
  /// Bytes of the copies in sliced storage that this matrix has handed out and keeps.
  virtual long long copied_bytes() const { return 0; }

  virtual std::shared_ptr<Preconditioner<S>> jacobi() const { return nullptr; }
  /// Block Jacobi, FSAI or ISAI.
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
