// Sliced storage: CSR, ELLPACK-R, Sliced ELLPACK, SELL-C-sigma, pJDS and ELL-WARP as one structure.
//
// Rows, in storage order, are cut into slices of C lanes. A slice holds C / T rows, T lanes each,
// and is padded to its longest lane. Entry j of its r-th row lies in step j / T, lane r T + j mod
// T; the slot of step s is offset + s C. C = 1 is CSR, C = n ELLPACK-R.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "heddle/basis.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// The user's entries in the order of their slots, 32 bits each where that suffices; empty if slot
/// i holds entry i.
class HEDDLE_EXPORT EntryMap {
 public:
  static constexpr Offset padding = -1;

  EntryMap() = default;
  /// All slots are padding.
  EntryMap(Offset entries, Offset slots, const Device& device);

  bool is_identity() const { return narrow_.empty() && wide_.empty(); }
  /// The entry that a slot holds, or `padding`.
  Offset operator[](Offset slot) const {
    const auto i = static_cast<std::size_t>(slot);
    if (narrow_.empty()) return wide_.empty() ? slot : wide_[i];
    return narrow_[i] == narrow_padding ? padding : narrow_[i];
  }
  void set(Offset slot, Offset entry) {
    const auto i = static_cast<std::size_t>(slot);
    if (narrow_.empty()) {
      wide_[i] = entry;
    } else {
      narrow_[i] = static_cast<unsigned>(entry);
    }
  }
  static long long bytes(Offset entries, Offset slots) {
    return slots * (entries <= narrow_padding ? 4 : 8);
  }

  /// The arrays of either width; the one that is not used is empty.
  const unsigned* narrow() const { return narrow_.data(); }
  const Offset* wide() const { return wide_.data(); }
  unsigned* narrow() { return narrow_.data(); }
  Offset* wide() { return wide_.data(); }

 private:
  static constexpr unsigned narrow_padding = 0xffffffff;

  Array<unsigned> narrow_;
  Array<Offset> wide_;
};

/// Bytes of a stored entry, and of the narrower copy of it that a plan adds under an
/// iteration-precision other than full.
struct HEDDLE_EXPORT EntryBytes {
  EntryBytes(int bytes, int of_copy = 0, int trailing_bytes_of_copy = 0)
      : own(bytes), copy(of_copy), trailing(trailing_bytes_of_copy) {}
  int own;
  int copy;
  int trailing;  // after the copy's last slot: a scale, or, from the next 16 bytes on, a table

  long long copies(Offset slots) const {
    constexpr long long alignment = 16;
    const long long entries = slots * copy;
    return trailing < alignment ? entries + trailing
                                : (entries + alignment - 1) / alignment * alignment + trailing;
  }
};

/// Bytes of each part of a matrix in some layout, known before it is built.
struct HEDDLE_EXPORT MemoryUse {
  long long values = 0;
  long long copy = 0;  // a narrower copy of the values
  long long columns = 0;
  long long short_columns = 0;  // in addition: 16 bits a slot, and the base of each slice
  long long slices = 0;         // offsets, and rows and threads of each slice where they vary
  long long row_lengths = 0;    // none for C = 1, where the offsets give them
  long long permutation = 0;    // the basis, or the rows that a scatter stores to
  long long value_map = 0;      // for update_values; none where the user's order is kept
  long long building = 0;       // along with the columns while they are built, on a GPU; then freed
  long long sorting = 0;        // before all others, while rows are sorted, on a GPU
  Offset slots = 0;             // entries with padding
  Offset short_slots = 0;       // those whose column a product reads in 16 bits

  /// Bytes that a product without the copy reads: for each slot, only one of its columns.
  long long product() const {
    const long long unread = short_columns > 0
                                 ? short_slots * static_cast<long long>(sizeof(Index)) +
                                       (slots - short_slots) * static_cast<long long>(sizeof(short))
                                 : 0;
    return values + columns + short_columns - unread + slices + row_lengths;
  }
  long long total() const {
    return values + columns + short_columns + slices + row_lengths + copy + permutation + value_map;
  }
  /// The most at any time; values come after the building. On a GPU, values in host memory pass
  /// through a buffer of up to 64 MiB or a 32nd of them, which is the host's if the GPU's memory is
  /// short.
  long long peak() const {
    return std::max(sorting, total() + std::max(0LL, building - values - copy));
  }
};

/// An exact account in one pass over the row lengths, on the host; a pattern in a GPU's memory is
/// copied. For `Operator<E>`, `entry_bytes` is its `entry_bytes(plan)`.
HEDDLE_EXPORT MemoryUse memory_use(const PatternView& pattern, const Plan& plan,
                                   EntryBytes entry_bytes, const Device& device);

/// One line: the parts in readable units.
HEDDLE_EXPORT std::string to_string(const MemoryUse& use);

/// Throws (kind memory) if the peak of `use` exceeds `limit` bytes: reports what each part needs,
/// and which of the plans CSR, Sl-32, pJDS would fit.
HEDDLE_EXPORT void check_memory(const MemoryUse& use, long long limit, const PatternView& pattern,
                                EntryBytes entry_bytes, const Device& device);

