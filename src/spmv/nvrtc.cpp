#include "nvrtc.hpp"

#include "base/shared_library.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

Nvrtc open_library() {
  const SharedLibrary library("HEDDLE_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"});
  Nvrtc n{};
  library.find(n.get_error_string, "nvrtcGetErrorString");
  library.find(n.create_program, "nvrtcCreateProgram");
  library.find(n.compile_program, "nvrtcCompileProgram");
  library.find(n.destroy_program, "nvrtcDestroyProgram");
  library.find(n.get_log_size, "nvrtcGetProgramLogSize");
  library.find(n.get_log, "nvrtcGetProgramLog");
  library.find(n.get_cubin_size, "nvrtcGetCUBINSize");
  library.find(n.get_cubin, "nvrtcGetCUBIN");
  library.find(n.get_ptx_size, "nvrtcGetPTXSize");
  library.find(n.get_ptx, "nvrtcGetPTX");
  int (*version)(int*, int*);
  int (*architecture_count)(int*);
  int (*architectures)(int*);
  library.find(version, "nvrtcVersion");
  library.find(architecture_count, "nvrtcGetNumSupportedArchs");
  library.find(architectures, "nvrtcGetSupportedArchs");
  int count = 0;
  bool known = version(&n.major, &n.minor) == Nvrtc::success &&
               architecture_count(&count) == Nvrtc::success && count > 0;
  if (known) {
    n.architectures.resize(static_cast<std::size_t>(count));
    known = architectures(n.architectures.data()) == Nvrtc::success;
  }
  if (!known) {
    throw Error(ErrorKind::no_device,
                library.path() + " does not say which GPUs it compiles for; reinstall it");
  }
  return n;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc library = open_library();
  return library;
}

}  // namespace heddle::cuda
