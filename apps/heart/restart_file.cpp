#include "restart_file.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <ios>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

namespace {

constexpr std::string_view magic = "heddle-heart state 5\n";

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
class Fingerprint {
 public:
  template <class T>
  void add(const T& value) {
    const auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211U;
  }
  void add_text(const std::string& text) {
    add(text.size());
    for (const char c : text) add(c);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037U;
};

/// In the order of the file.
template <class State>
auto numbers_of(State& state) {
  return std::array{&state.potential,    &state.change,     &state.change_before, &state.image,
                    &state.image_before, &state.activation, &state.membranes};
}

std::uint64_t fingerprint_of(const SystemState& state) {
  Fingerprint print;
  print.add(state.steps);
  for (const auto* const numbers : numbers_of(state)) {
    for (const double number : *numbers) print.add(number);
  }
  return print.value();
}

void write_numbers(OutputFile& file, std::span<const double> values) {
  constexpr std::size_t portion = 8192;
  const std::uint64_t size = values.size();
  file.write({reinterpret_cast<const char*>(&size), sizeof size});
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
  std::vector<double> numbers() {
    const std::uint64_t size = number();
    if (size > left_ / sizeof(double)) refuse("is cut off");
    std::vector<double> values(size);
    read(values.data(), size * sizeof(double));
    return values;
  }
  void expect_end() const {
    if (left_ != 0) refuse("goes on behind its end");
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

std::uint64_t fingerprint_of(const Model& model, const TissueSystem& system, const Case& given) {
  Fingerprint print;
  for (const Point& p : model.position) print.add(p);
  for (const simulation::Tetrahedron& t : model.tetrahedron) print.add(t);
  for (const std::uint16_t region : model.region) print.add(region);
  for (const MembraneChoice& membrane : model.membrane) {
    print.add_text(membrane.model);
    print.add_text(membrane.type);
    for (const auto& [name, value] : membrane.parameters) {
      print.add_text(name);
      print.add(value);
    }
  }
  const Basis& basis = *system.matrix().row_basis();
  for (Index i = 0; i < system.matrix().rows(); ++i) print.add(basis.user_row(i));
  print.add_text(to_string(system.matrix().plan()));
  print.add(given.time.step);
  print.add(given.time.scheme);
  print.add(given.time.theta);
  print.add(given.time.splitting);
  print.add(given.time.mass);
  print.add(given.solver.guess);
  print.add(system.is_tabulated());
  return print.value();
}

void write_restart(const std::string& path, const SystemState& state, std::uint64_t fingerprint) {
  OutputFile file(path);
  file.write(magic);
  const std::array<std::uint64_t, 2> head = {fingerprint, static_cast<std::uint64_t>(state.steps)};
  file.write({reinterpret_cast<const char*>(head.data()), sizeof head});
  for (const auto* const numbers : numbers_of(state)) {
    write_numbers(file, *numbers);
  }
  const std::uint64_t content = fingerprint_of(state);
  file.write({reinterpret_cast<const char*>(&content), sizeof content});
  file.commit();
}

SystemState read_restart(const std::string& path, std::uint64_t fingerprint) {
  Reader reader(path);
  std::array<char, magic.size()> begin{};
  reader.read(begin.data(), begin.size());
  if (std::string_view(begin.data(), begin.size()) != magic) {
    reader.refuse("is none of heddle-heart's, or one of another version");
  }
  if (reader.number() != fingerprint) {
    reader.refuse(
        "is of another mesh, plan, membrane, time step, scheme, splitting, theta, mass, "
        "guess or tables than the run");
  }
  SystemState state;
  state.steps = static_cast<long long>(reader.number());
  for (auto* const numbers : numbers_of(state)) {
    *numbers = reader.numbers();
  }
  if (state.steps < 0 || reader.number() != fingerprint_of(state)) reader.refuse("is damaged");
  reader.expect_end();
  return state;
}

}  // namespace heddle::heart
