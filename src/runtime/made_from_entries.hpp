// Preconditioners made from stored entries: by the storage itself, as on ranks, or from its entries
// in sliced storage. S is float or double.
#pragma once

#include <memory>

#include "heddle/detail/stored_entries.hpp"

namespace heddle::detail {

/// Throws `Error` like `SlicedJacobi`.
template <class S>
std::shared_ptr<Preconditioner<S>> jacobi_of(const StoredEntries<S>& entries);
/// Block Jacobi, FSAI or ISAI. Throws `Error` like their classes.
template <class S>
std::shared_ptr<Preconditioner<S>> inverse_of(const StoredEntries<S>& entries,
                                              const PreconditionerChoice& choice);
/// Throws `Error` like `Multigrid`.
template <class S>
MadeMultigrid<S> multigrid_of(const StoredEntries<S>& entries, int degree,
                              const MultigridChoice& choice);

}  // namespace heddle::detail
