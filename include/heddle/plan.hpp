// A plan: how a matrix is laid out, how its product is scheduled, and which loop runs a solve. It
// is data with one canonical text; docs/reference/plans.md has the grammar.
#pragma once

#include <string>
#include <string_view>

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

enum class RowOrder { natural, reverse_cuthill_mckee };
enum class ColumnOrder { sorted, given };
enum class BasisUse { permuted, user };
enum class InnerLayout { aos, soa, aosoa_component, aosoa_16 };
enum class VectorLayout { aos, soa };
enum class StoredScalar { own, single, half, bfloat, scaled, dictionary, unit };
enum class ScheduleKind { fixed, dynamic, full };
enum class LoadHint { normal, streaming, no_allocate, evict_first };
enum class LoopForm { stepped, graph, replay, persistent };
enum class KernelLaunch { serial, overlapped };
enum class Recurrence { ring, real };

/// How a matrix is stored; comments give each member's letter in the literature. One build serves
/// all plans whose layouts are equal.
struct Layout {
  /// "as many as the matrix has rows", for `lanes` and `sort_window`.
  static constexpr Index all_rows = 0;

  Index lanes = 1;          // C: lanes of a slice, 1 to 64, or all_rows
  Index sort_window = 1;    // sigma: size of the windows that are sorted by row length, or all_rows
  int threads_per_row = 1;  // T: divides C
  Index threshold = 0;      // K2: T doubles until no thread holds more entries than this; 0 = off
  RowOrder order = RowOrder::natural;         // before the sort
  ColumnOrder columns = ColumnOrder::sorted;  // within a row, after renumbering
  BasisUse basis = BasisUse::permuted;  // vectors: in the basis of the stored rows, or the user's
  InnerLayout inner = InnerLayout::aos;
  VectorLayout vector = VectorLayout::aos;
  StoredScalar stored = StoredScalar::own;  // scalars in which iterations read the entries
  int column_bits = 32;  // bits of a column as products read it: 16 if all of a slice allow it

  bool operator==(const Layout&) const = default;
};

/// How a product is divided among the threads of a CPU or the blocks of a GPU.
struct Schedule {
  ScheduleKind kind = ScheduleKind::fixed;
  Index chunk = 16;  // groups of 256 rows that a thread takes at a time when dynamic

  bool operator==(const Schedule&) const = default;
};

/// A product on a CPU.
struct CpuSchedule {
  static constexpr Index furthest_prefetch_x = 256;

  Index prefetch_x = 48;         // entries ahead whose part of x is prefetched; 0: none
  Index prefetch_matrix = 4096;  // bytes ahead at which the entries are prefetched

  bool operator==(const CpuSchedule&) const = default;
};

/// A product on a GPU.
struct GpuSchedule {
  int block_size = 256;  // n_t: threads of a block, a multiple of 32 to 256, or 384, 512, 768, 1024
  int blocks = 0;        // n_b: blocks for which a multiprocessor has registers; 0: not bounded
  int unroll = 2;        // entries of a row that a thread loads before it needs the first, 1 to 8
  LoadHint load = LoadHint::normal;  // how the matrix is loaded
  int l2_percent = 0;                // share of the matrix to keep in L2 under load=evict-first

  bool operator==(const GpuSchedule&) const = default;
};

/// The loop of a solve.
struct Loop {
  LoopForm form = LoopForm::stepped;
  KernelLaunch launch = KernelLaunch::serial;  // launch of a graph's kernels, one after the other
  bool single_reduction = false;               // for conjugate gradient: once per iteration
  bool fused_updates = false;                  // two vector updates in one kernel
  Recurrence recurrence = Recurrence::ring;    // for BiCGStab and GMRES: the entry's ring, or real

  bool operator==(const Loop&) const = default;
};

/// True if a copy is the matrix itself, to the last digits, so that runs on it go to the end.
constexpr bool is_exact(StoredScalar stored) {
  return stored == StoredScalar::dictionary || stored == StoredScalar::unit;
}
/// True if a copy has words of 16 bits.
constexpr bool is_in_words(StoredScalar stored) {
  return stored == StoredScalar::half || stored == StoredScalar::bfloat ||
         stored == StoredScalar::scaled;
}

struct Plan {
  Layout layout = {};
  Schedule schedule = {};
  CpuSchedule cpu = {};
  GpuSchedule gpu = {};
  Loop loop = {};

  bool operator==(const Plan&) const = default;
};

/// Parses "NAME", "key=value,..." or "NAME,key=value,...", where NAME is one of the papers': CSR,
/// ELL, Sl-16, Sl-32, pJDS, K1, K1r, K1rs, K2, K2r, K2rs. Keys that are not given take their
/// defaults. Earlier spellings (docs/reference/plans.md) are accepted. Throws `Error` (bad_plan)
/// that names the key.
HEDDLE_EXPORT Plan parse_plan(std::string_view text);
/// Parses "key=value,..."; keys that are not given are as in `base`, except for `blocks`, which
/// belongs to the `block-size` that it was chosen with: another block size without blocks has no
/// bound.
HEDDLE_EXPORT Plan parse_plan(std::string_view text, const Plan& base);

/// The canonical text: the keys that differ from `Plan{}`, in a fixed order, or "CSR" if none does.
/// `parse_plan` of it returns the plan.
HEDDLE_EXPORT std::string to_string(const Plan& plan);
/// The same with every key.
HEDDLE_EXPORT std::string to_full_string(const Plan& plan);

/// A JSON object with every key, and its inverse.
HEDDLE_EXPORT std::string to_json(const Plan& plan);
HEDDLE_EXPORT Plan plan_from_json(std::string_view json);

/// The name of a loop form in plans and reports.
HEDDLE_EXPORT std::string_view name(LoopForm loop);
/// The name that plans give to the form in which iterations read the entries.
HEDDLE_EXPORT std::string_view name(StoredScalar stored);

/// Throws unless the parameters make sense together. `parse_plan` calls it.
HEDDLE_EXPORT void check_plan(const Plan& plan);

}  // namespace heddle
