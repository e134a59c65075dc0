// Ranks with a GPU each, which exchange by NVIDIA's NCCL.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "base/cuda_handles.hpp"
#include "linked_communicator.hpp"
#include "nccl_library.hpp"

namespace heddle::cuda {

/// Whatever it queues the hosts of the ranks that take part have met before, and queue at once: so
/// no GPU waits for a rank that has failed before. Where one fails behind that, by its GPU, what is
/// queued is given two seconds, and then ended. One communicator of NCCL: all ranks queue in one
/// order, also on several streams. Defined in builds with CUDA.
class NcclCommunicator final : public detail::LinkedCommunicator {
 public:
  /// Collective.
  NcclCommunicator(Communicator& ranks, const Device& device);
  ~NcclCommunicator() override;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  /// Messages in the memory of GPUs, in the order of the stream.
  void exchange(std::span<const Message<const std::byte>> sends,
                std::span<const Message<std::byte>> receives, const Stream& stream);
  /// `count` numbers of each rank, one rank behind the other. This rank's are there.
  void gather(double* all, std::size_t count, const Stream& stream);
  /// While a host waits for what it has queued: throws what NCCL has noticed of other ranks, or
  /// what one of them has failed by, and gives up.
  void look();
  void give_up() noexcept override;

 private:
  struct Abort {
    void operator()(Nccl::Communicator communicator) const { nccl().abort(communicator); }
  };
  template <class Queue>
  void queue(const Stream& stream, const char* call, const Queue& queue);

  std::unique_ptr<void, Abort> communicator_;
  Event queued_;  // all that it has
  std::chrono::steady_clock::time_point next_look_;
  int exceptions_;
};

}  // namespace heddle::cuda
