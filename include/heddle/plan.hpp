// A plan: how a matrix is laid out, how its product is scheduled, and which loop runs a solve.
// Data, with one canonical text; grammar in docs/plans.md.
#pragma once

#include <string>
#include <string_view>

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

enum class RowOrder { natural, reverse_cuthill_mckee };
enum class ColumnOrder { sorted, given };
enum class BasisUse { permuted, scatter };
enum class InnerLayout { aos, soa, aosoa_component, aosoa_16 };
enum class VectorLayout { aos, soa };
enum class StoredScalar { own, single };
enum class ScheduleKind { fixed, dynamic, full };
enum class LoadHint { normal, streaming, no_allocate, evict_first };
enum class LoopForm { stepped, graph, replay, persistent };
enum class KernelLaunch { serial, overlapped };
enum class Recurrence { ring, real };

struct HEDDLE_EXPORT Plan {
  /// "as many as the matrix has rows", for `lanes` and `sort_window`.
  static constexpr Index all_rows = 0;
  static constexpr Index furthest_prefetch_x = 256;

  // Layout; behind each member its letter in the literature.
  Index lanes = 1;        // C: lanes of a slice, 1 to 64, or all_rows
  Index sort_window = 1;  // sigma: rows are sorted by length within windows of so many, or all_rows
  int threads_per_row = 1;  // T: divides C
  Index threshold = 0;      // K2: T doubles until no thread holds more entries than this; 0 = off
  RowOrder order = RowOrder::natural;         // before the sort
  ColumnOrder columns = ColumnOrder::sorted;  // within a row, after renumbering
  BasisUse use = BasisUse::permuted;
  InnerLayout inner = InnerLayout::aos;
  VectorLayout vector = VectorLayout::aos;
  StoredScalar stored = StoredScalar::own;  // in which a solver's iterations read the entries

  // Schedule.
  ScheduleKind schedule = ScheduleKind::fixed;
  Index chunk = 16;              // groups of 256 rows that a thread takes at a time when dynamic
  Index prefetch_x = 48;         // entries ahead whose part of x is prefetched
  Index prefetch_matrix = 4096;  // bytes ahead at which the entries themselves are

  // On a GPU.
  int threads = 256;  // n_t: threads of a block, 2^i or 3 * 2^i from 64 to 1024, not 96
  int blocks = 0;     // n_b: blocks for which a multiprocessor has the registers; 0 = as they come
  int unroll = 2;     // entries of a row that a thread loads before it needs the first, 1 to 8
  LoadHint load = LoadHint::normal;  // how the matrix is loaded
  int kept = 0;  // under load=evict-first, percent of the matrix that are to stay in L2

  // Solve.
  LoopForm loop = LoopForm::stepped;
  KernelLaunch launch = KernelLaunch::serial;  // of a graph's kernels, one behind the other
  int reductions = 2;  // of conjugate gradient in a graph, an iteration: 2 or 1
  int passes = 2;      // with two reductions, kernels over vectors: 2 or 1
  Recurrence recurrence = Recurrence::ring;  // BiCGStab's coefficients: the entry's ring, or real

  bool operator==(const Plan&) const = default;
};

/// Parses "NAME", "key=value,..." or "NAME,key=value,...", where NAME is one of the papers': CSR,
/// ELL, Sl-16, Sl-32, pJDS, K1, K1r, K1rs, K2, K2r, K2rs. What is not said takes its default.
/// Throws `Error` (bad_plan) that names the key.
HEDDLE_EXPORT Plan parse_plan(std::string_view text);
/// Parses "key=value,..."; what is not said is as in `base`, but for `blocks`, which belongs to the
/// `threads` that it was chosen with: other threads without blocks have no bound.
HEDDLE_EXPORT Plan parse_plan(std::string_view text, const Plan& base);

/// The canonical text: every key in a fixed order; `parse_plan` of it gives the plan back.
HEDDLE_EXPORT std::string to_string(const Plan& plan);

/// The same as a JSON object with the same keys, and back.
HEDDLE_EXPORT std::string to_json(const Plan& plan);
HEDDLE_EXPORT Plan plan_from_json(std::string_view json);

/// A form of the loop as plans and reports name it.
HEDDLE_EXPORT std::string_view name(LoopForm loop);

/// Throws unless the parameters have a meaning together. `parse_plan` calls it.
HEDDLE_EXPORT void check_plan(const Plan& plan);

/// What `plan` says of how a matrix is stored, all else as plans have it by default.
HEDDLE_EXPORT Plan layout_of(const Plan& plan);
/// Whether two plans store a matrix alike, so that one build serves both: the same in all that
/// docs/plans.md calls layout.
HEDDLE_EXPORT bool same_layout(const Plan& a, const Plan& b);

}  // namespace heddle
