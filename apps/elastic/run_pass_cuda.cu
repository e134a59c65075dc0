#include "cuda_call.hpp"
#include "run_pass.hpp"

namespace heddle::elastic::cuda {

namespace {

constexpr int block_size = 128;  // an element's rotation takes many registers

template <class Pass>
__global__ void __launch_bounds__(block_size) run_threads(const Pass pass) {
  const Offset i = Offset(blockIdx.x) * block_size + threadIdx.x;
  if (i < pass.count) pass(i);
}

template <class Pass>
void launch(const Pass& pass, const Stream& stream) {
  if (pass.count == 0) return;
  const OnGpu here(stream);
  const auto blocks = static_cast<unsigned>((pass.count + block_size - 1) / block_size);
  run_threads<<<blocks, block_size, 0, stream.queue>>>(pass);
  check(cudaGetLastError(), "the launch of a kernel");
}

}  // namespace

void run(const ElementPass& pass, const Stream& stream) { launch(pass, stream); }
void run(const StressPass& pass, const Stream& stream) { launch(pass, stream); }
void run(const EntryPass& pass, const Stream& stream) { launch(pass, stream); }
void run(const VertexPass& pass, const Stream& stream) { launch(pass, stream); }

}  // namespace heddle::elastic::cuda
