#include "heddle/detail/diagonal_cuda.hpp"

#include "base/cuda_call.hpp"
#include "diagonal_program.hpp"
#include "heddle/kernels/row_arguments.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

struct Diagonal::Kernels {
  cudaKernel_t invert = nullptr;
  cudaKernel_t apply = nullptr;
};

Diagonal::Diagonal(const Product& product, int components, int scalar_bytes,
                   const std::vector<double>& unit, const Device& device)
    : product_(product),
      device_(device),
      inverses_(static_cast<std::size_t>(product.pattern().rows) *
                    static_cast<std::size_t>(components) * static_cast<std::size_t>(scalar_bytes),
                device),
      unit_(std::span<const double>(unit), device),
      kernels_(std::make_unique<Kernels>()) {
  const KernelSource source = diagonal_source(product.program(device::store_scaled), scalar_bytes);
  const Stream& stream = device_.stream();
  kernels_->invert = load_kernel(source, "heddle_invert", stream);
  kernels_->apply = load_kernel(source, "heddle_apply", stream);
}

Diagonal::~Diagonal() = default;

EntryText Diagonal::text() const {
  return diagonal_rows(product_.program(device::store_scaled).entry, product_.plan().layout.vector);
}

namespace {

LaunchShape shape_for(Offset threads, bool overlapped) {
  LaunchShape shape;
  shape.overlapped = overlapped;
  shape.blocks = device::blocks_of_rows(threads);
  shape.threads = device::threads_of_rows;
  return shape;
}

}  // namespace

Index Diagonal::invert(const Stream& stream) {
  const SlicedPattern& A = product_.pattern();
  if (A.rows == 0) return 0;
  Array<Index> first(std::span<const Index>(&A.rows, 1), device_);
  queue_inversion(first.data(), stream);
  Index result = 0;
  detail::copy_bytes(&result, first.data(), sizeof result, stream);
  return result;
}

void Diagonal::queue_inversion(Index* first_singular, const Stream& stream) {
  const SlicedPattern& A = product_.pattern();
  if (A.rows == 0) return;
  const OnGpu here(stream);
  device::InvertArguments<char, char> arguments{product_.matrix(), inverses_.data(),
                                                A.row_basis->user_rows_on(device_), first_singular,
                                                unit_.empty() ? nullptr : unit_.data()};
  void* pointers[] = {&arguments};
  launch(kernels_->invert, shape_for(Offset(A.slices()) * A.C, false), stream, pointers);
}

void Diagonal::apply(const void* r, void* z, const Stream& stream, const device::LoopState* state,
                     bool overlapped) const {
  if (product_.pattern().rows == 0) return;
  const OnGpu here(stream);
  device::RowArguments arguments{inverses_.data(), r, z, product_.pattern().rows, state};
  void* pointers[] = {&arguments};
  launch(kernels_->apply, shape_for(arguments.rows, overlapped), stream, pointers);
}

}  // namespace heddle::cuda
