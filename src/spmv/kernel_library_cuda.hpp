// Compiled programs, loaded once per process and architecture.
#pragma once

#include <cuda_runtime_api.h>

#include "entry_program.hpp"
#include "heddle/device.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// The kernel of that name in a program, for the GPU of `stream`.
cudaKernel_t load_kernel(const KernelSource& source, const char* name, const Stream& stream);

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 1;
  unsigned systems = 1;  // the grid's second dimension, with `blocks` each
  unsigned shared_bytes = 0;
  bool cooperative = false;  // all blocks run at once
  bool overlapped = false;   // they may start while the preceding kernel runs, see kernels/loop.cuh
  bool resident = false;     // no more blocks than run at once
};
void launch(cudaKernel_t kernel, const LaunchShape& shape, const Stream& stream, void** arguments);

/// Throws `Error` (usage) that names the field unless a kernel on the stream may take it: it must
/// lie in the GPU's memory and begin at a multiple of 16 bytes.
void check_kernel_operand(const void* data, const char* name, const Stream& stream);

int multiprocessors(const Stream& stream);
/// Blocks of the kernel that run at once on one multiprocessor.
int resident_blocks(cudaKernel_t kernel, int threads, unsigned shared_bytes, const Stream& stream);
int architecture(const Stream& stream);  // 90 for sm_90

}  // namespace heddle::cuda
