#include "device_linker.hpp"

#include "base/shared_library.hpp"
#include "base/text/hash.hpp"
#include "heddle/config.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

namespace {

/// NVIDIA's linker. Its few functions are declared here, like those of nvrtc.hpp.
struct JitLink {
  using Handle = void*;
  enum Input { cubin = 1, library = 6 };

  int (*create)(Handle* linker, unsigned options, const char** option_texts);
  int (*add)(Handle linker, int input, const void* data, std::size_t bytes, const char* name);
  int (*complete)(Handle linker);
  int (*destroy)(Handle* linker);
  int (*get_log_size)(Handle linker, std::size_t* bytes);
  int (*get_log)(Handle linker, char* log);
  int (*get_cubin_size)(Handle linker, std::size_t* bytes);
  int (*get_cubin)(Handle linker, void* cubin);

  unsigned major = 0;
  unsigned minor = 0;
};

JitLink open_linker() {
  const SharedLibrary library("HEDDLE_NVJITLINK", {"libnvJitLink.so.13", "libnvJitLink.so.12"});
  JitLink l{};
  library.find(l.create, "nvJitLinkCreate");
  library.find(l.add, "nvJitLinkAddData");
  library.find(l.complete, "nvJitLinkComplete");
  library.find(l.destroy, "nvJitLinkDestroy");
  library.find(l.get_log_size, "nvJitLinkGetErrorLogSize");
  library.find(l.get_log, "nvJitLinkGetErrorLog");
  library.find(l.get_cubin_size, "nvJitLinkGetLinkedCubinSize");
  library.find(l.get_cubin, "nvJitLinkGetLinkedCubin");
  int (*version)(unsigned*, unsigned*);
  library.find(version, "nvJitLinkVersion");
  if (version(&l.major, &l.minor) != 0) {
    throw Error(ErrorKind::no_device, library.path() + " does not say its version; reinstall it");
  }
  return l;
}

const JitLink& jit_link() {
  static const JitLink library = open_linker();
  return library;
}

/// One use of the linker, destroyed with its scope.
class Link {
 public:
  Link(int architecture, const std::string& name) : name_(name) {
    const std::string target = "-arch=sm_" + std::to_string(architecture);
    const char* options[] = {target.c_str()};
    check(jit_link().create(&link_, 1, options));
  }
  ~Link() { jit_link().destroy(&link_); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void add(JitLink::Input input, std::span<const char> bytes, const char* name) {
    check(jit_link().add(link_, input, bytes.data(), bytes.size(), name));
  }
  std::vector<char> complete() {
    check(jit_link().complete(link_));
    std::size_t size = 0;
    check(jit_link().get_cubin_size(link_, &size));
    std::vector<char> image(size);
    check(jit_link().get_cubin(link_, image.data()));
    return image;
  }

 private:
  void check(int result) const {
    if (result == 0) return;
    std::size_t size = 0;
    std::string log;
    if (link_ != nullptr && jit_link().get_log_size(link_, &size) == 0 && size > 1) {
      log.resize(size);
      if (jit_link().get_log(link_, log.data()) != 0) log.clear();
    }
    throw Error(ErrorKind::internal, name_ + ": nvJitLink fails with error " +
                                         std::to_string(result) + " " +
                                         log.substr(0, log.find_first_of(std::string("\n\0", 2))));
  }

  std::string name_;
  JitLink::Handle link_ = nullptr;
};

}  // namespace

std::string linked_with() {
  std::string text =
      "nvJitLink " + std::to_string(jit_link().major) + "." + std::to_string(jit_link().minor);
  if constexpr (has_cuda) {
    static const std::string runtime =
        to_string(hash({device_runtime().data(), device_runtime().size()}));
    text += " cudadevrt " + runtime;
  }
  return text;
}

std::vector<char> link_with_device_runtime(std::span<const char> cubin, int architecture,
                                           const std::string& name) {
  Link link(architecture, name);
  link.add(JitLink::cubin, cubin, name.c_str());
  if constexpr (has_cuda) {
    link.add(JitLink::library, device_runtime(), "cudadevrt");
    return link.complete();
  }
  throw Error(ErrorKind::unsupported, name + " needs a build of heddle with CUDA");
}

}  // namespace heddle::cuda
