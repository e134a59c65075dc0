#include "device_product.hpp"

#include <optional>
#include <span>

#include "distributed/communicators/peer_memory_cuda.hpp"
#include "distributed/exchange/device_exchange_cuda.hpp"
#include "distributed/exchange/gather_rows_cuda.hpp"
#include "distributed/exchange/peer_exchange_cuda.hpp"

namespace heddle::cuda {

namespace {

class ExchangedProduct final : public DeviceProduct {
 public:
  ExchangedProduct(Communicator& ranks, const detail::Halo& halo,
                   const std::vector<Index>& copied_rows, std::size_t row_bytes,
                   const Device& device, const int* given_up)
      : row_bytes_(row_bytes),
        copied_rows_(std::span<const Index>(copied_rows), device),
        exchange_(ranks, halo, row_bytes, device) {
    if (given_up == nullptr) return;
    peers_.emplace(ranks, halo, copied_rows_, row_bytes, given_up, device);
  }

  /// In mode `task` the host meets other ranks once its GPU has work, in mode `naive` before that;
  /// both copy along with the interior rows. In mode `vector` the interior rows wait for the
  /// copies.
  void run(ExchangeMode mode, bool may_overlap, const void* x, void* boundary_x,
           const Stream& stream, const Queue& interior, const Queue& boundary) override {
    if (peers_ && is_captured(stream)) {
      const bool overlaps = mode == ExchangeMode::task && may_overlap;
      return run_captured(mode == ExchangeMode::vector, overlaps, x, boundary_x, stream, interior,
                          boundary);
    }
    std::byte* const halo = static_cast<std::byte*>(boundary_x) + copied_rows_.size() * row_bytes_;
    const bool is_concurrent = mode != ExchangeMode::vector;
    const auto fetch = [&] {
      exchange_.meet();
      exchange_.fetch(halo, is_concurrent, stream);
    };
    const auto copy_rows = [&](const Stream& on) {
      if (!copied_rows_.empty()) gather_rows(copied_rows_, row_bytes_, x, boundary_x, on);
    };
    exchange_.gather(x, stream);
    if (mode != ExchangeMode::task) fetch();
    interior(stream);
    if (mode == ExchangeMode::task && may_overlap) {
      exchange_.mark_interior(stream);
      const Stream other = exchange_.other_stream(stream);
      copy_rows(other);
      fetch();
      boundary(other);
      exchange_.join(stream);
    } else {
      copy_rows(stream);
      if (mode == ExchangeMode::task) fetch();
      if (is_concurrent) exchange_.await(stream);
      boundary(stream);
    }
    exchange_.finish(stream);
  }

  void add_times(RankTimes& times) override {
    exchange_.add_times(times);
    if (peers_) peers_->add_times(times);
  }
  long long memory() const override {
    return exchange_.memory() + static_cast<long long>(copied_rows_.size() * sizeof(Index)) +
           (peers_ ? peers_->memory() : 0);
  }

 private:
  /// Modes `naive` and `task` differ only if the boundary `overlaps` the interior.
  void run_captured(bool waits, bool overlaps, const void* x, void* boundary_x,
                    const Stream& stream, const Queue& interior, const Queue& boundary) {
    if (waits) {
      peers_->begin(stream);
      peers_->mark_interior(stream);
      peers_->exchange(x, boundary_x, stream);
      interior(stream);
    } else {
      const Stream other = peers_->fork(stream);
      peers_->exchange(x, boundary_x, other);
      peers_->begin(stream);
      interior(stream);
      peers_->mark_interior(stream);
      if (overlaps) boundary(other);
      peers_->join(stream);
    }
    if (!overlaps) boundary(stream);
    peers_->finish(stream);
  }

  std::size_t row_bytes_;
  Array<Index> copied_rows_;
  DeviceExchange exchange_;
  std::optional<PeerExchange> peers_;
};

}  // namespace

std::shared_ptr<DeviceProduct> make_device_product(Communicator& ranks, const detail::Halo& halo,
                                                   const std::vector<Index>& copied_rows,
                                                   std::size_t row_bytes, const Device& device,
                                                   const int* given_up) {
  return std::make_shared<ExchangedProduct>(ranks, halo, copied_rows, row_bytes, device, given_up);
}

}  // namespace heddle::cuda
