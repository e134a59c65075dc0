// Compiles CUDA programs to machine code at run time. Needs no GPU.
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
  std::string name;  // the program's name in diagnostics: "product quaternion<double>"
  std::string text;  // includes embedded headers as "heddle/entries/quaternion.hpp"
  std::vector<NamedText> headers;    // further headers that it includes: a user's entry
  std::vector<std::string> options;  // -D..., in addition to the compiler's standard ones
};

/// The option of a program whose kernels launch kernels.
inline constexpr const char* launches_kernels = "--relocatable-device-code=true";

struct KernelImage {
  std::vector<char> data;  // cubin; null-terminated PTX where NVRTC does not know the architecture
  bool cached = false;     // loaded from the disk
  double seconds = 0;      // time to compile, or to load
  std::string log;         // the compiler's output if requested by an option; empty from the disk
};

/// Thrown for a program that does not compile. The message is one line: the first error in a file
/// of the user's, else the first of all, as file:line.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log)
      : Error(ErrorKind::usage, message), log_(std::move(log)) {}
  /// The compiler's whole output.
  const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

/// Hash of the names and texts of all embedded headers, 32 hexadecimal digits.
const std::string& embedded_headers_hash();

/// The image of `source` for `architecture` (90 = sm_90), from the disk cache, or compiled and
/// stored there. Throws `CompileError`; `Error` of kind no_device if there is no NVRTC, or if it no
/// longer supports so old an architecture, or is older than a GPU whose kernels launch kernels; of
/// kind memory or internal if NVRTC fails; like `link_with_device_runtime`.
KernelImage compile_kernel(const KernelSource& source, int architecture);

/// Same for each source, in their order. Sources that are not in the cache compile on a thread
/// each, as far as there are cores. If several fail, the error of the first such source is thrown.
std::vector<KernelImage> compile_kernels(std::span<const KernelSource> sources, int architecture);

/// Loads all kernels of a program, so that a later `load_kernel` does not wait for the compiler;
/// defined in builds that have CUDA.
void load_kernels(const KernelSource& source, const Stream& stream);

}  // namespace heddle::cuda
