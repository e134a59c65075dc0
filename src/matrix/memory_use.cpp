#include <algorithm>
#include <vector>

#include "base/text/readable.hpp"
#include "gpu_pattern.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/tools/team.hpp"
#include "short_columns.hpp"
#include "slice_shapes.hpp"

namespace heddle {

namespace {

/// Memory use of a pattern in the host's memory.
MemoryUse use_from_host(const PatternView& pattern, const Plan& plan, EntryBytes entry_bytes,
                        const Device& cpu, bool for_gpu) {
  const Array<Index> order = storage_order(pattern, plan, cpu);
  const bool permuted = plan.layout.basis == BasisUse::permuted;
  MemoryUse use =
      detail::memory_of(pattern, plan, order.span(), entry_bytes,
                        permuted ? 2 * static_cast<long long>(order.size() * sizeof(Index)) : 0,
                        !permuted && !order.empty(),
                        !detail::keeps_order(pattern, plan, !order.empty(), true, cpu.stream()));
  if (plan.layout.column_bits == 16) {
    // Refuses a plan as building would: the columns cannot follow the order of the rows.
    if (permuted && !order.empty() && pattern.rows != pattern.columns) {
      static_cast<void>(Basis::make(pattern, plan, Device::cpu()));
    }
    std::vector<Index> position(permuted ? order.size() : 0);
    for (std::size_t i = 0; i < position.size(); ++i) {
      position[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
    }
    use.short_slots = detail::short_slots(pattern, plan, order.span(), position, for_gpu);
  }
  return use;
}

}  // namespace

MemoryUse memory_use(const PatternView& pattern, const Plan& plan, EntryBytes entry_bytes,
                     const Device& device) {
  check_plan(plan);
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      const cuda::HostPattern host(pattern, device.stream());
      MemoryUse use =
          use_from_host(host.view(), plan, entry_bytes, Device::cpu(device.threads()), true);
      const long long order_bytes = plan.layout.basis == BasisUse::user ? use.permutation : 0;
      use.building = cuda::building_bytes(pattern, host.view(), order_bytes, device.stream());
      use.sorting = cuda::sorting_bytes(pattern, plan, device.stream());
      return use;
    }
  }
  return use_from_host(pattern, plan, entry_bytes, device, false);
}

namespace detail {

MemoryUse memory_of(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                    EntryBytes entry_bytes, long long basis_bytes, bool scatters,
                    bool maps_values) {
  const Index C = lanes_of(pattern, plan);
  Offset slots = 0;
  Offset slices = 0;
  for_each_slice(pattern, plan, order, [&](const SliceShape& slice) {
    slots += static_cast<Offset>(slice.steps) * C;
    ++slices;
  });
  return account_of(pattern.rows, pattern.entries(), plan, C, slices, slots, entry_bytes,
                    basis_bytes, scatters, maps_values);
}

MemoryUse account_of(Index rows, Offset entries, const Plan& plan, Index C, Offset slices,
                     Offset slots, EntryBytes entry_bytes, long long basis_bytes, bool scatters,
                     bool maps_values) {
  const long long bytes_a_row = rows * static_cast<long long>(sizeof(Index));
  MemoryUse use;
  use.slots = slots;
  use.values = slots * entry_bytes.own;
  use.copy = entry_bytes.copy > 0 ? entry_bytes.copies(slots) : 0;
  use.columns = (slots + SlicedPattern::column_slack) * static_cast<long long>(sizeof(Index));
  if (plan.layout.column_bits == 16) {
    use.short_columns = slots * static_cast<long long>(sizeof(unsigned short)) +
                        slices * static_cast<long long>(sizeof(Index));
  }
  use.slices = (slices + 1) * static_cast<long long>(sizeof(Offset));
  if (plan.layout.threshold != 0) {
    use.slices += (slices + 1) * static_cast<long long>(sizeof(Index)) + slices;
  }
  use.row_lengths = C == 1 ? 0 : bytes_a_row;
  use.permutation = basis_bytes + (scatters ? bytes_a_row : 0);
  use.value_map = maps_values ? EntryMap::bytes(entries, slots) : 0;
  return use;
}

}  // namespace detail

std::string to_string(const MemoryUse& use) {
  return readable_bytes(use.total()) + " (values " + readable_bytes(use.values) +
         (use.copy > 0 ? ", copy of values " + readable_bytes(use.copy) : "") + ", columns " +
         readable_bytes(use.columns) +
         (use.short_columns > 0 ? ", short columns " + readable_bytes(use.short_columns) : "") +
         ", slices " + readable_bytes(use.slices) + ", row lengths " +
         readable_bytes(use.row_lengths) + ", permutation " + readable_bytes(use.permutation) +
         ", value map " + readable_bytes(use.value_map) + ")" +
         (use.peak() > use.total()
              ? " and " + readable_bytes(use.peak() - use.total()) + " more while it is built"
              : "");
}

void check_memory(const MemoryUse& use, long long limit, const PatternView& pattern,
                  EntryBytes entry_bytes, const Device& device) {
  if (use.peak() <= limit) return;
  std::string fitting;
  for (const char* name : {"CSR", "Sl-32", "pJDS"}) {
    if (pattern.rows != pattern.columns && std::string(name) == "pJDS") continue;
    const MemoryUse other = memory_use(pattern, parse_plan(name), entry_bytes, device);
    if (other.peak() <= limit) {
      fitting += std::string(fitting.empty() ? "" : ", ") + name + " (" +
                 readable_bytes(other.total()) + ")";
    }
  }
  throw Error(ErrorKind::memory, "this plan needs " + to_string(use) + ", available are " +
                                     readable_bytes(limit) + "; " +
                                     (fitting.empty() ? "no plan fits" : "these fit: " + fitting));
}

void check_min_memory(const PatternView& pattern, const Plan& plan, int entry_bytes,
                      const Device& device, const std::optional<long long>& memory_limit) {
  if constexpr (has_cuda) {
    if (!device.on_gpu()) return;
    check_plan(plan);
    const long long limit = memory_limit.value_or(device.available_memory());
    const Stream& stream = device.stream();
    const Offset entries = cuda::entries_of(pattern, stream);
    const MemoryUse least{.values = entries * entry_bytes,
                          .columns = entries * static_cast<long long>(sizeof(Index)),
                          .row_lengths = pattern.rows * static_cast<long long>(sizeof(Index)),
                          .building = cuda::StagedPattern::bytes(pattern, entries),
                          .sorting = cuda::sorting_bytes(pattern, plan, stream)};
    if (least.peak() <= limit) return;
    // The account trusts the pattern, which has not been checked yet.
    const cuda::HostPattern with_offsets(pattern, stream, false);
    const OffsetsView& offsets = with_offsets.view().offsets;
    for (Index row = 0; row < pattern.rows; ++row) {
      if (offsets[row + 1] < offsets[row]) return;  // `check_pattern` on the GPU will report it
    }
    const cuda::HostPattern host(pattern, stream);
    check_pattern(host.view(), Device::cpu(device.threads()));
    check_memory(memory_use(pattern, plan, entry_bytes, device), limit, pattern, entry_bytes,
                 device);
  }
}

}  // namespace heddle
