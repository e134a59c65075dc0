// The results of a run of the benchmarks: plain data, with a text form in JSON
// (docs/guide/benchmarks.md, docs/reference/benchmark-schema.json).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/detail/trees/scheduler_statistics.hpp"
#include "heddle/tuning/measure.hpp"

namespace heddle::bench {

inline constexpr int schema_version = 1;

/// The reason why a candidate is in a record. `natural`: Heddle under CSR-AoS-AoS; `chosen`: under
/// the plan that it chooses; `best`: under the fastest plan known for the problem; `tried`: under
/// another plan, which was slower, was asked for, or was refused; `peer`: another library.
enum class Role { natural, chosen, best, tried, peer };

/// One way of doing a record's work.
struct Candidate {
  Role role = Role::peer;
  std::string library;  // "Heddle", "cuSPARSE", ...
  std::string method;   // the plan, or format and algorithm

  std::optional<Timing> seconds;       // one run: a product, an iteration, a step of setup
  std::optional<Timing> cold;          // the same with none of its data in the caches
  std::optional<double> of_bandwidth;  // compulsory bytes / median over the bandwidth of the run
  std::optional<double> cold_of_bandwidth;
  std::optional<double> error;            // |y - y_reference| / |y_reference|, 2-norms
  std::optional<long long> memory_bytes;  // memory of the matrix as stored
  std::optional<double> memory_ratio;     // to CSR of the same entries
  std::optional<double> of_product;       // median over that of a product with the same matrix
  std::optional<double> products_to_pay;  // after which a new order of values has paid for itself
  std::optional<bool> repeats;            // further runs left the same bits
  std::optional<SchedulerStatistics> queues;  // of the last product by schedule=tree on a GPU

  // Results of a solve to the tolerance of the record.
  std::optional<long long> iterations;
  std::optional<double> solve_seconds;
  std::optional<double> residual;  // |b - A x| / |b|, computed by the same code for all
  std::optional<std::string> status;
  std::vector<double> history;     // relative residuals of the recurrence; may be thinned out
  std::vector<double> history_at;  // iteration numbers of `history`

  /// The reason for missing figures, as the library gave it. A candidate is never left out.
  std::optional<std::string> failure;
};

/// One line of a suite: all libraries' ways of doing the same work.
struct Record {
  std::string suite;      // an element of `suite_names`
  std::string problem;    // name for `--problem`, e.g. surface-34834
  std::string entry;      // name for --entry
  std::string precision;  // single, double
  std::string quantity;   // product, cg, cg+jacobi, bicgstab, memory, build, ...
  long long rows = 0;
  long long entries = 0;
  std::optional<long long> compulsory_bytes;  // bytes that one run must move
  std::optional<double> tolerance;            // for complete solves, where it is not the run's
  std::vector<Candidate> candidates;

  /// The fastest peer whose result is right, or null.
  const Candidate* best_peer() const;
  /// The first candidate of that role, or null.
  const Candidate* find(Role role) const;
  /// Median of the best peer over that of the candidate: how many times as fast; null without both.
  std::optional<double> speedup(Role role) const;
};

/// Bound on |y - y_reference| / |y_reference| for a right result: sums of some hundred products, in
/// an order that each library chooses.
inline constexpr double max_error_double = 1e-12;
inline constexpr double max_error_single = 1e-5;

/// True if the candidate did the work: no failure, the error (if any) within the bound for the
/// record's precision, the status (if any) "converged".
bool is_right(const Record& record, const Candidate& candidate);

/// A library that was looked for.
struct PeerPresence {
  std::string name;
  std::string version;  // empty where absent
  std::string detail;   // if absent, the reason; else how it is called
  bool present = false;
};

/// A whole run.
struct Run {
  std::string name;     // name of a named run, e.g. 2026-11-21-h200
  std::string date;     // 2026-11-21T14:05:00Z
  std::string version;  // Heddle's version
  std::string commit;   // commit it was built from, with "+" where files had changed
  std::string command;
  std::string machine;         // processor, cores
  std::string device;          // Device::description()
  std::string device_kind;     // cpu, cuda
  std::string bandwidth_name;  // triad, copy
  double bandwidth = 0;        // bytes per second, the median over the run
  int repetitions = 0;
  double tolerance = 0;  // for complete solves
  bool quick = false;
  bool interrupted = false;  // stopped before all planned measurements were done
  std::vector<PeerPresence> peers;
  std::vector<Record> records;
};

/// JSON has no non-finite numbers: such an optional number is left out, and the candidate's
/// `failure` says so. Throws `Error` (not_finite) where a required number is not finite.
nlohmann::ordered_json to_json(const Run& run);
/// Throws `Error` (malformed_file) that names the path of the first fault, e.g. records[3].rows.
Run run_from_json(const nlohmann::json& json);

/// Reads a run from a file. Throws `Error` that names the file.
Run read_run(const std::string& path);

std::string_view name(Role role);

/// Heddle's version and commit, and a remark if the run is incomplete.
std::string described(const Run& run);

}  // namespace heddle::bench
