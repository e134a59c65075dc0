#include "device_properties_cuda.hpp"

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"

namespace heddle::cuda {

DeviceProperties properties_of(const Stream& stream) {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, stream.gpu), "cudaGetDeviceProperties");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  DeviceProperties p;
  p.gpu = true;
  p.name = gpu.name;
  p.memory = static_cast<long long>(gpu.totalGlobalMem);
  p.last_cache = gpu.l2CacheSize;
  p.architecture = 10 * gpu.major + gpu.minor;
  p.multiprocessors = gpu.multiProcessorCount;
  p.warp = gpu.warpSize;
  p.threads_of_block = gpu.maxThreadsPerBlock;
  p.threads_of_multiprocessor = gpu.maxThreadsPerMultiProcessor;
  p.blocks_of_multiprocessor = gpu.maxBlocksPerMultiProcessor;
  p.registers_of_multiprocessor = gpu.regsPerMultiprocessor;
  p.shared_memory_of_block = static_cast<int>(gpu.sharedMemPerBlockOptin);
  p.driver = version_text(driver);
  return p;
}

}  // namespace heddle::cuda
