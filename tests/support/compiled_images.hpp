// Kernels that tests compile and do not run.
#pragma once

#include <cstdlib>
#include <vector>

#include "spmv/kernel_compiler.hpp"
#include "spmv/nvrtc.hpp"

namespace heddle::test {

/// Images of the kernels, in half the time: only deep checks optimise them like kernels that run.
inline std::vector<cuda::KernelImage> compiled_images(std::vector<cuda::KernelSource> sources,
                                                      int architecture) {
  const bool has_option = cuda::nvrtc().major >= 13;
  if (has_option && std::getenv("HEDDLE_DEEP_CHECK") == nullptr) {
    for (cuda::KernelSource& source : sources) {
      source.options.emplace_back("--Ofast-compile=max");
    }
  }
  return cuda::compile_kernels(sources, architecture);
}

}  // namespace heddle::test
