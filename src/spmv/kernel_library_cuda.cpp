#include "kernel_library_cuda.hpp"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "../base/cuda_call.hpp"

namespace heddle::cuda {

namespace {

int attribute(cudaDeviceAttr which, const Stream& stream) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, stream.gpu), "cudaDeviceGetAttribute");
  return value;
}

/// Everything that decides what a program compiles to.
using Key = std::tuple<int, std::string, std::vector<std::pair<std::string, std::string>>,
                       std::vector<std::string>>;

}  // namespace

int multiprocessors(const Stream& stream) {
  return attribute(cudaDevAttrMultiProcessorCount, stream);
}
int architecture(const Stream& stream) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, stream) +
         attribute(cudaDevAttrComputeCapabilityMinor, stream);
}

cudaKernel_t load_kernel(const KernelSource& source, const char* name, const Stream& stream) {
  // Libraries stay loaded until the process ends: solvers come and go, their kernels come again.
  static std::mutex mutex;
  static std::map<Key, cudaLibrary_t> libraries;
  const OnGpu here(stream);
  Key key{architecture(stream), source.text, {}, source.options};
  for (const NamedText& header : source.headers) {
    std::get<2>(key).emplace_back(header.name, header.text);
  }
  const std::lock_guard lock(mutex);
  auto found = libraries.find(key);
  if (found == libraries.end()) {
    const KernelImage image = compile_kernel(source, architecture(stream));
    cudaLibrary_t library = nullptr;
    check(
        cudaLibraryLoadData(&library, image.data.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
    found = libraries.emplace(std::move(key), library).first;
  }
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, found->second, name), "cudaLibraryGetKernel");
  return kernel;
}

KernelSource program_over(const EntryText& entry, std::string name, const std::string& text) {
  KernelSource source;
  source.name = std::move(name);
  for (const std::string& header : entry.headers) {
    source.text += "#include \"" + header + "\"\n";
    if (!header.starts_with("heddle/entries/")) {
      source.headers.push_back({header, std::string(entry_header(header))});
    }
  }
  source.text += text;
  return source;
}

void launch(cudaKernel_t kernel, const LaunchShape& shape, const Stream& stream, void** arguments) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};
  config.gridDim = {shape.blocks, 1, 1};
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream.queue;
  config.attrs = attributes;
  if (shape.dependent) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments),
        "cudaLaunchKernelExC");
}

}  // namespace heddle::cuda
