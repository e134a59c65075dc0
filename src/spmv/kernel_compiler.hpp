// CUDA programs to machine code while the program runs. Needs no GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

struct NamedText {
  std::string name;
  std::string text;
  auto operator<=>(const NamedText&) const = default;
};

struct KernelSource {
  std::string name;  // what diagnostics call the program: "product quaternion<double>"
  std::string text;  // includes embedded headers as "heddle/entries/quaternion.hpp"
  std::vector<NamedText> headers;    // further ones that it includes: a user's entry
  std::vector<std::string> options;  // -D..., beside the compiler's standard ones
};

struct KernelImage {
  std::vector<char> data;  // cubin; null-terminated PTX where NVRTC does not know the architecture
  bool cached = false;     // from the disk
  double seconds = 0;      // to compile, or to load
  std::string log;         // what the compiler said if asked by an option; empty from the disk
};

/// What a program that does not compile throws. The message is one line: the first error in a file
/// of the user's, else the first of all, as file:line.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log)
      : Error(ErrorKind::usage, message), log_(std::move(log)) {}
  /// All that the compiler said.
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// Of names and texts of all embedded headers, 32 hexadecimal digits: other digits, other kernels.
const std::string& embedded_headers_hash();

/// The image of `source` for `architecture` (90 = sm_90), from the disk cache or compiled and kept
/// there. Throws `CompileError`; `Error` of kind no_device where there is no NVRTC, or one that no
/// longer knows an architecture so old; of kind memory or internal where NVRTC fails.
KernelImage compile_kernel(const KernelSource& source, int architecture);

/// The same for each source, in their order; those that are not in the cache on a thread each, as
/// far as there are cores. Of several errors, the one of the first source.
std::vector<KernelImage> compile_kernels(std::span<const KernelSource> sources, int architecture);

/// Loads all kernels of a program, so that a later `load_kernel` does not wait for the compiler;
/// defined in builds that have CUDA.
void load_kernels(const KernelSource& source, const Stream& stream);

}  // namespace heddle::cuda
