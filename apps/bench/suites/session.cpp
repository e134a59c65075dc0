#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "heddle/detail/sliced.hpp"
#include "suite.hpp"

namespace heddle::bench {

namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Twice the last cache of most machines; fewer in quick runs, where that would take too long.
long long triad_elements(const Settings& settings) {
  constexpr long long usual = 64'000'000;
  return settings.quick && !settings.device.on_gpu() ? usual / 4 : usual;
}

}  // namespace

Session::Session(Settings settings, std::vector<std::unique_ptr<Peer>> peers, Run run)
    : settings_(std::move(settings)),
      peers_(std::move(peers)),
      triad_(settings_.device, triad_elements(settings_)),
      run_(std::move(run)) {
  run_.bandwidth_name = triad_.name();
  for (const auto& peer : peers_) run_.peers.push_back(peer->presence());
  const std::vector<std::function<void(const Stream&)>> alone = {
      [this](const Stream& stream) { triad_.run(stream); }};
  saw_bandwidth(measure(alone, settings_.quick ? 3 : 9, settings_.device)[0]);
}

void Session::saw_bandwidth(const Timing& timing_of_triad) {
  if (!(timing_of_triad.median > 0)) return;
  const std::lock_guard lock(mutex_);
  bandwidths_.push_back(static_cast<double>(triad_.bytes()) / timing_of_triad.median);
}

void Session::add(Record record) {
  const std::lock_guard lock(mutex_);
  run_.records.push_back(std::move(record));
}

Run Session::run() const {
  const std::lock_guard lock(mutex_);
  Run run = run_;
  run.bandwidth = median_of(bandwidths_);
  if (!(run.bandwidth > 0)) return run;
  for (Record& record : run.records) {
    if (!record.compulsory_bytes) continue;
    const auto bytes = static_cast<double>(*record.compulsory_bytes);
    const auto share = [&](const std::optional<Timing>& timing) -> std::optional<double> {
      if (!timing || !(timing->median > 0)) return {};
      return bytes / timing->median / run.bandwidth;
    };
    for (Candidate& candidate : record.candidates) {
      candidate.of_bandwidth = share(candidate.seconds);
      candidate.cold_of_bandwidth = share(candidate.cold);
    }
  }
  return run;
}

double Session::seconds_of_a_solve() const {
  return settings_.seconds_of_a_solve.value_or(settings_.device.on_gpu() ? 0.15 : 0.5);
}

double Session::seconds_for_timing() const {
  if (settings_.quick) return 0.4;
  return settings_.device.on_gpu() ? 1.2 : 2;
}

void add_tuned_plan(const AnyMatrix& matrix, const Session& session, Objective objective,
                    std::vector<std::string>& texts) {
  const PlanChoice choice = session.settings().profiles.choose(matrix, session.device(), objective);
  if (choice.tuned) texts.push_back(to_string(choice.plan));
}

Record record_of(std::string_view suite, const Problem& problem, std::string quantity) {
  Record record;
  record.suite = suite;
  record.problem = problem.name;
  record.entry = problem.matrix.entry().name();
  record.precision = name(problem.matrix.precision());
  record.quantity = std::move(quantity);
  record.rows = problem.matrix.rows();
  record.entries = problem.matrix.entries();
  return record;
}

long long csr_bytes(const AnyMatrix& matrix) {
  return memory_use(matrix.pattern(), Plan{}, matrix.entry_bytes(), Device::cpu()).product();
}

long long compulsory_bytes(const AnyMatrix& matrix) {
  const long long scalars = matrix.visit([]<class E>(const CsrMatrix<E>& m) {
    return (static_cast<long long>(m.rows()) * tile_rows<E> +
            static_cast<long long>(m.columns()) *
                tile_columns<E>)*static_cast<long long>(sizeof(vector_scalar_t<E>));
  });
  return matrix.entries() * (matrix.entry_bytes() + static_cast<long long>(sizeof(Index))) +
         (matrix.rows() + 1LL) * static_cast<long long>(sizeof(Offset)) + scalars;
}

std::string one_line(const std::string& message) {
  const std::string line = message.substr(0, message.find('\n'));
  return line.empty() ? "it failed without a message" : line;
}

namespace {

/// Bytes of a problem's matrix in CSR, before it is made.
double expected_bytes(const ProblemName& problem) {
  const double scalar = problem.precision == Precision::single_precision ? 4 : 8;
  const double components = visit_entry<double>(
      problem.entry, []<class E>() { return static_cast<double>(E::components); });
  return problem.rows * problem.row_length * (components * scalar + sizeof(Index));
}

}  // namespace

