// Links programs whose kernels launch kernels with the device's runtime. Needs no GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace heddle::cuda {

/// `cubin`, compiled as relocatable code for `architecture` (90 = sm_90), as a whole program. The
/// linker, libnvJitLink.so.13 or .12, is opened at first use; HEDDLE_NVJITLINK names another.
/// Throws `Error` of kind no_device if there is none, unsupported without the device's runtime,
/// which comes with the toolkit that heddle was built with, and internal if the linker fails.
std::vector<char> link_with_device_runtime(std::span<const char> cubin, int architecture,
                                           const std::string& name);

/// Names the linker and the device's runtime, for keys of linked programs. Throws like the above.
std::string linked_with();

/// The bytes of libcudadevrt.a, which builds with CUDA contain.
std::span<const char> device_runtime();

}  // namespace heddle::cuda
