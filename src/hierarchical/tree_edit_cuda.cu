// Edits on a GPU: sorted into the order of a walk over the tree, as on a CPU. Edits of entries make
// new leaves, and each new leaf is an edit of its parent.
#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/error.hpp"
#include "merged_nodes_cuda.hpp"
#include "moved_pools_cuda.hpp"
#include "pool_merging.hpp"
#include "staged_entries_cuda.hpp"
#include "touched_levels_cuda.cuh"

namespace heddle::cuda {

namespace {

using heddle::detail::EditAction;
using heddle::detail::PlacedEdit;
using heddle::detail::Tree;

struct FewAddresses {
  static constexpr std::size_t most = 64;
  unsigned long long of_pool[most];
};

/// Copies addresses to a GPU's memory. A few come with a kernel's arguments, for which the host
/// does not wait.
UnsetArray<unsigned long long> on_gpu(std::span<const unsigned long long> addresses,
                                      const Device& device) {
  UnsetArray<unsigned long long> there(addresses.size(), device);
  if (addresses.size() > FewAddresses::most) {
    heddle::detail::copy_bytes(there.data(), addresses.data(), addresses.size_bytes(),
                               device.stream());
    return there;
  }
  FewAddresses few{};
  std::ranges::copy(addresses, few.of_pool);
  for_each_index(device.stream(), static_cast<Offset>(addresses.size()),
                 [few, to = there.data()] __device__(Offset i) { to[i] = few.of_pool[i]; });
  return there;
}

/// An edit of a tree: all levels are counted, which gives the bytes of the new pool, and then
/// written.
class EditOnGpu {
 public:
  /// `work`: for temporary arrays, on the stream of the matrix.
  EditOnGpu(const TreeOnGpu& matrix, const UnsetArray<PlacedEdit>& edits, const Device& work)
      : device_(matrix.device()),
        work_(work),
        before_(matrix.matrix().tree()),
        edits_(edits),
        levels_(heddle::detail::levels_of(before_.rows, before_.columns, before_.leaf.log2_size)),
        pools_(on_gpu(matrix.addresses(), work)),
        touched_(before_, levels_, edits, work),
        result_(before_),
        addresses_(matrix.addresses().begin(), matrix.addresses().end()) {}

  Tree carry_out(const void* values, PayloadWord word) {
    count();
    write(values, word);
    heddle::detail::merge_if_memory_is_there(
        result_, [&] { merge_pools_on_gpu(result_, addresses_, device_); });
    device_.synchronize();  // so that other streams find it there too
    return std::move(result_);
  }

 private:
  void refuse(const EditFaults& faults) {
    if (faults.malformed != 0) {
      std::vector<PlacedEdit> edits(edits_.size());
      heddle::detail::copy_bytes(edits.data(), edits_.data(), edits.size() * sizeof(PlacedEdit),
                                 work_.stream());
      heddle::detail::check_edits(before_, edits);
      throw Error(ErrorKind::internal, "GPU and CPU disagree on whether edits are well formed");
    }
    if (faults.missing == 0) return;
    const auto number = static_cast<std::size_t>(~faults.missing);
    heddle::detail::refuse_missing(number, read_value(edits_.data() + number, work_));
  }

  void count() {
    const TreeView view{pools_.data(), before_.root, before_.leaf, levels_, before_.entries == 0};
    const auto [counted, freed] =
        touched_.count(view, static_cast<int>(before_.pools.size()), before_.pools.size());
    refuse(counted.faults);  // nothing was written
    for (int level = 0; level < levels_; ++level) {
      const CountedNodes& nodes = counted.level[level];
      take(nodes, level == 0 ? result_.memory.leaves : result_.memory.inner);
      bytes_ += nodes.bytes_after;
      nodes_.push_back(nodes.nodes);
    }
    result_.entries = result_.memory.leaves.items;
    if (result_.entries > 0) result_.root = counted.root;
    freed_ = freed;
  }

  static void take(const CountedNodes& counted, NodeCounts& counts) {
    for (int kind = 0; kind < node_kinds; ++kind) {
      counts.of_kind[static_cast<std::size_t>(kind)] += counted.more[kind];
    }
    counts.items += counted.more_items;
    counts.bytes += counted.bytes_after - counted.bytes_before;
  }

  void write(const void* values, PayloadWord word) {
    auto bytes = std::make_shared<Array<std::byte>>(static_cast<std::size_t>(bytes_), device_);
    write_merged(touched_.nodes(), nodes_, pools_.data(), values, word, bytes->data(), work_);
    for (std::size_t pool = 0; pool < freed_.size(); ++pool) {
      heddle::detail::PoolShare& share = result_.pools[pool];
      share.used -= static_cast<long long>(freed_[pool]);
      if (share.used == 0) share.pool = nullptr;
    }
    addresses_.push_back(reinterpret_cast<unsigned long long>(bytes->data()));
    result_.pools.push_back({nullptr, bytes_});
    if (bytes_ > 0) {
      result_.pools.back().pool = std::make_shared<heddle::detail::Pool>(std::move(bytes));
    }
  }

