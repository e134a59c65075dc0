// The exchange of halos between ranks that are on GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/cuda_handles.hpp"
#include "halo.hpp"
#include "halo_copies_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/rank_exchange.hpp"

namespace heddle::cuda {

/// A kernel gathers the rows that other ranks need, and `HaloCopies` bring theirs. Copies and
/// kernels are ordered by events. The hosts of neighbours meet at each exchange, so that none
/// queues work that waits for a failed rank. A host is at most two products ahead of its GPU, whose
/// times it reads then. Defined in builds with CUDA.
class DeviceExchange {
 public:
  /// Collective. `row_bytes`: bytes of a row of x.
  DeviceExchange(Communicator& ranks, const detail::Halo& halo, std::size_t row_bytes,
                 const Device& device);
  /// Waits for the work that it has queued.
  ~DeviceExchange();
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  // The steps of one product, in this order; `main` is the stream of its kernels.

  /// Gathers the rows of x that other ranks read.
  void gather(const void* x, const Stream& main);
  /// Waits until the other ranks have gathered too, as far as their hosts know.
  void meet();
  /// Copies into the halo: on the stream of the kernels, or on another one if `is_concurrent`.
  void fetch(std::byte* halo, bool is_concurrent, const Stream& main);
  /// Later work on `main` finds the halo there.
  void await(const Stream& main);
  /// Used instead of `await`: the interior rows on `main` end here, work queued on `other_stream`
  /// finds x, and after `fetch` the halo, and `main` has all of that after `join`.
  void mark_interior(const Stream& main);
  Stream other_stream(const Stream& main);
  void join(const Stream& main);
  /// Only work on `main` up to here reads the halo.
  void finish(const Stream& main);

  /// Adds the seconds on the GPU of the products that are over.
  void add_times(RankTimes& times);
  long long memory() const;

 private:
  struct Turn;

  void make_tokens(const detail::Halo& halo);
  bool has_neighbours() const { return !tokens_.empty(); }
  void add_times(Turn& turn);

  Communicator& ranks_;
  std::size_t row_bytes_;
  Device device_;
  Array<Index> sent_rows_;
  std::unique_ptr<HaloCopies> copies_;
  std::vector<Message<const std::byte>> tokens_;
  std::vector<Message<std::byte>> taken_tokens_;
  std::vector<std::byte> token_bytes_;
  std::unique_ptr<Turn[]> turns_;  // two
  OwnedStream other_;
  unsigned round_ = 0;
  RankTimes times_;
};

}  // namespace heddle::cuda
