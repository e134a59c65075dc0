#include "kernel_compiler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/cores.hpp"
#include "base/openmp_places.hpp"
#include "base/profiler_range.hpp"
#include "base/text/hash.hpp"
#include "device_linker.hpp"
#include "embedded_headers.hpp"
#include "kernel_cache.hpp"
#include "nvrtc.hpp"

namespace heddle::cuda {

const std::string& embedded_headers_hash() {
  static const std::string digits = [] {
    std::string all;
    for (const EmbeddedHeader& header : embedded_headers()) {
      all.append(header.name).append(1, '\0').append(header.text).append(1, '\0');
    }
    return to_string(hash(all));
  }();
  return digits;
}

namespace {

struct Target {
  int architecture;
  bool machine_code;  // else PTX, which the driver compiles for newer GPUs
  std::string name() const {
    return (machine_code ? "sm_" : "compute_") + std::to_string(architecture);
  }
};

Target target_of(int architecture) {
  const std::vector<int>& known = nvrtc().architectures;
  const auto newer = std::ranges::upper_bound(known, architecture);
  if (newer == known.begin()) {
    throw Error(ErrorKind::no_device, "this libnvrtc compiles for sm_" +
                                          std::to_string(known.front()) +
                                          " and newer, not for sm_" + std::to_string(architecture) +
                                          "; set HEDDLE_NVRTC to an older one");
  }
  const int highest = *std::prev(newer);
  return {highest, highest == architecture};
}

bool launches(const KernelSource& source) {
  return std::ranges::find(source.options, launches_kernels) != source.options.end();
}

std::vector<std::string> options_of(const KernelSource& source, const Target& target) {
  // Warnings concern those who build heddle or test an entry, not its users.
  std::vector<std::string> options = {"-std=c++20", "-w", "-default-device",
                                      "--gpu-architecture=" + target.name()};
  // The disk cache of this library is the only one.
  if (nvrtc().major >= 13) options.emplace_back("--no-cache");
  options.insert(options.end(), source.options.begin(), source.options.end());
  return options;
}

/// Lengths keep one text from running into the next.
void append(std::string& inputs, std::string_view what, std::string_view text) {
  inputs.append(what).append(" ").append(std::to_string(text.size())).append("\n");
  inputs.append(text).append("\n");
}

KernelKey key_of(const KernelSource& source, const Target& target) {
  std::string inputs = "nvrtc " + std::to_string(nvrtc().major) + "." +
                       std::to_string(nvrtc().minor) + "\nheddle headers " +
                       embedded_headers_hash() + "\n";
  for (const std::string& option : options_of(source, target)) append(inputs, "option", option);
  for (const NamedText& header : source.headers) {
    append(inputs, "header", header.name);
    append(inputs, "text", header.text);
  }
  append(inputs, "program", source.text);
  if (launches(source)) append(inputs, "linked", linked_with());
  return {source.name, target.name(), std::move(inputs)};
}

/// A program of the compiler, destroyed with its scope.
class Program {
 public:
  explicit Program(const KernelSource& source) : source_(source) {
    std::vector<const char*> names, texts;
    for (const EmbeddedHeader& header : embedded_headers()) {
      names.push_back(header.name);
      texts.push_back(header.text);
    }
    for (const NamedText& header : source.headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    check(nvrtc().create_program(&program_, source.text.c_str(), source.name.c_str(),
                                 static_cast<int>(names.size()), texts.data(), names.data()));
  }
  ~Program() { nvrtc().destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts(options.size());
    std::ranges::transform(options, texts.begin(), &std::string::c_str);
    return nvrtc().compile_program(program_, static_cast<int>(texts.size()), texts.data());
  }
  std::vector<char> image(bool machine_code) const {
    return machine_code ? bytes(nvrtc().get_cubin_size, nvrtc().get_cubin)
                        : bytes(nvrtc().get_ptx_size, nvrtc().get_ptx);
  }
  /// The log without its terminating null.
  std::string log() const {
    const std::vector<char> log = bytes(nvrtc().get_log_size, nvrtc().get_log);
    return {log.begin(), std::ranges::find(log, '\0')};
  }
  void check(int result) const {
    if (result == Nvrtc::success) return;
    throw Error(result == Nvrtc::out_of_memory ? ErrorKind::memory : ErrorKind::internal,
                source_.name + ": NVRTC " + std::to_string(nvrtc().major) + "." +
                    std::to_string(nvrtc().minor) + " fails with " +
                    nvrtc().get_error_string(result));
  }

 private:
  std::vector<char> bytes(int (*get_size)(Nvrtc::Program, std::size_t*),
                          int (*get)(Nvrtc::Program, char*)) const {
    std::size_t size = 0;
    check(get_size(program_, &size));
    std::vector<char> all(size);
    if (size != 0) check(get(program_, all.data()));
    return all;
  }

  const KernelSource& source_;
  Nvrtc::Program program_ = nullptr;
};

struct Diagnostic {
  std::string file;
  std::string line;
  std::string what;
};

/// Reads a line "file(12): error: what"; "catastrophic error" also counts.
std::optional<Diagnostic> error_in(std::string_view line) {
  const std::size_t close = line.find("): ");
  if (close == line.npos) return {};
  const std::size_t open = line.rfind('(', close);
  const std::string_view what = line.substr(close + 3);
  const std::string_view kind = what.substr(0, what.find(':'));
  if (open == line.npos || kind.find("error") == kind.npos) return {};
  return Diagnostic{std::string(line.substr(0, open)),
                    std::string(line.substr(open + 1, close - open - 1)), std::string(what)};
}

CompileError compile_error(const KernelSource& source, std::string log) {
  std::vector<Diagnostic> errors;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (auto error = error_in(line)) errors.push_back(std::move(*error));
  }
  // A user's mistake may first show in a header of heddle that uses the user's own.
  auto chosen = std::ranges::find_if(errors, [&](const Diagnostic& error) {
    return error.file != source.name &&
           std::ranges::none_of(embedded_headers(), [&](const EmbeddedHeader& header) {
             return error.file == header.name;
           });
  });
  if (chosen == errors.end()) chosen = errors.begin();
  std::string message = source.name + " does not compile: ";
  if (chosen == errors.end()) {
    message += log.substr(0, log.find('\n'));
  } else {
    message += chosen->file + ":" + chosen->line + ": " + chosen->what;
    if (errors.size() > 1) message += " (one of " + std::to_string(errors.size()) + " errors)";
  }
  return {message, std::move(log)};
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

KernelImage compile(const KernelSource& source, const Target& target) {
  const Range range("compile kernel");
  const Stopwatch time;
  Program program(source);
  const int result = program.compile(options_of(source, target));
  // An option that NVRTC does not know is also named only in the log.
  if (result != Nvrtc::success) {
    std::string log = program.log();
    if (!log.empty()) throw compile_error(source, std::move(log));
    program.check(result);
  }
  std::vector<char> image = program.image(target.machine_code);
  if (launches(source)) {
    if (!target.machine_code) {
      throw Error(ErrorKind::no_device,
                  source.name + " launches kernels, for which libnvrtc must " +
                      "be as new as the GPU; set HEDDLE_NVRTC to a newer one");
    }
    image = link_with_device_runtime(image, target.architecture, source.name);
  }
  return {std::move(image), false, time.seconds(), program.log()};
}

KernelCache& disk_cache() {
  static KernelCache cache(kernel_cache_folder());
  return cache;
}

/// `count` threads that run `work`, or as many as the system provides.
template <class F>
std::vector<std::jthread> start(std::size_t count, const F& work) {
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    return threads;
  }
  return threads;
}

}  // namespace

KernelImage compile_kernel(const KernelSource& source, int architecture) {
  return std::move(compile_kernels({&source, 1}, architecture).front());
}

std::vector<KernelImage> compile_kernels(std::span<const KernelSource> sources, int architecture) {
  const Target target = target_of(architecture);
  std::vector<KernelImage> images(sources.size());
  std::vector<KernelKey> keys(sources.size());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Stopwatch time;
    keys[i] = key_of(sources[i], target);
    if (auto data = disk_cache().load(keys[i])) {
      images[i] = {std::move(*data), true, time.seconds(), ""};
    } else {
      missing.push_back(i);
    }
  }

  std::vector<std::exception_ptr> errors(sources.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < missing.size(); at = next++) {
      const std::size_t i = missing[at];
      try {
        images[i] = compile(sources[i], target);
        disk_cache().store(keys[i], images[i].data);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    const auto cores = static_cast<std::size_t>(usable_cores());
    const Processors processors = processors_to_take();
    const auto others = start(std::max<std::size_t>(1, std::min(cores, missing.size())) - 1, [&] {
      take_processors(processors);
      work();
    });
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return images;
}

}  // namespace heddle::cuda
