#include "nvrtc.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::no_device, what); }

void* open(const std::string& path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

void* open_in(const fs::path& folder) {
  for (const std::string_view name : names) {
    if (void* library = open((folder / name).string())) return library;
  }
  return nullptr;
}

void* open_named(const std::string& path) {
  void* library = fs::is_directory(path) ? open_in(path) : open(path);
  if (library == nullptr) {
    // With what the loader says of it, which names the path.
    fail("HEDDLE_NVRTC is no libnvrtc that can be opened: " + std::string(dlerror()) +
         "; correct it, or unset it to have the usual places searched");
  }
  return library;
}

void* open_usual() {
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string_view name : names) {
    if (void* library = open(std::string(name))) return library;
    if (home != nullptr && *home != '\0') {
      if (void* library = open((fs::path(home) / "lib64" / name).string())) return library;
    }
    if (void* library = open((fs::path("/usr/local/cuda/lib64") / name).string())) return library;
  }
  fail(
      "no libnvrtc was found (looked for libnvrtc.so.13 and .12 on the loader's path, in "
      "$CUDA_HOME/lib64 and in /usr/local/cuda/lib64); install NVIDIA's NVRTC, or set HEDDLE_NVRTC "
      "to its file");
}

template <class F>
void find(F*& function, void* library, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (function == nullptr) fail(std::string("this libnvrtc has no ") + name + "; take a newer one");
}

Nvrtc open_library() {
  const char* named = std::getenv("HEDDLE_NVRTC");
  void* library = named != nullptr && *named != '\0' ? open_named(named) : open_usual();
  Nvrtc n{};
  find(n.get_error_string, library, "nvrtcGetErrorString");
  find(n.create_program, library, "nvrtcCreateProgram");
  find(n.compile_program, library, "nvrtcCompileProgram");
  find(n.destroy_program, library, "nvrtcDestroyProgram");
  find(n.get_log_size, library, "nvrtcGetProgramLogSize");
  find(n.get_log, library, "nvrtcGetProgramLog");
  find(n.get_cubin_size, library, "nvrtcGetCUBINSize");
  find(n.get_cubin, library, "nvrtcGetCUBIN");
  find(n.get_ptx_size, library, "nvrtcGetPTXSize");
  find(n.get_ptx, library, "nvrtcGetPTX");
  int (*version)(int*, int*);
  int (*architecture_count)(int*);
  int (*architectures)(int*);
  find(version, library, "nvrtcVersion");
  find(architecture_count, library, "nvrtcGetNumSupportedArchs");
  find(architectures, library, "nvrtcGetSupportedArchs");
  int count = 0;
  bool known = version(&n.major, &n.minor) == Nvrtc::success &&
               architecture_count(&count) == Nvrtc::success && count > 0;
  if (known) {
    n.architectures.resize(static_cast<std::size_t>(count));
    known = architectures(n.architectures.data()) == Nvrtc::success;
  }
  if (!known) fail("this libnvrtc does not say which GPUs it compiles for; install it anew");
  return n;
}

}  // namespace

const Nvrtc& nvrtc() {
  static const Nvrtc library = open_library();
  return library;
}

}  // namespace heddle::cuda