/// On a GPU, where rows are sorted before the exact account is known: throws like `check_memory` if
/// not even the entries without padding fit, before anything is allocated. `memory_limit` as for
/// `SlicedPattern::build`.
HEDDLE_EXPORT void check_min_memory(const PatternView& pattern, const Plan& plan, int entry_bytes,
                                    const Device& device,
                                    const std::optional<long long>& memory_limit);

/// The immutable pattern of a matrix in sliced storage; several matrices may share one.
class HEDDLE_EXPORT SlicedPattern {
 public:
  /// Rows and columns are numbered in the given bases. With basis=permuted rows are stored in the
  /// order of `row_basis`; with basis=user they are sorted further, and the product stores each
  /// result where the row basis has its row. Allocates after the memory check: `memory_limit` in
  /// bytes, by default what the device has available.
  static std::shared_ptr<const SlicedPattern> build(const PatternView& pattern, const Plan& plan,
                                                    std::shared_ptr<const Basis> row_basis,
                                                    std::shared_ptr<const Basis> column_basis,
                                                    EntryBytes entry_bytes, const Device& device,
                                                    std::optional<long long> memory_limit = {});

  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;
  Offset slots = 0;
  Index C = 1;
  int T = 1;  // where it is the same for all slices
  std::shared_ptr<const Basis> row_basis;
  std::shared_ptr<const Basis> column_basis;

  Array<Offset> offset;                // slices + 1, in slots
  Array<Index> first_row;              // slices + 1; only where T varies
  Array<unsigned char> threads;        // T of each slice; only where it varies
  Array<Index> row_length;             // for each stored row; empty for C = 1
  Array<Index> column;                 // for each slot, in the column basis; padding holds 0
  Array<unsigned short> short_column;  // for each slot, from its slice's base; empty for 32 bits
  Array<Index> column_base;            // for each slice, its least column; see short_columns.hpp
  Array<Index> target;     // row of y for each stored row; empty where it is the row itself
  EntryMap entry_of_slot;  // the user's entry that lies there
  MemoryUse memory;

  Index slices() const { return static_cast<Index>(offset.size()) - 1; }
  int threads_of(Index slice) const {
    return threads.empty() ? T : threads[static_cast<std::size_t>(slice)];
  }
  Index first_row_of(Index slice) const {
    return first_row.empty() ? static_cast<Index>(static_cast<Offset>(slice) * (C / T))
                             : first_row[static_cast<std::size_t>(slice)];
  }
  /// The slice that holds a stored row.
  Index slice_of(Index row) const;

  /// The slices for index arithmetic, in the memory where the arrays lie.
  SlicesView view() const {
    return {C, T, slices(), offset.data(), first_row.data(), threads.data()};
  }

  /// Columns that are readable past the last slot, so that a prefetch needs no test.
  static constexpr Index column_slack = CpuSchedule::furthest_prefetch_x;
};

/// Columns for a product of the stored rows [begin, end) on a CPU: [slot] is the column of one of
/// their slots, or any column for up to `ahead` slots after them. Columns of 16 bits are expanded
/// to 32 in memory of the calling thread, which lasts until its next call.
HEDDLE_EXPORT const Index* columns_of_rows(const SlicedPattern& A, Index begin, Index end,
                                           Index ahead);

/// The slot of the diagonal entry of each row, -1 where there is none; rows as the row basis
/// numbers them, in the memory in which the pattern lies. Throws where the pattern is not square.
HEDDLE_EXPORT Array<Offset> diagonal_slots(const SlicedPattern& A);

/// The slot of each of the user's entries, in the memory in which the pattern lies.
HEDDLE_EXPORT Array<Offset> slots_of_entries(const SlicedPattern& A);

/// P of the slot formula: components that lie together in one lane.
inline int components_of_piece(InnerLayout inner, int K, int scalar_bytes) {
  constexpr int vector_bytes = 16;
  if (inner == InnerLayout::aos) return K;
  if (inner == InnerLayout::aosoa_16) return std::max(1, vector_bytes / scalar_bytes);
  return 1;
}

/// The slot formula of entries of K scalars, see entries/slots.hpp.
inline SlotRule slot_rule(InnerLayout inner, int K, Index C, Offset slots, int scalar_bytes) {
  return {K, components_of_piece(inner, K, scalar_bytes), C, inner == InnerLayout::soa, slots};
}

/// The constants of the slot formula, in a table.
template <int K>
SlotFormula<K> slot_formula(InnerLayout inner, Index C, Offset slots, int scalar_bytes) {
  const SlotRule rule = slot_rule(inner, K, C, slots, scalar_bytes);
  SlotFormula<K> formula{};
  formula.step_scale = rule.step_scale();
  for (int k = 0; k < K; ++k) {
    formula.lane_scale[k] = rule.lane_scale(k);
    formula.base[k] = rule.base(k);
  }
  return formula;
}

}  // namespace heddle
