// `heddle cache`: kernels that were compiled for GPUs and kept on disk.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "commands.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "options/matrix_options.hpp"
#include "spmv/kernel_cache.hpp"

namespace heddle::cli {

namespace {

cuda::KernelCache open_cache() {
  const std::filesystem::path folder = cuda::kernel_cache_folder();
  if (folder.empty()) {
    throw Error(ErrorKind::usage,
                "there is no kernel cache: HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME are not set; "
                "set one of them");
  }
  return cuda::KernelCache(folder);
}

/// An age in the largest unit that gives at least two: "95 s", "3 h", "12 days".
std::string age(std::filesystem::file_time_type since) {
  using std::chrono::seconds;
  const auto now = std::filesystem::file_time_type::clock::now();
  const long long s =
      std::max<long long>(0, std::chrono::duration_cast<seconds>(now - since).count());
  constexpr long long minute = 60, hour = 60 * minute, day = 24 * hour;
  if (s < 2 * minute) return std::to_string(s) + " s";
  if (s < 2 * hour) return std::to_string(s / minute) + " min";
  if (s < 2 * day) return std::to_string(s / hour) + " h";
  return std::to_string(s / day) + " days";
}

std::string total(std::size_t files, std::uintmax_t bytes) {
  return std::to_string(files) + (files == 1 ? " kernel, " : " kernels, ") +
         readable_bytes(static_cast<double>(bytes));
}

int list() {
  const cuda::KernelCache cache = open_cache();
  if (const std::string why = cache.why_unsafe(); !why.empty()) throw Error(ErrorKind::io, why);
  std::vector<cuda::CachedKernel> kernels = cache.list();
  constexpr std::size_t widest = 160;
  std::size_t width = 6;
  for (cuda::CachedKernel& kernel : kernels) {
    kernel.kernel = io::printable(kernel.kernel).substr(0, widest);
    kernel.architecture = io::printable(kernel.architecture).substr(0, widest);
    width = std::max(width, kernel.kernel.size());
  }
  const int w = static_cast<int>(width);
  std::uintmax_t bytes = 0;
  if (!kernels.empty()) {
    std::printf("%-*s  %-12s %12s  %9s\n", w, "kernel", "architecture", "size", "last used");
  }
  for (const cuda::CachedKernel& kernel : kernels) {
    bytes += kernel.bytes;
    std::printf(
        "%-*s  %-12s %12s  %9s\n", w, kernel.kernel.empty() ? "(damaged)" : kernel.kernel.c_str(),
        kernel.architecture.c_str(), readable_bytes(static_cast<double>(kernel.bytes)).c_str(),
        age(kernel.last_used).c_str());
  }
  std::printf("%s in %s\n", total(kernels.size(), bytes).c_str(),
              io::printable(cache.folder().string()).c_str());
  return 0;
}

int clear() {
  cuda::KernelCache cache = open_cache();
  const cuda::ClearedCache cleared = cache.clear();
  std::printf("removed %s from %s\n", total(cleared.files, cleared.bytes).c_str(),
              io::printable(cache.folder().string()).c_str());
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("cache", "The compiled GPU kernels that are kept on disk");
  command->require_subcommand(1);
  command->footer("Example: heddle cache list");
  command->add_subcommand("list", "Each kernel with its architecture, size and last use")
      ->footer("Example: heddle cache list")
      ->callback([&status] { status = list(); });
  command->add_subcommand("clear", "Remove them all; they are compiled again when they are needed")
      ->footer("Example: heddle cache clear")
      ->callback([&status] { status = clear(); });
}

}  // namespace heddle::cli
