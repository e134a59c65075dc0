// The plan for a matrix on a device, where nobody has measured one.
#pragma once

#include "heddle/csr.hpp"
#include "heddle/objective.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// A rule of thumb from what was measured, see docs/performance-notes.md; no measurement of its
/// own. `stored=float` is for entries in double precision. What suits the loops of solvers may not
/// be the fastest for products alone.
Plan choose_plan(const PatternView& pattern, int entry_bytes, const Device& device,
                 StoredScalar stored = StoredScalar::own, Objective objective = Objective::cg);

/// The same for a GPU that need not be there.
Plan choose_plan_for_gpu(const PatternView& pattern, int entry_bytes,
                         StoredScalar stored = StoredScalar::own,
                         Objective objective = Objective::cg);

/// The same for a team of so many threads of a CPU.
Plan choose_plan_for_cpu(const PatternView& pattern, int threads,
                         StoredScalar stored = StoredScalar::own);

template <class E>
Plan choose_plan(const CsrView<E>& matrix, const Device& device = Device::cpu()) {
  return choose_plan(matrix.pattern(), static_cast<int>(sizeof(E)), device);
}
template <class E>
Plan choose_plan(const CsrMatrix<E>& matrix, const Device& device = Device::cpu()) {
  return choose_plan(matrix.view(), device);
}

}  // namespace heddle
