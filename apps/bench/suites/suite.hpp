// Shared by the suites of `heddle bench`: the settings of a run, the libraries, and the run in
// progress.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/plan_choice.hpp"
#include "heddle/tuning/measure.hpp"
#include "peers/peer.hpp"
#include "problems/problem.hpp"
#include "records/record.hpp"

namespace heddle::bench {

inline constexpr std::array<std::string_view, 10> suite_names = {
    "product", "solver",   "right-hand-sides", "layouts", "setup",
    "scaling", "assembly", "hierarchical",     "pjds",    "primitives"};

struct Settings {
  Device device = Device::cpu();
  int repetitions = 25;
  double tolerance = 1e-8;  // for complete solves in double precision
  /// Time for Heddle's own solves, longer ones being run to a larger tolerance; unset: by device.
  std::optional<double> seconds_of_a_solve;
  bool quick = false;
  std::vector<std::string> plans;  // in addition to those of each problem
  Profiles profiles;               // their plan for a problem is added
};

/// One run, to which suites add records. `run` may be called at any time from another thread.
class Session {
 public:
  /// `run` holds the data known in advance: name, date, machine, device, settings.
  Session(Settings settings, std::vector<std::unique_ptr<Peer>> peers, Run run);

  const Settings& settings() const { return settings_; }
  const Device& device() const { return settings_.device; }
  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }

  /// The reference for bandwidths; its times go to `saw_bandwidth`.
  Triad& triad() { return triad_; }
  void saw_bandwidth(const Timing& timing_of_triad);

  void add(Record record);

  /// Called with a short description of the current work.
  std::function<void(const std::string&)> on_progress;
  void doing(const std::string& what) const {
    if (on_progress) on_progress(what);
  }

  /// All results so far, with each share of the bandwidth; the bandwidth is the median of those
  /// that the run has seen.
  Run run() const;

  /// From the settings, or a value that lets a run of everything end in minutes.
  double seconds_of_a_solve() const;

  /// Seconds that a suite may spend on timing one quantity, for all candidates together.
  double seconds_for_timing() const;

 private:
  Settings settings_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Triad triad_;
  mutable std::mutex mutex_;
  Run run_;
  std::vector<double> bandwidths_;
};

/// Adds the canonical text of the plan that the run's profiles hold for the matrix, if any.
void add_tuned_plan(const AnyMatrix& matrix, const Session& session, Objective objective,
                    std::vector<std::string>& texts);

/// A record of the suite with the problem's name, entry, precision, rows and entries.
Record record_of(std::string_view suite, const Problem& problem, std::string quantity);

/// Bytes of entries, columns and row offsets, and of x and y once each.
long long compulsory_bytes(const AnyMatrix& matrix);
/// Bytes of the matrix that a product reads in CSR.
long long csr_bytes(const AnyMatrix& matrix);

/// The first line of an error message.
std::string one_line(const std::string& message);

/// Runs `act`; if it throws, returns false, with the error as the candidate's failure.
template <class F>
bool or_failure(Candidate& candidate, F&& act) {
  try {
    act();
    return true;
  } catch (const std::exception& error) {
    candidate.failure = one_line(error.what());
    return false;
  }
}

// One suite each, over one problem. A failure becomes a candidate's `failure`; only errors that
// concern the problem itself are thrown.
void product_suite(Session& session, const Problem& problem);
void solver_suite(Session& session, const Problem& problem);
/// For Hermitian positive definite matrices: by conjugate gradient, one after the other and side by
/// side, and by block conjugate gradient; no other library has an equivalent.
void right_hand_sides_suite(Session& session, const Problem& problem);
void layouts_suite(Session& session, const Problem& problem);
void setup_suite(Session& session, const Problem& problem);
/// `against_length`: for problems with equally many rows of different lengths; otherwise for
/// problems with different numbers of rows of equal length.
void scaling_suite(Session& session, const Problem& problem, bool against_length);
/// For problems that have a mesh.
void assembly_suite(Session& session, const Problem& problem);
/// For real numbers, complex ones, quaternions and 3x3 blocks.
void hierarchical_suite(Session& session, const Problem& problem);
/// Also in single precision, if the problem is in double.
void pjds_suite(Session& session, const Problem& problem);
/// On a GPU, in both precisions and for vectors of the problem's rows. Throws `Error` (unsupported)
/// in builds without CUDA.
void primitives_suite(Session& session, const Problem& problem);

/// y = A x by all libraries, by Heddle also under the plans of `texts`, warm and, on request, cold:
/// the work of `product_suite`, `scaling_suite` and `assembly_suite`.
void measure_products(Session& session, const Problem& problem, Record record, bool cold,
                      const std::vector<std::string>& texts);

/// Returns true if the suite is meant for such a problem.
bool fits(std::string_view suite, const ProblemName& problem);

/// Returns true if a run without named problems includes this one: not where it takes hours.
bool takes(std::string_view suite, const ProblemName& problem, const Device& device, bool quick);

/// The reason why the memory of the device does not suffice for the problem and all candidates side
/// by side; empty where it does.
std::string why_too_large(const ProblemName& problem, const Device& device);

}  // namespace heddle::bench
