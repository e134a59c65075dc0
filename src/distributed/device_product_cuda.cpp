#include "device_product.hpp"

#include <span>

#include "device_exchange_cuda.hpp"
#include "gather_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

class ExchangedProduct final : public DeviceProduct {
 public:
  ExchangedProduct(Communicator& ranks, const detail::Halo& halo,
                   const std::vector<Index>& copied_rows, std::size_t row_bytes,
                   const Device& device)
      : row_bytes_(row_bytes),
        copied_rows_(std::span<const Index>(copied_rows), device),
        exchange_(ranks, halo, row_bytes, device) {}

  /// In mode `task` the host meets other ranks once its GPU has work, in mode `naive` before; both
  /// copy beside the interior rows. In mode `vector` these wait for the copies.
  void run(ExchangeMode mode, bool may_overlap, const void* x, void* boundary_x,
           const Stream& stream, const Queue& interior, const Queue& boundary) override {
    std::byte* const halo = static_cast<std::byte*>(boundary_x) + copied_rows_.size() * row_bytes_;
    const bool beside = mode != ExchangeMode::vector;
    const auto fetch = [&] {
      exchange_.meet();
      exchange_.fetch(halo, beside, stream);
    };
    const auto copy_rows = [&](const Stream& on) {
      if (!copied_rows_.empty()) gather_rows(copied_rows_, row_bytes_, x, boundary_x, on);
    };
    exchange_.gather(x, stream);
    if (mode != ExchangeMode::task) fetch();
    interior(stream);
    if (mode == ExchangeMode::task && may_overlap) {
      exchange_.mark_interior(stream);
      const Stream other = exchange_.beside(stream);
      copy_rows(other);
      fetch();
      boundary(other);
      exchange_.join(stream);
    } else {
      copy_rows(stream);
      if (mode == ExchangeMode::task) fetch();
      if (beside) exchange_.await(stream);
      boundary(stream);
    }
    exchange_.finish(stream);
  }

  void add_times(RankTimes& times) override { exchange_.add_times(times); }
  long long memory() const override {
    return exchange_.memory() + static_cast<long long>(copied_rows_.size() * sizeof(Index));
  }

 private:
  std::size_t row_bytes_;
  Array<Index> copied_rows_;
  DeviceExchange exchange_;
};

}  // namespace

std::shared_ptr<DeviceProduct> make_device_product(Communicator& ranks, const detail::Halo& halo,
                                                   const std::vector<Index>& copied_rows,
                                                   std::size_t row_bytes, const Device& device) {
  return std::make_shared<ExchangedProduct>(ranks, halo, copied_rows, row_bytes, device);
}

}  // namespace heddle::cuda
