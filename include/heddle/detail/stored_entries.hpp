// The entries of a matrix, in whatever storage they lie, and the preconditioners made from them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

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
/// it. A storage states its entries; preconditioners follow from them, except on ranks, which make
/// theirs together.
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

  /// Throws `Error` (singular, unsupported) like `SlicedJacobi`.
  virtual std::shared_ptr<Preconditioner<S>> jacobi() const;
  /// Block Jacobi, FSAI or ISAI. Throws `Error` like their classes; usage for another kind.
  virtual std::shared_ptr<Preconditioner<S>> make_inverse(const PreconditionerChoice& choice) const;
  /// `degree`: that of the smoother. Candidates and points of the choice are those of all rows, on
  /// ranks too. Throws `Error` like `Multigrid`.
  virtual MadeMultigrid<S> make_multigrid(int degree, const MultigridChoice& choice) const;

 protected:
  StoredEntries() = default;
  StoredEntries(const StoredEntries&) = default;
  StoredEntries& operator=(const StoredEntries&) = default;
};

extern template class StoredEntries<float>;
extern template class StoredEntries<double>;
extern template class StoredEntries<long double>;

/// The sliced copies of a matrix in another storage. Each is made at its first request and kept.
/// May be used from several threads at once.
template <class S>
class HEDDLE_EXPORT SlicedCopies {
 public:
  using Make = std::function<SlicedOperator<S>()>;

  SlicedCopies();
  ~SlicedCopies();

  /// Returns the copy of all entries if there is one.
  SlicedOperator<S> diagonal(const Make& make);
  SlicedOperator<S> all(const Make& make);
  long long bytes() const;

 private:
  mutable std::mutex making_;
  std::unique_ptr<SlicedOperator<S>> diagonal_, all_;
};

extern template class SlicedCopies<float>;
extern template class SlicedCopies<double>;
extern template class SlicedCopies<long double>;

}  // namespace detail

}  // namespace heddle
