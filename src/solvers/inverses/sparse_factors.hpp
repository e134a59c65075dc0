// Factorizations of a sparse matrix of real or complex numbers, in double precision.
#pragma once

#include <memory>
#include <span>

#include "heddle/entries/slots.hpp"

namespace heddle::detail {

/// A square matrix by compressed rows, columns ascending, on the host. Its pattern stays; LDL* or
/// LU is found again from new values, in the order that the first factorization of its kind has
/// chosen.
class SparseFactors {
 public:
  virtual ~SparseFactors() = default;

  /// The numbers of all rows, `parts` doubles each, for the caller to set before `compute`.
  virtual std::span<double> values() = 0;
  /// LDL* if entries mirror each other to `rounding`, unless its pivots lose digits; else LU.
  /// Throws `Error`: not_finite; singular, also if rounding decides; memory. No factors exist
  /// thereafter.
  virtual void compute(double rounding) = 0;
  /// Replaces x, of `columns` columns, with A^-1 x, or with A^-* x. Throws `Error` (singular) if no
  /// factors exist.
  virtual void solve(double* x, int columns, bool adjoint) const = 0;

  virtual bool is_ldlt() const = 0;
  virtual Offset nonzeros() const = 0;
  /// Bytes of factors that `solve` reads.
  virtual long long bytes_of_solve() const = 0;
};

/// `parts`: 1 for real numbers, 2 for complex ones. Throws `Error` (memory).
std::unique_ptr<SparseFactors> sparse_factors(int parts, std::span<const Offset> offsets,
                                              std::span<const Offset> column);

/// Throws `Error` (memory), with both numbers of bytes, if `what` needs more than are available.
void check_memory_of_factors(double needed, long long available, const char* what);

}  // namespace heddle::detail
