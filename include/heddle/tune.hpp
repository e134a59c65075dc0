// The tuner: measures which plan is best for a matrix on a device, and stores it in a profile.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/tuning/profile.hpp"
#include "heddle/tuning/search_space.hpp"
#include "heddle/tuning/statistics.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// `full`: every plan of the papers' space. `pruned`: a few percent of that time, over all settings
/// of a plan. `predict`: no trial, only a model of the device and the profiles.
enum class Search { full, pruned, predict };
HEDDLE_EXPORT std::string_view name(Search search);
HEDDLE_EXPORT Search parse_search(std::string_view text);

/// The outcome of one plan.
struct HEDDLE_EXPORT Trial {
  enum class Outcome {
    measured,
    too_large,  // over the memory ratio, or larger than free memory: nothing was allocated
    refused,    // unsuitable for matrix or device
    wrong       // its result differed from the reference's
  };
  Plan plan;
  Outcome outcome = Outcome::measured;
  std::string reason;       // why it was not measured
  Statistics seconds;       // corrected for the drift of the machine's speed, see `Race`
  double memory_ratio = 1;  // relative to CSR
  double score = std::numeric_limits<double>::infinity();
  double prepare_seconds = 0;  // time to compile, build and check it
  double measure_seconds = 0;  // total time, including the reference's turns
};
HEDDLE_EXPORT std::string_view name(Trial::Outcome outcome);

struct HEDDLE_EXPORT TuneProgress {
  int tried = 0;                // plans, measured or not
  int expected = 0;             // upper bound of their total number
  double seconds = 0;           // so far
  double seconds_left = 0;      // estimated
  const Trial* best = nullptr;  // so far; null before the first
  bool compares = false;        // searches are over; their results are measured side by side
};

struct HEDDLE_EXPORT TuneOptions {
  Search search = Search::pruned;
  Objective objective;
  double max_memory_ratio = 2.0;  // plans that take more than this multiple of CSR are skipped
  double memory_weight = 0;       // w of the score: time x (memory ratio)^w
  double confidence = 0.95;  // chance that the median is within `tightness` of the reported one
  double tightness = 0.01;   // relative half width at which measuring a plan stops
  int min_runs = 5;
  int max_runs = 101;
  /// The limit for the search of one matrix. The search always measures one plan, and measures the
  /// best ones again for up to a quarter of the limit more.
  double seconds_limit = std::numeric_limits<double>::infinity();
  /// Plans to begin with in addition to the predicted ones, such as those that profiles hold for
  /// similar matrices. Under `Search::predict` the first of them, if there is one, is the answer.
  std::vector<Plan> starts = {};
  /// Profiles whose plans for a matrix are added to these.
  Profiles known = {};
  /// Called for each matrix, with its name, before its plans are tried.
  std::function<void(const std::string&)> on_matrix = {};
  /// Called now and then; false ends the search, which keeps what it has measured.
  std::function<bool(const TuneProgress&)> observer = {};
  /// Called at the end of every trial.
  std::function<void(const Trial&)> on_trial = {};
  /// Called if a pruned search ends before its time, with the gain that it predicts for the plans
  /// that it leaves: 0.01 for 1%.
  std::function<void(double)> on_early_end = {};
};

/// The result of a search. `best` is empty if no plan could be measured.
struct HEDDLE_EXPORT SearchResult {
  std::optional<Trial> best;     // least score, or the favourite, see `pruned_search`
  std::optional<Trial> natural;  // the natural layout under its best schedule
  int measured = 0, too_large = 0, refused = 0, wrong = 0;
  double seconds = 0;
  bool cancelled = false;  // by the observer or the time limit
};

/// Tries every plan of the space. `reference` runs in turn with the candidates, and is a candidate.
HEDDLE_EXPORT SearchResult full_search(Trials& trials, const SearchSpace& space,
                                       const Plan& reference, const TuneOptions& options);
/// Coordinate search from each of `starts`, best guess first. The first is the reference, and wins
/// if nothing is faster by `tightness`, 1% at most; the same holds for schedules of the natural
/// layout. Ends when the remaining plans are predicted to gain less than 3% together.
/// docs/guide/tuning.md explains how.
HEDDLE_EXPORT SearchResult pruned_search(Trials& trials, const SearchSpace& space,
                                         const std::vector<Plan>& starts,
                                         const TuneOptions& options);

