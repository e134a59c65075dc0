// Copies between threads of one process: each rank copies from its neighbours' memory.
#include <span>
#include <utility>
#include <vector>

#include "distributed/communicators/peer_memory_cuda.hpp"
#include "distributed/communicators/ports_of_ranks.hpp"
#include "halo_copies_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Rows go straight from one GPU's memory to another's if one can reach the other, and otherwise by
/// way of the driver's memory on the host. Copies and kernels are ordered by events. The host only
/// reports to other ranks that it has recorded one. Whoever fills a buffer again has met, one
/// exchange before, all ranks that copied from it two exchanges before.
class PeerCopies final : public HaloCopies {
 public:
  PeerCopies(Communicator& ranks, const detail::Halo& halo, std::size_t row_bytes,
             const Device& device)
      : row_bytes_(row_bytes),
        gpu_(device.stream().gpu),
        sends_(halo.sends),
        receives_(halo.receives) {
    together(ranks, [&] {
      port_ = std::make_shared<Port>(halo.sent_rows.size() * row_bytes, device.stream());
      for (const detail::HaloPart& part : halo.sends) {
        port_->first_of_rank.resize(static_cast<std::size_t>(ranks.size()));
        port_->first_of_rank[static_cast<std::size_t>(part.rank)] = part.first;
      }
    });
    ports_ = detail::gather_ports(ranks, port_);
    rank_ = static_cast<std::size_t>(ranks.rank());
    together(ranks, [&] {
      for (const detail::HaloPart& part : halo.receives) reach(of(part).gpu, device.stream());
    });
  }

  void* sent_buffer(unsigned turn, const Stream& stream) override {
    for (const detail::HaloPart& part : sends_) {
      if (part.count > 0) wait(stream.queue, of(part).taken[turn]);
    }
    return port_->rows[turn].data();
  }
  void gathered(unsigned turn, const Stream& stream) override {
    record(port_->gathered[turn], stream.queue);
  }
  void await_others(unsigned turn, const Stream& stream) override {
    for (const detail::HaloPart& part : receives_) {
      if (part.count > 0) wait(stream.queue, of(part).gathered[turn]);
    }
  }
  void copy(unsigned turn, std::byte* halo, const Stream& stream) override {
    for (const detail::HaloPart& part : receives_) {
      if (part.count > 0) copy(turn, part, halo, stream.queue);
    }
    record(port_->taken[turn], stream.queue);
  }
  std::size_t memory() const override { return 2 * port_->bytes; }

 private:
  /// The part of a rank that others see, and keep for as long as they may read it.
  struct Port {
    Port(std::size_t bytes_of_rows, const Stream& stream)
        : gpu(stream.gpu), bytes(bytes_of_rows), rows{{bytes, stream}, {bytes, stream}} {
      const OnGpu here(stream);
      for (int turn = 0; turn < 2; ++turn) {
        gathered[turn] = make_event();
        taken[turn] = make_event();
      }
    }

    int gpu;
    std::size_t bytes;
    PeerMemory rows[2];
    Event gathered[2];
    Event taken[2];                    // its copies from others' ports are done
    std::vector<Index> first_of_rank;  // where rows for a rank begin
  };

  const Port& of(const detail::HaloPart& part) const {
    return *ports_[static_cast<std::size_t>(part.rank)];
  }
  void copy(unsigned turn, const detail::HaloPart& part, std::byte* halo, cudaStream_t stream) {
    const Port& port = of(part);
    const auto offset = [this](Index row) { return static_cast<std::size_t>(row) * row_bytes_; };
    std::byte* const to = halo + offset(part.first);
    const std::byte* const from = port.rows[turn].data() + offset(port.first_of_rank[rank_]);
    const std::size_t bytes = offset(part.count);
    if (port.gpu == gpu_) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    } else {
      check(cudaMemcpyPeerAsync(to, gpu_, from, port.gpu, bytes, stream), "cudaMemcpyPeerAsync");
    }
  }

  std::size_t row_bytes_;
  int gpu_;
  std::vector<detail::HaloPart> sends_, receives_;
  std::shared_ptr<Port> port_;  // this rank's
  std::vector<std::shared_ptr<Port>> ports_;
  std::size_t rank_ = 0;
};

}  // namespace

std::unique_ptr<HaloCopies> make_peer_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device) {
  return std::make_unique<PeerCopies>(ranks, halo, row_bytes, device);
}

}  // namespace heddle::cuda
