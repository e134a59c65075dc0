// The ways by which rows that a rank's GPU has gathered reach the halos of other ranks.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "base/cuda_call.hpp"
#include "base/cuda_handles.hpp"
#include "halo.hpp"
#include "heddle/array.hpp"

namespace heddle::cuda {

inline void record(const Event& event, cudaStream_t stream) {
  check(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}
/// An event that was never recorded delays no stream.
inline void wait(cudaStream_t stream, const Event& event) {
  check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

/// The copies of one rank. `turn` alternates between 0 and 1; the GPU has finished what a turn
/// reads and writes before the host begins the same turn again. The calls of a turn, in this order:
class HaloCopies {
 public:
  virtual ~HaloCopies() = default;

  /// Where the rows go that others read: later work on `stream` may put them there.
  virtual void* sent_buffer(unsigned turn, const Stream& stream) = 0;
  /// `stream` has put them there.
  virtual void gathered(unsigned turn, const Stream& stream) = 0;
  /// True if neighbours' hosts meet here. Those that exchange messages then do so.
  virtual bool hosts_meet() const { return true; }
  /// Later work on `stream` finds the rows of others.
  virtual void await_others(unsigned turn, const Stream& stream) = 0;
  /// Copies into the halo, which begins at `halo`.
  virtual void copy(unsigned turn, std::byte* halo, const Stream& stream) = 0;

  /// Bytes on the GPU.
  virtual std::size_t memory() const = 0;
};

/// The copies for `transfer_of(ranks)`. Collective.
std::unique_ptr<HaloCopies> make_halo_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device);
std::unique_ptr<HaloCopies> make_peer_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device);

}  // namespace heddle::cuda