/// A matrix and its name for display.
struct HEDDLE_EXPORT NamedMatrix {
  std::string name;
  const AnyMatrix* matrix = nullptr;
};

/// Tunes a matrix on a device; the profile has one record, of the best plan and of the natural
/// layout under its best schedule. `Search::predict` tries no plan: its record has no measured
/// times and no speed-up. A cancelled search leaves a record of its measurements, or none before
/// the first plan is measured. Throws `Error`: usage for options without meaning, and for
/// iterations on a rectangular matrix; unsupported for conjugate gradient on entries without an
/// adjoint, and, with the last refusal, for a matrix that no plan can run.
HEDDLE_EXPORT Profile tune(const NamedMatrix& matrix, const Device& device,
                           const TuneOptions& options = {});
/// The same over matrices of one domain and entry, with a record for each, and the one plan that is
/// best over all: least total regret, the sum over matrices of log(score / best score). Candidates
/// are plans that were the best of one matrix or close to it, each measured on every matrix; their
/// storage or order alone; and the predictions (`DomainUse`). The kind that clearly loses least
/// when each matrix in turn is left out wins. There is no such plan if the search is cancelled
/// before all of them are measured, nor under `Search::predict`, which has no times to compare.
HEDDLE_EXPORT Profile tune_domain(const std::string& domain,
                                  const std::vector<NamedMatrix>& matrices, const Device& device,
                                  const TuneOptions& options = {});

/// Measures the products A x and A* x of hierarchical storage (docs/guide/hierarchical.md) under
/// each size of nodes, from 128 on upwards and then downwards until both take clearly longer, then
/// with the fastest sizes with more dense leaves, and with none, and the sizes by schedule=tree
/// (`DynamicProduct`), unless 128 takes clearly longer by it. Where that is the fastest for A x, it
/// times iterations of a solver by each schedule. The profile has one tree.
/// Among the options it uses those of medians, the limit of seconds and the observers. A cancelled
/// search keeps what was measured, or none. Throws `Error`: usage for options without meaning or a
/// matrix without entries, unsupported for entries of a definition, memory if no tree fits,
/// internal if two trees have different products.
HEDDLE_EXPORT Profile tune_nodes(const NamedMatrix& matrix, const Device& device,
                                 const TuneOptions& options = {});

/// Solves with conjugate gradient and multigrid, to the usual tolerance and from a right-hand side
/// of a random solution, under smoothers, steps, strengths of connections and cycles (V and W), one
/// after the other, each with the best of the others so far. The profile has one multigrid: the one
/// with the least time of set-up and solve together, or the default if nothing is faster by 2%.
/// Points, candidates and `is_adaptive` are those of `candidates`. Among the options it uses the
/// limits of seconds and of runs (of one setting; at most 5), known profiles and the observers. A
/// cancelled search keeps the best so far. Throws `Error` as `Multigrid` does for the default, and
/// usage for options without meaning, a matrix without entries, and one that the default does not
/// solve.
HEDDLE_EXPORT Profile tune_multigrid(const NamedMatrix& matrix, const MultigridChoice& candidates,
                                     const Device& device, const TuneOptions& options = {});

/// The loss of a domain's plan on a matrix, usually one outside its set.
struct HEDDLE_EXPORT Evaluation {
  std::string domain;
  Trial plan;  // the domain's plan on this matrix
  Trial best;  // the best that the matrix's own search found, measured alongside it
  /// Score of the plan over the best's, minus 1; infinite if it cannot run. Both are measured
  /// again: it may be slightly below 0, and is 0 if they are one plan.
  double loss = 0;
};
/// Searches as `options` say, without help from the profile, and measures both plans side by side.
/// Among several domains of that entry, precision and objective it takes the one with the nearest
/// matrix. Throws like `tune`, and `Error` (usage) if the profile has no such domain or the search
/// was cancelled before it measured both plans.
HEDDLE_EXPORT Evaluation evaluate(const Profile& profile, const NamedMatrix& matrix,
                                  const Device& device, const TuneOptions& options = {});

}  // namespace heddle
