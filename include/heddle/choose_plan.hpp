// The plan for a matrix on a device, chosen without measuring.
#pragma once

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"
#include "heddle/tuning/device_properties.hpp"
#include "heddle/tuning/entry_size.hpp"
#include "heddle/tuning/objective.hpp"

namespace heddle {

/// A rule of thumb from the measurements in docs/inside/tried.md; it measures nothing itself.
/// `iteration-precision=single` needs entries in double precision. The plan suits the loops of
/// solvers, and may not be the fastest for products alone.
HEDDLE_EXPORT Plan choose_plan(const PatternView& pattern, const EntrySize& entry,
                               const Device& device, StoredScalar stored = StoredScalar::own,
                               Objective objective = {});

/// Memory near a GPU's processors, in bytes; the defaults are those of the measured GPU.
struct HEDDLE_EXPORT NearMemory {
  double last_cache = 62914560;
  int multiprocessors = 132;
  int shared_memory_of_block = 232448;

  /// Falls back to the defaults where the system does not report the values.
  static NearMemory of(const DeviceProperties& gpu);
};

/// The same for a GPU that need not be present.
HEDDLE_EXPORT Plan choose_plan_for_gpu(const PatternView& pattern, const EntrySize& entry,
                                       StoredScalar stored = StoredScalar::own,
                                       Objective objective = {}, const NearMemory& memory = {});

/// The same for a CPU team of `threads` threads.
HEDDLE_EXPORT Plan choose_plan_for_cpu(const PatternView& pattern, const EntrySize& entry,
                                       int threads, StoredScalar stored = StoredScalar::own);

template <class E>
Plan choose_plan(const CsrView<E>& matrix, const Device& device = Device::cpu(),
                 Objective objective = {}) {
  return choose_plan(matrix.pattern(), EntrySize::of<E>(), device, StoredScalar::own, objective);
}
template <class E>
Plan choose_plan(const CsrMatrix<E>& matrix, const Device& device = Device::cpu(),
                 Objective objective = {}) {
  return choose_plan(matrix.view(), device, objective);
}

}  // namespace heddle
