#include "matrix_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "heddle/random_field.hpp"

namespace heddle::cli {

void MatrixOptions::add_to(CLI::App& command) {
  command.add_option("matrix", path, "Matrix Market (.mtx, .mtx.gz) or SciPy .npz file")
      ->required()
      ->type_name("FILE");
  add_settings_to(command);
}

void MatrixOptions::add_settings_to(CLI::App& command) {
  CLI::Option* const kind = command.add_option(
      "--entry", entry,
      "real, complex, quaternion, dual-quaternion, block2, block3, block4, block6, "
      "complex-block3: what the file's numbers are folded into");
  kind->capture_default_str()->type_name("KIND");
  command
      .add_option("--entry-definition", entry_definition,
                  "an entry of your own instead: a JSON file, see docs/adding-an-entry.md")
      ->type_name("FILE")
      ->excludes(kind);
  command.add_option("--precision", precision, "double or single")
      ->capture_default_str()
      ->type_name("P");
  command
      .add_option("--device", device,
                  "cpu, cuda or cuda:N for the GPU of that number, auto for a GPU where one works")
      ->capture_default_str()
      ->type_name("DEVICE");
  command.add_option("--threads", threads, "threads to use; 0 takes every core")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command.add_flag("-q,--quiet", quiet, "no progress, and no report but --json");
}

Device MatrixOptions::on() const {
  if (device == "cpu") return Device::cpu(threads);
  if (device == "cuda") return Device::cuda(0);
  if (device == "auto") {
    const std::string why = Device::why_no_gpu();
    if (!quiet) {
      std::fprintf(stderr, "heddle: --device auto takes %s\n",
                   why.empty() ? ("the first GPU: " + Device::cuda(0).description()).c_str()
                               : ("the CPU: " + why).c_str());
    }
    return why.empty() ? Device::cuda(0) : Device::cpu(threads);
  }
  constexpr std::string_view prefix = "cuda:";
  if (device.starts_with(prefix)) {
    const char* begin = device.data() + prefix.size();
    const char* end = device.data() + device.size();
    int ordinal = 0;
    const auto [stop, failed] = std::from_chars(begin, end, ordinal);
    if (failed == std::errc() && stop == end && ordinal >= 0) return Device::cuda(ordinal);
  }
  throw Error(ErrorKind::usage,
              "no device is named '" + device + "'; there are: cpu, cuda, cuda:N, auto");
}

AnyEntry MatrixOptions::chosen_entry() const {
  if (entry_definition.empty()) return parse_entry_kind(entry);
  return std::make_shared<const EntryDefinition>(read_entry_definition(entry_definition));
}

AnyMatrix MatrixOptions::read(const std::string& from, Progress* progress) const {
  return AnyMatrix::read(from, chosen_entry(), scalar(), Device::cpu(threads), progress);
}

std::unique_ptr<TerminalProgress> MatrixOptions::progress() const {
  return quiet ? nullptr : std::make_unique<TerminalProgress>();
}

void fill_random(AnyField& field, std::uint64_t seed) {
  const Offset scalars = Offset(field.rows()) * field.components();
#pragma omp parallel for schedule(static)
  for (Offset i = 0; i < scalars; ++i) {
    field.set(i, random_component(seed, static_cast<std::uint64_t>(i)));
  }
}

std::string readable_count(long long count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<long long>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), " ");
  }
  return digits;
}

namespace {

std::string number(const char* format, double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, format, value, unit);
  return text;
}

}  // namespace

std::string readable_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return number(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

std::string readable_seconds(double seconds) {
  if (seconds < 1e-3) return number("%.1f %s", seconds * 1e6, "us");
  if (seconds < 1) return number("%.2f %s", seconds * 1e3, "ms");
  return number("%.2f %s", seconds, "s");
}

std::string readable_minutes(double seconds) {
  constexpr double minute = 60;
  return seconds < 2 * minute ? std::to_string(static_cast<int>(seconds)) + " s"
                              : std::to_string(static_cast<int>(seconds / minute)) + " min";
}

}  // namespace heddle::cli
