#include "kernel_library_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

int attribute(cudaDeviceAttr which, const Stream& stream) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, stream.gpu), "cudaDeviceGetAttribute");
  return value;
}

/// Everything that decides what a program compiles to.
using Key = std::tuple<int, std::string, std::vector<NamedText>, std::vector<std::string>>;

cudaLibrary_t library_of(const KernelSource& source, const Stream& stream) {
  // Libraries stay loaded until the process ends: solvers come and go, but their kernels are used
  // again. The first caller to ask for a library compiles it, while other callers compile others.
  static std::mutex mutex;
  static std::map<Key, std::shared_future<cudaLibrary_t>> libraries;
  const OnGpu here(stream);
  const Key key{architecture(stream), source.text, source.headers, source.options};
  std::promise<cudaLibrary_t> promise;
  std::shared_future<cudaLibrary_t> library;
  bool is_first = false;
  {
    const std::lock_guard lock(mutex);
    auto [found, inserted] = libraries.try_emplace(key);
    if (inserted) found->second = promise.get_future().share();
    library = found->second;
    is_first = inserted;
  }
  if (is_first) {
    try {
      const KernelImage image = compile_kernel(source, architecture(stream));
      cudaLibrary_t loaded = nullptr;
      check(
          cudaLibraryLoadData(&loaded, image.data.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cudaLibraryLoadData");
      promise.set_value(loaded);
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex);
      libraries.erase(key);
    }
  }
  return library.get();
}

}  // namespace

void check_kernel_operand(const void* data, const char* name, const Stream& stream) {
  constexpr std::uintptr_t piece = 16;
  if (reinterpret_cast<std::uintptr_t>(data) % piece != 0) {
    throw Error(ErrorKind::usage,
                std::string(name) + " does not begin at a multiple of 16 bytes, as a GPU requires");
  }
  if (!is_device_memory(data, stream)) {
    throw Error(
        ErrorKind::usage,
        std::string(name) +
            " is in the host's memory, but the matrix is in a GPU's; `permute` copies it there");
  }
}

int multiprocessors(const Stream& stream) {
  return attribute(cudaDevAttrMultiProcessorCount, stream);
}
int resident_blocks(cudaKernel_t kernel, int threads, unsigned shared_bytes, const Stream& stream) {
  const OnGpu here(stream);
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}
int architecture(const Stream& stream) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, stream) +
         attribute(cudaDevAttrComputeCapabilityMinor, stream);
}

void load_kernels(const KernelSource& source, const Stream& stream) { library_of(source, stream); }

cudaKernel_t load_kernel(const KernelSource& source, const char* name, const Stream& stream) {
  const OnGpu here(stream);
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library_of(source, stream), name), "cudaLibraryGetKernel");
  return kernel;
}

void launch(cudaKernel_t kernel, const LaunchShape& shape, const Stream& stream, void** arguments) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};
  unsigned blocks = shape.blocks;
  if (shape.resident) {
    const int of_multiprocessor =
        resident_blocks(kernel, static_cast<int>(shape.threads), shape.shared_bytes, stream);
    blocks = std::min(
        blocks, static_cast<unsigned>(std::max(1, of_multiprocessor) * multiprocessors(stream)));
  }
  config.gridDim = {blocks, shape.systems, 1};
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream.queue;
  config.attrs = attributes;
  if (shape.cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (shape.overlapped) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments),
        "cudaLaunchKernelExC");
}

}  // namespace heddle::cuda
