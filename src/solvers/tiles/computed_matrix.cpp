#include "heddle/detail/computed_matrix.hpp"

#include <string>

#include "computed_matrix_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

void check_gpu(const Device& device) {
  if (!device.on_gpu()) {
    throw Error(ErrorKind::usage, "this product is made on a GPU, but the device is the CPU");
  }
}

}  // namespace

std::shared_ptr<ComputedMatrix> product_on_gpu(const PatternView& a, const EntryTile& of_a,
                                               const PatternView& b, const EntryTile& of_b,
                                               const Device& device) {
  check_gpu(device);
  check_factors(a, b);
  check_pattern(a, device);
  check_pattern(b, device);
  if constexpr (has_cuda) return cuda::make_product(a, of_a, b, of_b, device);
  throw Error(ErrorKind::no_device, Device::why_no_gpu());
}

std::shared_ptr<ComputedMatrix> adjoint_on_gpu(const PatternView& a, const EntryTile& of_a,
                                               const Device& device) {
  check_gpu(device);
  check_pattern(a, device);
  if constexpr (has_cuda) return cuda::make_adjoint(a, of_a, device);
  throw Error(ErrorKind::no_device, Device::why_no_gpu());
}

void refuse_columns(ComponentOrder order) {
  if (order == row_major) return;
  throw Error(ErrorKind::unsupported, "products on a GPU take blocks by rows, not by columns");
}

void refuse_gpu(const Device& device, const char* what) {
  if (!device.on_gpu()) return;
  throw Error(ErrorKind::unsupported,
              std::string(what) + " of these entries works only on the CPU");
}

}  // namespace heddle::detail
