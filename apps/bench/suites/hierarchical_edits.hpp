// Edits of a matrix in hierarchical storage, compared with rebuilding the matrix.
#pragma once

#include "suite.hpp"

namespace heddle::bench {

/// Adds one record each for random edits of 1% of the entries, for edits within 1% of the leaves,
/// and for edits of one node: half insertions, half removals where there is something to remove.
template <class E>
void measure_edits(Session& session, const Problem& problem, const CsrMatrix<E>& matrix);

}  // namespace heddle::bench
