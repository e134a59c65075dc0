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

/// The hosts of the ranks that take part meet before they queue anything, and then queue at once:
/// so no GPU waits for a rank that has failed before. If one fails after that, by its GPU, the
/// queued work is given two seconds, and then ended. There is one NCCL communicator: all ranks
/// queue in one order, also on several streams. Defined in builds with CUDA.
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
  /// Gathers `count` numbers of each rank, one rank after another. This rank's are there already.
  void gather(double* all, std::size_t count, const Stream& stream);
  /// Called while a host waits for queued work: throws what NCCL has noticed about other ranks, or
  /// the failure of one of them, and gives up.
  void look();
  void give_up() noexcept override;

 private:
  struct Abort {
    void operator()(Nccl::Communicator communicator) const { nccl().abort(communicator); }
  };
  template <class Queue>
  void queue(const Stream& stream, const char* call, const Queue& queue);

  std::unique_ptr<void, Abort> communicator_;
  Event queued_;  // after all that is queued
  std::chrono::steady_clock::time_point next_look_;
  int exceptions_;
};

}  // namespace heddle::cuda
