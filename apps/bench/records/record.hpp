// What a run of the benchmarks found: plain data, with one text as JSON (docs/guide/benchmarks.md,
// docs/reference/benchmark-schema.json).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/tuning/measure.hpp"

namespace heddle::bench {

inline constexpr int schema_version = 1;

/// Why a candidate is in a record. `natural`: Heddle under CSR-AoS-AoS; `chosen`: under the plan
/// that it chooses; `best`: under the fastest plan that is known for the problem; `tried`: under
/// another plan, one that was slower, was asked for, or was refused; `peer`: another library.
enum class Role { natural, chosen, best, tried, peer };

/// One way of doing a record's work.
struct Candidate {
  Role role = Role::peer;
  std::string library;  // "Heddle", "cuSPARSE", ...
  std::string method;   // the plan, or format and algorithm

  std::optional<Timing> seconds;       // of one run: a product, an iteration, a step of setting up
  std::optional<Timing> cold;          // the same where caches hold nothing of it
  std::optional<double> of_bandwidth;  // compulsory bytes / median over the bandwidth of the run
  std::optional<double> cold_of_bandwidth;
  std::optional<double> error;            // |y - y_reference| / |y_reference|, 2-norms
  std::optional<long long> memory_bytes;  // of the matrix as it is stored
  std::optional<double> memory_ratio;     // to CSR of the same entries
  std::optional<double> of_product;       // median over that of a product with the same matrix
  std::optional<double> products_to_pay;  // for which a new order of values has paid for itself

  // Of a solve to the tolerance of the record.
  std::optional<long long> iterations;
  std::optional<double> solve_seconds;
  std::optional<double> residual;  // |b - A x| / |b|, computed by the same code for all
  std::optional<std::string> status;
  std::vector<double> history;     // relative residuals of the recurrence; may be thinned out
  std::vector<double> history_at;  // iteration numbers of those

  /// Why there are no figures: what the library said. A candidate is never left out.
  std::optional<std::string> failure;
};

/// One line of a suite: everybody's way of doing the same work.
struct Record {
  std::string suite;      // as `suite_names` has it
  std::string problem;    // as `--problem` names it, e.g. surface-34834
  std::string entry;      // as --entry
  std::string precision;  // single, double
  std::string quantity;   // product, cg, cg+jacobi, bicgstab, memory, build, ...
  long long rows = 0;
  long long entries = 0;
  std::optional<long long> compulsory_bytes;  // that one run must move
  std::optional<double> tolerance;            // of complete solves, where it is not the run's
  std::vector<Candidate> candidates;

  /// The fastest peer whose result is right, or null.
  const Candidate* best_peer() const;
  /// The first candidate of that role, or null.
  const Candidate* find(Role role) const;
  /// Median of the best peer over that of the candidate: how many times as fast; null without both.
  std::optional<double> speedup(Role role) const;
};

/// |y - y_reference| / |y_reference| up to which a result is right: sums of some hundred products,
/// whose order is the library's own.
inline constexpr double most_error_double = 1e-12;
inline constexpr double most_error_single = 1e-5;

/// Whether the candidate did the work: no failure, the error (if any) within the bound for the
/// record's precision, the status (if any) "converged".
bool is_right(const Record& record, const Candidate& candidate);

/// A library that was looked for.
struct PeerPresence {
  std::string name;
  std::string version;  // empty where absent
  std::string detail;   // where absent, why; else how it is called
  bool present = false;
};

/// A whole run.
struct Run {
  std::string name;     // of a named run, e.g. 2026-11-21-h200
  std::string date;     // 2026-11-21T14:05:00Z
  std::string version;  // of Heddle
  std::string commit;   // that it was built from, with "+" where files had changed
  std::string command;
  std::string machine;         // processor, cores
  std::string device;          // Device::description()
  std::string device_kind;     // cpu, cuda
  std::string bandwidth_name;  // triad, copy
  double bandwidth = 0;        // bytes a second, the median over the run
  int repetitions = 0;
  double tolerance = 0;  // of complete solves
  bool quick = false;
  bool interrupted = false;  // before everything was measured that was to be
  std::vector<PeerPresence> peers;
  std::vector<Record> records;
};

/// JSON has no numbers that are not finite: such an optional one is left out and the candidate's
/// `failure` says so. Throws `Error` (not_finite) where a number that must be there is none.
nlohmann::ordered_json to_json(const Run& run);
/// Throws `Error` (malformed_file) that names the path of the first fault, e.g. records[3].rows.
Run run_from_json(const nlohmann::json& json);

/// `read_run`: of a file. Throws `Error` that names it.
Run read_run(const std::string& path);

std::string_view name(Role role);

/// Of Heddle: version and commit, and whether the run is less than a whole one.
std::string described(const Run& run);

}  // namespace heddle::bench
