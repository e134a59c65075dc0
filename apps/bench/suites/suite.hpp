// What the suites of `heddle bench` share: the settings of a run, the libraries, and the run in the
// making.
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

inline constexpr std::array<std::string_view, 8> suite_names = {
    "product", "solver",  "right-hand-sides", "layouts",
    "setup",   "scaling", "assembly",         "hierarchical"};

struct Settings {
  Device device = Device::cpu();
  int repetitions = 25;
  double tolerance = 1e-8;  // of complete solves in double precision
  /// That Heddle's own may take, longer ones being to a larger tolerance; unset: by the device.
  std::optional<double> seconds_of_a_solve;
  bool quick = false;
  std::vector<std::string> plans;  // beside those that each problem knows
  Profiles profiles;               // what they know of a problem is one more
};

/// One run, to which suites add records. Records may be taken out at any time from another thread.
class Session {
 public:
  /// `run` says what is known beforehand: name, date, machine, device, settings.
  Session(Settings settings, std::vector<std::unique_ptr<Peer>> peers, Run run);

  const Settings& settings() const { return settings_; }
  const Device& device() const { return settings_.device; }
  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }

  /// What bandwidths are held against; its times go to `saw_bandwidth`.
  Triad& triad() { return triad_; }
  void saw_bandwidth(const Timing& timing_of_triad);

  void add(Record record);

  /// Told what is being done, in a few words.
  std::function<void(const std::string&)> on_progress;
  void doing(const std::string& what) const {
    if (on_progress) on_progress(what);
  }

  /// All that there is so far, with every share of the bandwidth, which is the median of those that
  /// the run has seen.
  Run run() const;

  /// As the settings say, or what lets a run of everything end in minutes.
  double seconds_of_a_solve() const;

  /// Seconds that a suite may spend on timing one thing, all candidates together.
  double seconds_for_timing() const;

 private:
  Settings settings_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Triad triad_;
  mutable std::mutex mutex_;
  Run run_;
  std::vector<double> bandwidths_;
};

/// Adds the canonical text of what the run's profiles know of the matrix, if they do.
void add_tuned_plan(const AnyMatrix& matrix, const Session& session, Objective objective,
                    std::vector<std::string>& texts);

/// With suite, problem, entry, precision, rows and entries of it.
Record record_of(std::string_view suite, const Problem& problem, std::string quantity);

/// Entries, columns and row offsets, x and y once.
long long compulsory_bytes(const AnyMatrix& matrix);
/// Bytes that a product reads of it in CSR.
long long csr_bytes(const AnyMatrix& matrix);

/// The first line of what went wrong.
std::string one_line(const std::string& message);

/// Runs `act`; false, with what it threw as the candidate's failure, where it throws.
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

// One suite each, over one problem. What fails becomes a candidate's `failure`; only what concerns
// the problem itself is thrown.
void product_suite(Session& session, const Problem& problem);
void solver_suite(Session& session, const Problem& problem);
/// Of Hermitian positive definite matrices: by conjugate gradient one after the other and side by
/// side, and by block conjugate gradient; no other library has the like.
void right_hand_sides_suite(Session& session, const Problem& problem);
void layouts_suite(Session& session, const Problem& problem);
void setup_suite(Session& session, const Problem& problem);
/// `against_length`: of problems whose rows are as many and differ in length; otherwise the other
/// way round.
void scaling_suite(Session& session, const Problem& problem, bool against_length);
/// Of problems that have a mesh.
void assembly_suite(Session& session, const Problem& problem);
/// Of real numbers, complex ones, quaternions and 3x3 blocks.
void hierarchical_suite(Session& session, const Problem& problem);

/// y = A x by all, Heddle also under the plans of `texts`, warm and, if asked for, cold: what
/// `product_suite`, `scaling_suite` and `assembly_suite` do.
void measure_products(Session& session, const Problem& problem, Record record, bool cold,
                      const std::vector<std::string>& texts);

/// Whether a suite is for such a problem.
bool fits(std::string_view suite, const ProblemName& problem);

/// Whether a run in which nobody asks for certain problems takes it: not where that takes hours.
bool takes(std::string_view suite, const ProblemName& problem, const Device& device, bool quick);

/// Why the memory of the device does not suffice for the problem and all candidates side by side;
/// empty where it does.
std::string why_too_large(const ProblemName& problem, const Device& device);

}  // namespace heddle::bench
