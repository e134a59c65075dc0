// NVIDIA's run-time compiler, opened on first use. Its few functions are declared here, so that
// heddle builds without a CUDA toolkit and starts on machines that have none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::cuda {

struct Nvrtc {
  using Program = void*;
  enum Result { success = 0, out_of_memory = 1, compilation = 6 };

  const char* (*get_error_string)(int result);
  int (*create_program)(Program* program, const char* source, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names);
  int (*compile_program)(Program program, int options, const char* const* option_texts);
  int (*destroy_program)(Program* program);
  int (*get_log_size)(Program program, std::size_t* bytes);
  int (*get_log)(Program program, char* log);
  int (*get_cubin_size)(Program program, std::size_t* bytes);
  int (*get_cubin)(Program program, char* cubin);
  int (*get_ptx_size)(Program program, std::size_t* bytes);
  int (*get_ptx)(Program program, char* ptx);

  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  // 90 for sm_90, ascending
};

/// The library that HEDDLE_NVRTC names (a file, or a folder that holds it); if that is not set,
/// libnvrtc.so.13 or .12 from the usual places of `SharedLibrary`. Throws `Error` of kind
/// no_device, again at each call, while there is none.
const Nvrtc& nvrtc();

}  // namespace heddle::cuda