namespace {

/// Problems for the table of the suite `pjds`: row lengths like those of the paper's matrices.
bool is_like_those_of_pjds(const ProblemName& problem, bool quick) {
  if (quick) return problem.name == "surface-2562" || problem.name == "solid-1016";
  static constexpr std::array<std::string_view, 4> names = {"surface-543524", "cage-250000",
                                                            "diffusion-180000", "stiffness-60000"};
  return std::find(names.begin(), names.end(), problem.name) != names.end();
}

}  // namespace

bool fits(std::string_view suite, const ProblemName& problem) {
  if (suite == "pjds") {
    return problem.precision == Precision::double_precision && !problem.scaling &&
           !problem.edits_only && !problem.primitives;
  }
  if (suite == "right-hand-sides" && problem.entry == EntryKind::complex) return false;
  return problem.scaling == (suite == "scaling") && problem.assembly == (suite == "assembly") &&
         problem.hierarchical == (suite == "hierarchical") &&
         problem.primitives == (suite == "primitives");
}

bool takes(std::string_view suite, const ProblemName& problem, const Device& device, bool quick) {
  if (!fits(suite, problem) || (suite == "primitives" && !device.on_gpu())) return false;
  if (quick && (!problem.quick || problem.many_times_cache)) return false;
  if (suite == "pjds") return is_like_those_of_pjds(problem, quick);
  if (suite == "solver" || suite == "right-hand-sides") {
    // Keeps a thousand iterations by five libraries to minutes, not hours.
    constexpr double on_cpu = 120e6, on_gpu = 400e6, in_a_hurry = 2e6;
    const double bytes = expected_bytes(problem);
    if (quick) return bytes <= in_a_hurry;
    return bytes <= (device.on_gpu() ? on_gpu : on_cpu);
  }
  return true;
}

namespace {

/// Memory in addition to the matrix, for a problem whose elements are summed: the mesh, numbers of
/// each element, lists of the sums, and for real numbers the sums as a matrix of ones in several
/// copies. On a CPU 4.1 and 5.6 GB in all for 180 000 nodes of `diffusion` and `elasticity`, with
/// 3.9 and 4.6 GB seen in use.
double bytes_of_elements(const ProblemName& problem, bool on_gpu) {
  // By Euler's formula there are about as many edges as nodes and tetrahedra together.
  const double elements = problem.rows * (problem.row_length - 3) / 2;
  const bool is_real = problem.entry == EntryKind::real;
  const double components = is_real ? 1 : 9, of_row = is_real ? 1 : 3;
  constexpr double mesh = 26 * sizeof(double) + 4 * sizeof(Index);  // gradients and volume twice
  constexpr double lists = 60 * sizeof(unsigned);  // 16 terms and 4 corners, three times
  const double values = (16 * components + 4 * of_row) * sizeof(double);
  const double ones = 16 * (sizeof(Index) + sizeof(double));
  return elements * (mesh + lists + values + (is_real ? (on_gpu ? 6 : 12) * ones : 0));
}

/// Memory in addition to the matrix in CSR: trees of three node sizes and sliced storage, its
/// neighbour and their sums, both also as other libraries keep them, triplets to make them from.
/// For matrices with edits: the tree, the edited one, and both in CSR again with the edits.
double bytes_of_trees(const ProblemName& problem) {
  return expected_bytes(problem) * (problem.edits_only ? 8 : 25);
}

}  // namespace

std::string why_too_large(const ProblemName& problem, const Device& device) {
  // The matrix itself, Heddle's copies under several plans, and the versions made by libraries of
  // real numbers, some in processes of their own: a column for each number of each tile, or for
  // each block of numbers.
  const double tile = visit_entry<double>(
      problem.entry, []<class E>() { return static_cast<double>(tile_rows<E>) * tile_columns<E>; });
  const double scalar = problem.precision == Precision::single_precision ? 4 : 8;
  const double entries = problem.rows * problem.row_length;
  const double expanded = entries * tile * (scalar + 4), blocked = entries * tile * scalar;
  const double own = expected_bytes(problem);
  const double elements = problem.assembly ? bytes_of_elements(problem, device.on_gpu()) : 0;
  // On a CPU, measured for a million rows of 3x3 blocks, and for half a million quaternions.
  constexpr double processes = 0.5e9;
  const double needed = problem.hierarchical ? bytes_of_trees(problem)
                        : device.on_gpu()
                            ? elements + 2 * own + 2 * expanded + 2 * blocked
                            : elements + 8 * own + 3.5 * expanded + 3 * blocked + processes;
  const auto available = static_cast<double>(Device::cpu().available_memory());
  const auto gigabytes = [](double bytes) {
    return std::to_string(std::llround(bytes / 1e9)) + " GB";
  };
  if (needed <= available) return "";
  return "not measured: all candidates side by side need about " + gigabytes(needed) +
         " of the host's memory, but only " + gigabytes(available) + " are free";
}

}  // namespace heddle::bench
