// The course of a product on a rank's GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "distributed/exchange/halo.hpp"
#include "heddle/distributed_operator.hpp"

namespace heddle::cuda {

/// Halos, and rows of x that the boundary reads, move between memories of GPUs in the order of the
/// streams.
class DeviceProduct {
 public:
  virtual ~DeviceProduct() = default;

  using Queue = std::function<void(const Stream& stream)>;

  /// On a stream that is being captured no hosts meet: kernels wait for those of other ranks.
  ///
  /// `interior` and `boundary` queue the products of the two parts; x and `boundary_x` are their
  /// fields. `may_overlap`: neither needs what the other writes, so that mode `task` runs the
  /// boundary on a stream of its own, on which the halo arrives.
  virtual void run(ExchangeMode mode, bool may_overlap, const void* x, void* boundary_x,
                   const Stream& stream, const Queue& interior, const Queue& boundary) = 0;

  /// Adds seconds on the GPU of all products.
  virtual void add_times(RankTimes& times) = 0;
  virtual long long memory() const = 0;
};

/// Collective. `copied_rows`: rows of x, of `row_bytes` each, that precede the halo in
/// `boundary_x`. `given_up`: that of `RankSums`, for products that may be captured; or null.
/// Defined in builds with CUDA.
std::shared_ptr<DeviceProduct> make_device_product(Communicator& ranks, const detail::Halo& halo,
                                                   const std::vector<Index>& copied_rows,
                                                   std::size_t row_bytes, const Device& device,
                                                   const int* given_up = nullptr);

}  // namespace heddle::cuda
