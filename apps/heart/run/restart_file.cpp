#include "restart_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fingerprint.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

namespace {

constexpr std::string_view magic = "heddle-heart state 7\n";

/// Fields in the order of the file.
template <class State>
auto numbers_of(State& state) {
  return std::array{&state.potential,    &state.change,    &state.change_before, &state.image,
                    &state.image_before, &state.projected, &state.activation,    &state.membranes};
}

std::uint64_t fingerprint_of(const SystemState& state, const Identity& identity) {
  Fingerprint print;
  for (const auto& [name, value] : identity) {
    print.add_text(name);
    print.add_text(value);
  }
  print.add(state.steps);
  for (const auto* const numbers : numbers_of(state)) {
    for (const double number : *numbers) print.add(number);
  }
  return print.value();
}

void write_number(OutputFile& file, std::uint64_t number) {
  file.write({reinterpret_cast<const char*>(&number), sizeof number});
}

void write_text(OutputFile& file, const std::string& text) {
  write_number(file, text.size());
  file.write(text);
}

void write_numbers(OutputFile& file, std::span<const double> values) {
  constexpr std::size_t portion = 8192;
  write_number(file, values.size());
  while (!values.empty()) {
    const auto part = values.first(std::min(portion, values.size()));
    file.write({reinterpret_cast<const char*>(part.data()), part.size_bytes()});
    values = values.subspan(part.size());
  }
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw Error(ErrorKind::io, path + ": " + std::strerror(errno));
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      throw Error(ErrorKind::io, path + ": is a folder, not a state");
    }
    file_.seekg(0, std::ios::end);
    left_ = static_cast<std::uint64_t>(file_.tellg());
    file_.seekg(0);
  }

  void read(void* to, std::uint64_t bytes) {
    if (bytes > left_ || !file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes))) {
      refuse("is cut off");
    }
    left_ -= bytes;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    read(&value, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > left_) refuse("is cut off");
    std::string value(size, '\0');
    read(value.data(), size);
    return value;
  }
  std::vector<double> numbers() {
    const std::uint64_t size = number();
    if (size > left_ / sizeof(double)) refuse("is cut off");
    std::vector<double> values(size);
    read(values.data(), size * sizeof(double));
    return values;
  }
  void expect_end() const {
    if (left_ != 0) refuse("has trailing data");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::malformed_file, path_ + ": the state " + what);
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t left_ = 0;
};

}  // namespace

void write_restart(const std::string& path, const SystemState& state, const Identity& identity) {
  OutputFile file(path);
  file.write(magic);
  write_number(file, identity.size());
  for (const auto& [name, value] : identity) {
    write_text(file, name);
    write_text(file, value);
  }
  write_number(file, static_cast<std::uint64_t>(state.steps));
  for (const auto* const numbers : numbers_of(state)) {
    write_numbers(file, *numbers);
  }
  write_number(file, fingerprint_of(state, identity));
  file.commit();
}

SystemState read_restart(const std::string& path, const RunIdentity& run) {
  Reader reader(path);
  std::array<char, magic.size()> begin{};
  reader.read(begin.data(), begin.size());
  if (std::string_view(begin.data(), begin.size()) != magic) {
    reader.refuse("is not from heddle-heart, or is from another version");
  }
  Identity identity;
  for (std::uint64_t items = reader.number(); items > 0; --items) {
    std::string name = reader.text();
    identity.push_back({std::move(name), reader.text()});
  }
  SystemState state;
  state.steps = static_cast<long long>(reader.number());
  for (auto* const numbers : numbers_of(state)) {
    *numbers = reader.numbers();
  }
  if (state.steps < 0 || reader.number() != fingerprint_of(state, identity)) {
    reader.refuse("is damaged");
  }
  reader.expect_end();
  const std::string different = differences(identity, run.after(state.steps));
  if (!different.empty()) reader.refuse("is from a run that differs in: " + different);
  return state;
}

}  // namespace heddle::heart
