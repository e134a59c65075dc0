#include "heddle/detail/compiled_pass.hpp"

#include "base/cuda_call.hpp"
#include "heddle/kernels/assembly_sums.hpp"
#include "kernel_library_cuda.hpp"
#include "pass_program.hpp"

namespace heddle::cuda {

namespace {

void launch(const KernelSource& source, const char* name, const LaunchShape& shape,
            const void* functor, const Stream& stream) {
  const OnGpu here(stream);
  void* arguments[] = {const_cast<void*>(functor)};
  launch(load_kernel(source, name, stream), shape, stream, arguments);
}

}  // namespace

void queue_pass(const CompiledFunctor& pass, int min_blocks, Offset count, const Stream& stream) {
  LaunchShape shape;
  shape.blocks = detail::blocks_of_pass(count);
  shape.threads = detail::threads_of_pass;
  if (shape.blocks == 0) return;
  launch(pass_source(pass, min_blocks), "heddle_pass", shape, pass.object, stream);
}

void queue_tiles(const CompiledFunctor& tile_sums, unsigned tiles, std::size_t shared_bytes,
                 const Stream& stream) {
  LaunchShape shape;
  shape.blocks = tiles;
  shape.threads = detail::AssemblyTiles::threads;
  shape.shared_bytes = static_cast<unsigned>(shared_bytes);
  launch(tiles_source(tile_sums), "heddle_tiles", shape, tile_sums.object, stream);
}

}  // namespace heddle::cuda