  Device device_;
  Device work_;
  const Tree& before_;
  const UnsetArray<PlacedEdit>& edits_;
  int levels_;
  UnsetArray<unsigned long long> pools_;
  TouchedLevels touched_;
  std::vector<Offset> nodes_;              // touched on each level
  std::vector<unsigned long long> freed_;  // bytes of each pool
  Offset bytes_ = 0;                       // in the new pool
  Tree result_;
  std::vector<unsigned long long> addresses_;
};

void refuse_many(Offset edits) {
  if (edits <= std::numeric_limits<Index>::max()) return;
  throw Error(ErrorKind::unsupported,
              "a GPU makes fewer than 2^31 edits at once, not " + std::to_string(edits));
}

/// The scalars that sums add, if they are numbers.
PayloadWord word_of(int scalar_bytes) {
  return scalar_bytes == int{sizeof(double)} ? PayloadWord::real : PayloadWord::single;
}

template <class Word>
void copy_words(const PayloadsOnGpu& from, Offset count, int entry_bytes, std::byte* to,
                const Stream& stream) {
  const int words = entry_bytes / int{sizeof(Word)};
  for_each_index(stream, count * words,
                 [words, values = static_cast<const Word*>(from.data), order = from.order,
                  to = reinterpret_cast<Word*>(to)] __device__(Offset i) {
                   const auto k = static_cast<int>(i % words);
                   to[i] = values[i - k + (order != nullptr ? order[k] : k)];
                 });
}

void copy_values(const EditsToMake& edits, int entry_bytes, std::byte* to, const Device& device) {
  if (edits.action == EditAction::remove || edits.count == 0) return;
  const StagedEntries staged(edits.entries, edits.count, entry_bytes, device);
  const PayloadsOnGpu from = staged.payloads();
  if (from.word_bytes == sizeof(double)) {
    copy_words<unsigned long long>(from, edits.count, entry_bytes, to, device.stream());
  } else {
    copy_words<unsigned>(from, edits.count, entry_bytes, to, device.stream());
  }
  wait_before_memory_goes_back(device);
}

/// Indices where kernels can read them.
class StagedIndices {
 public:
  StagedIndices(const Index* from, Offset count, const Device& device) : data_(from) {
    if (count == 0 || is_device_memory(from, device.stream())) return;
    copied_ = Array<Index>(std::span(from, static_cast<std::size_t>(count)), device);
    data_ = copied_.data();
  }
  const Index* data() const { return data_; }

 private:
  const Index* data_;
  Array<Index> copied_;
};

}  // namespace

Tree edited_tree(const TreeOnGpu& matrix, std::span<const EditsToMake> edits) {
  const int entry_bytes = matrix.matrix().tree().leaf.payload_bytes;
  Offset count = 0;
  for (const EditsToMake& part : edits) count += part.count;
  if (count == 0) return matrix.matrix().tree();
  refuse_many(count);
  const TemporaryMemory space(matrix.device());
  const Device& work = space.device();
  UnsetArray<PlacedEdit> places(static_cast<std::size_t>(count), work);
  UnsetArray<std::byte> values(static_cast<std::size_t>(count * entry_bytes), work);
  Offset first = 0;
  for (const EditsToMake& part : edits) {
    const StagedIndices row(part.row, part.count, work), column(part.column, part.count, work);
    for_each_index(
        work.stream(), part.count,
        [row = row.data(), column = column.data(), action = part.action,
         to = places.data() + first] __device__(Offset i) { to[i] = {row[i], column[i], action}; });
    copy_values(part, entry_bytes, values.data() + first * entry_bytes, work);
    wait_before_memory_goes_back(work);
    first += part.count;
  }
  const int scalar_bytes = edits.front().entries.scalar_bytes;
  return EditOnGpu(matrix, places, work).carry_out(values.data(), word_of(scalar_bytes));
}

Tree edited_tree(const TreeOnGpu& matrix, std::span<const PlacedEdit> edits,
                 const std::byte* values, int scalar_bytes) {
  if (edits.empty()) return matrix.matrix().tree();
  refuse_many(static_cast<Offset>(edits.size()));
  const TemporaryMemory space(matrix.device());
  const Device& work = space.device();
  const auto bytes = static_cast<std::size_t>(matrix.matrix().tree().leaf.payload_bytes);
  UnsetArray<PlacedEdit> places(edits.size(), work);
  heddle::detail::copy_bytes(places.data(), edits.data(), edits.size_bytes(), work.stream());
  const Array<std::byte> there(std::span(values, edits.size() * bytes), work);
  return EditOnGpu(matrix, places, work).carry_out(there.data(), word_of(scalar_bytes));
}

}  // namespace heddle::cuda
