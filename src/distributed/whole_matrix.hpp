// A distributed matrix as a whole on rank 0, and rows of matrices on their way from there to the
// ranks that have them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/distributed_operator.hpp"

namespace heddle::detail {

/// A copy from which one rank sets something up for all, in its host's memory.
template <class S>
class WholeMatrix {
 public:
  /// Gathers the rows. `plan`: that of the copy. The matrix must outlive it. Collective.
  WholeMatrix(const DistributedOperator<S>& matrix, const Plan& plan);

  bool is_root() const { return ranks_.rank() == 0; }
  /// All rows in their order; only on rank 0.
  const SlicedOperator<S>& stored() const { return *stored_; }
  /// The host, with the threads of all ranks that share them.
  const Device& host() const { return host_; }

  /// If some rank has new values: gathers them and calls `follow` on all ranks. They count as new
  /// until that has returned. Collective.
  void refresh(const std::function<void()>& follow);

 private:
  void gather_rows();
  std::vector<std::byte> values_of_all(std::span<const std::byte> own);

  const DistributedOperator<S>& matrix_;
  Communicator& ranks_;
  Plan plan_;
  Device host_;
  std::vector<Offset> offsets_;
  std::optional<SlicedOperator<S>> stored_;
  long long generation_ = -1;
};

/// This rank's rows of a matrix of rank 0; `whole` is null on the others. Collective.
RankRows rows_from_root(Communicator& ranks, const Partition& partition, const PatternView* whole);
/// The matrix's values, `bytes` bytes each, from those of all rows. Collective.
std::vector<std::byte> values_from_root(Communicator& ranks, const Partition& partition,
                                        const PatternView* whole, std::span<const std::byte> values,
                                        std::size_t bytes);

}  // namespace heddle::detail
