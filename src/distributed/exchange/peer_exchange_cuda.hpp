// The exchange of halos by kernels alone, so that a graph may hold it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/cuda_call.hpp"
#include "base/cuda_handles.hpp"
#include "halo.hpp"
#include "heddle/array.hpp"
#include "heddle/rank_exchange.hpp"

namespace heddle::cuda {

/// The rows for one neighbour.
struct PeerPart {
  Index first, count;
  std::byte* to[2];  // in its memory
  unsigned* flag;    // this rank's round, there too
};

/// Nanoseconds of the GPU's clock.
struct ExchangeClock {
  unsigned long long begin, arrived, multiplied;
  unsigned long long of_products, of_exchanges, of_waits;  // sums
};

/// A kernel stores the rows that others need in their memory, and then the number of the round.
/// Then it waits for those of all neighbours. Two buffers take turns: whoever fills one again has
/// seen, one exchange before, that each neighbour had read it. So neighbours report their rounds to
/// one another even if one has no rows for the other. Defined in builds with CUDA.
class PeerExchange {
 public:
  /// Collective. `copied_rows`: rows of x that precede the halo in a field that the boundary reads.
  /// `given_up`: that of `RankSums`.
  PeerExchange(Communicator& ranks, const detail::Halo& halo, const Array<Index>& copied_rows,
               std::size_t row_bytes, const int* given_up, const Device& device);
  ~PeerExchange();
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  // The steps of one product, in this order, on streams that are being captured.

  /// A stream on which queued work finds what `main` did before.
  Stream fork(const Stream& main);
  /// Sends the rows of x that other ranks need to these; rows of x, followed by the halo, come into
  /// `boundary_x`.
  void exchange(const void* x, void* boundary_x, const Stream& stream);
  /// Goes before the interior rows: a kernel of one thread, so that work on the stream of `fork`,
  /// which should go first, finds room on the GPU.
  void begin(const Stream& main);
  /// The interior rows on `main` end here.
  void mark_interior(const Stream& main);
  /// Later work on `main` comes after that on the stream of `fork`.
  void join(const Stream& main);
  void finish(const Stream& main);

  /// Adds seconds on the GPU: those of one product in each launch of a graph, which stands for all
  /// of them.
  void add_times(RankTimes& times) const;
  long long memory() const;

 private:
  struct Port;

  void connect(Communicator& ranks, const detail::Halo& halo);
  bool is_timed() const { return *products_ == 1; }

  Device device_;
  std::size_t row_bytes_;
  const Array<Index>& copied_rows_;
  const int* given_up_;
  Index halo_rows_;
  Array<Index> sent_rows_;
  std::vector<std::shared_ptr<Port>> ports_;  // one for each rank
  int rank_;
  Index max_sent_ = 0;  // to one neighbour
  Array<PeerPart> parts_;
  Array<int> neighbours_;
  Array<unsigned> rounds_;  // the last one, and the blocks that have stored rows
  Array<ExchangeClock> clock_;
  Mapped<int> products_;  // in the graph that is being captured, or was last
  unsigned long long capture_ = 0;
  OwnedStream other_;
  Event forked_, joined_;
};

}  // namespace heddle::cuda
