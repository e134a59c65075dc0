// The ways on which rows that a rank's GPU has gathered come into the halos of other ranks.
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
/// One that was never recorded is waited for by nobody.
inline void wait(cudaStream_t stream, const Event& event) {
  check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

/// Of one rank. `turn` is 0 and 1 by turns; what a turn reads and writes, the GPU has done before
/// the host begins the same turn again. The calls of a turn, in this order:
class HaloCopies {
 public:
  virtual ~HaloCopies() = default;

  /// Where the rows go that others read: what `stream` does from here on may put them there.
  virtual void* room(unsigned turn, const Stream& stream) = 0;
  /// `stream` has put them there.
  virtual void gathered(unsigned turn, const Stream& stream) = 0;
  /// Whether neighbours' hosts are to meet here. Those that exchange messages do then.
  virtual bool hosts_meet() const { return true; }
  /// What `stream` does from here on finds the rows of others.
  virtual void await_others(unsigned turn, const Stream& stream) = 0;
  /// Into the halo. `halo`: where it begins.
  virtual void copy(unsigned turn, std::byte* halo, const Stream& stream) = 0;

  /// On the GPU.
  virtual std::size_t memory() const = 0;
};

/// As `transfer_of(ranks)` says. Collective.
std::unique_ptr<HaloCopies> make_halo_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device);
std::unique_ptr<HaloCopies> make_peer_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device);

}  // namespace heddle::cuda
