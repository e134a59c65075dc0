// Copies between processes: by NCCL, or by messages of the hosts.
#include <span>
#include <utility>
#include <vector>

#include "base/stream_order_cuda.hpp"
#include "base/stream_watch_cuda.hpp"
#include "distributed/communicators/nccl_communicator_cuda.hpp"
#include "distributed/communicators/peer_memory_cuda.hpp"
#include "halo_copies_cuda.hpp"
#include "heddle/transfer.hpp"

namespace heddle::cuda {

namespace {

/// Messages for a halo's parts, with the bytes in rows from `rows` on.
template <class Byte>
std::vector<Message<Byte>> messages(const std::vector<detail::HaloPart>& parts,
                                    std::size_t row_bytes, Byte* rows) {
  std::vector<Message<Byte>> made;
  for (const detail::HaloPart& part : parts) {
    if (part.count == 0) continue;
    const auto bytes_of = [row_bytes](Index count) {
      return static_cast<std::size_t>(count) * row_bytes;
    };
    made.push_back({part.rank, std::span(rows + bytes_of(part.first), bytes_of(part.count))});
  }
  return made;
}

/// Sends and receives of a rank are one group, without which two that send first would wait for
/// each other.
class NcclCopies final : public HaloCopies {
 public:
  NcclCopies(Communicator& ranks, const detail::Halo& halo, std::size_t row_bytes,
             const Device& device)
      : nccl_(dynamic_cast<NcclCommunicator&>(ranks)),
        row_bytes_(row_bytes),
        bytes_(halo.sent_rows.size() * row_bytes),
        receives_(halo.receives),
        watch_(device.stream(), [this] { nccl_.look(); }) {
    together(ranks, [&] {
      const OnGpu here(device.stream());
      rows_ = PeerMemory(bytes_, device.stream());
      gathered_ = make_event();
    });
    sends_ = messages<const std::byte>(halo.sends, row_bytes, rows_.data());
    connect(ranks, halo.columns.size() * row_bytes, device);
  }

  /// One buffer for both turns: kernels of a product come after the exchange of the previous one.
  void* sent_buffer(unsigned, const Stream&) override { return rows_.data(); }
  void gathered(unsigned, const Stream& stream) override { record(gathered_, stream.queue); }
  void await_others(unsigned, const Stream& stream) override { wait(stream.queue, gathered_); }
  void copy(unsigned, std::byte* halo, const Stream& stream) override {
    nccl_.exchange(sends_, messages(receives_, row_bytes_, halo), stream);
  }
  std::size_t memory() const override { return bytes_; }

 private:
  /// NCCL connects two ranks at their first message, which takes as long as hundreds of others.
  void connect(Communicator& ranks, std::size_t halo_bytes, const Device& device) {
    PeerMemory halo;
    together(ranks, [&] { halo = PeerMemory(halo_bytes, device.stream()); });
    nccl_.exchange(sends_, messages(receives_, row_bytes_, halo.data()), device.stream());
    device.synchronize();
  }

  NcclCommunicator& nccl_;
  std::size_t row_bytes_, bytes_;
  std::vector<detail::HaloPart> receives_;
  StreamWatch watch_;
  PeerMemory rows_;
  std::vector<Message<const std::byte>> sends_;
  Event gathered_;
};

/// A kernel gathers into pinned memory. The host waits for it, exchanges messages, and queues the
/// copy of what has arrived.
class StagedCopies final : public HaloCopies {
 public:
  StagedCopies(Communicator& ranks, const detail::Halo& halo, std::size_t row_bytes,
               const Device& device)
      : ranks_(ranks), halo_bytes_(halo.columns.size() * row_bytes) {
    together(ranks, [&] {
      const Stream& stream = device.stream();
      const OnGpu here(stream);
      gathered_ = make_event();
      const std::size_t sent_bytes = halo.sent_rows.size() * row_bytes;
      for (int turn = 0; turn < 2; ++turn) {
        if (sent_bytes > 0) sent_[turn] = pinned_memory(sent_bytes, stream);
        if (halo_bytes_ > 0) received_[turn] = pinned_memory(halo_bytes_, stream);
      }
    });
    for (std::size_t turn = 0; turn < 2; ++turn) {
      sends_[turn] =
          messages(halo.sends, row_bytes, static_cast<const std::byte*>(sent_[turn].get()));
      receives_[turn] =
          messages(halo.receives, row_bytes, static_cast<std::byte*>(received_[turn].get()));
    }
  }

  void* sent_buffer(unsigned turn, const Stream&) override { return sent_[turn].get(); }
  void gathered(unsigned, const Stream& stream) override { record(gathered_, stream.queue); }
  bool hosts_meet() const override { return false; }
  void await_others(unsigned, const Stream&) override {}
  void copy(unsigned turn, std::byte* halo, const Stream& stream) override {
    check(cudaEventSynchronize(gathered_.get()), "cudaEventSynchronize");
    ranks_.begin_exchange(sends_[turn], receives_[turn]);
    ranks_.end_exchange();
    if (halo_bytes_ == 0) return;
    check(cudaMemcpyAsync(halo, received_[turn].get(), halo_bytes_, cudaMemcpyHostToDevice,
                          stream.queue),
          "cudaMemcpyAsync");
  }
  std::size_t memory() const override { return 0; }

 private:
  Communicator& ranks_;
  std::size_t halo_bytes_;
  std::shared_ptr<void> sent_[2], received_[2];  // pinned
  std::vector<Message<const std::byte>> sends_[2];
  std::vector<Message<std::byte>> receives_[2];
  Event gathered_;
};

}  // namespace

std::unique_ptr<HaloCopies> make_halo_copies(Communicator& ranks, const detail::Halo& halo,
                                             std::size_t row_bytes, const Device& device) {
  switch (transfer_of(ranks)) {
    case Transfer::nccl:
      return std::make_unique<NcclCopies>(ranks, halo, row_bytes, device);
    case Transfer::staged:
      return std::make_unique<StagedCopies>(ranks, halo, row_bytes, device);
    case Transfer::peer:
      break;
  }
  return make_peer_copies(ranks, halo, row_bytes, device);
}

}  // namespace heddle::cuda
