// Two runs side by side: what is slower, faster, gone or new, as far as the noise of the two allows
// a verdict.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "amounts.hpp"
#include "output.hpp"
#include "records/record_groups.hpp"
#include "text_table.hpp"

namespace heddle::bench {

using namespace report;

namespace {

/// Time of one candidate under warm or cold caches.
struct Time {
  const Record* record;
  const Candidate* candidate;
  const char* caches;
  Timing timing;
};

/// Suite, problem, entries of its matrix, entry, precision, quantity, role, library, method,
/// caches, and an index among those that agree in all of these.
using Key = std::tuple<std::string, std::string, long long, std::string, std::string, std::string,
                       Role, std::string, std::string, std::string, int>;

struct Times {
  std::vector<Key> order;  // in the order of the run
  std::map<Key, Time> of;
};

Times times_of(const Run& run) {
  Times times;
  for (const Record& record : run.records) {
    for (const Candidate& candidate : record.candidates) {
      const bool any_plan = candidate.role == Role::chosen || candidate.role == Role::best;
      const auto add = [&](const char* caches, const std::optional<Timing>& timing) {
        if (!timing || !is_right(record, candidate)) return;
        Key key = {record.suite,
                   record.problem,
                   record.entries,
                   record.entry,
                   record.precision,
                   record.quantity,
                   candidate.role,
                   candidate.library,
                   any_plan ? "" : short_method(candidate),
                   caches,
                   0};
        while (times.of.contains(key)) ++std::get<10>(key);
        times.of.emplace(key, Time{&record, &candidate, caches, *timing});
        times.order.push_back(key);
      };
      add("warm", candidate.seconds);
      add("cold", candidate.cold);
    }
  }
  return times;
}

struct Difference {
  Time before, after;
  double ratio;  // time after over time before
};

bool overlap(const Timing& a, const Timing& b) {
  return a.lower_quartile <= b.upper_quartile && b.lower_quartile <= a.upper_quartile;
}

void print_differences(const std::string& what, std::vector<Difference> differences, bool slower,
                       std::ostream& out) {
  if (differences.empty()) return;
  std::stable_sort(differences.begin(), differences.end(),
                   [&](const Difference& a, const Difference& b) {
                     return slower ? a.ratio > b.ratio : a.ratio < b.ratio;
                   });
  out << what << "\n";
  TextTable table({{"  change", true},
                   {"before"},
                   {"after"},
                   {"caches", true},
                   {"suite", true},
                   {"problem", true, 20},
                   {"work", true, 10},
                   {"by", true, 12}});
  for (const Difference& d : differences) {
    std::string by = who(*d.after.candidate);
    const std::string old_method = short_method(*d.before.candidate);
    if (short_method(*d.after.candidate) != old_method) by.append(", was ").append(old_method);
    char change[32];
    std::snprintf(change, sizeof change, "  %+.1f%%", 100 * (d.ratio - 1));
    table.add({change, readable_seconds(d.before.timing.median),
               readable_seconds(d.after.timing.median), d.after.caches, d.after.record->suite,
               problem_of(*d.after.record), d.after.record->quantity, by});
  }
  table.print(out);
}

/// Prints times that one run has and the other lacks; a suite missing as a whole takes one line.
void print_lone(const std::string& what, const Times& times, const Times& others,
                const Run& other_run, std::ostream& out) {
  std::vector<std::string> lines;
  std::map<std::string, int> whole_suites;
  for (const Key& key : times.order) {
    if (others.of.contains(key)) continue;
    const Time& time = times.of.at(key);
    const std::string& suite = time.record->suite;
    const bool known = std::any_of(other_run.records.begin(), other_run.records.end(),
                                   [&](const Record& record) { return record.suite == suite; });
    if (!known) {
      ++whole_suites[suite];
      continue;
    }
    std::string line = "  " + suite + ", " + problem_of(*time.record) + ", " +
                       time.record->quantity + ", " + who(*time.candidate) + ", ";
    if (!lines.empty() && lines.back() == line + "warm") {
      lines.back() += std::string(" and ") + time.caches;
    } else {
      lines.push_back(line + time.caches);
    }
  }
  if (lines.empty() && whole_suites.empty()) return;
  out << what << "\n";
  for (const auto& [suite, count] : whole_suites) {
    out << wrapped("  the whole suite " + suite + " (" + std::to_string(count) + " times)", 4);
  }
  for (const std::string& line : lines) out << wrapped(line, 4);
}

void print_run(const char* label, const Run& run, std::ostream& out) {
  std::string text =
      run.name.empty() ? "commit " + run.commit : run.name + ", commit " + run.commit;
  if (!run.date.empty()) text += ", " + run.date;
  out << wrapped(std::string(label) + "  " + text + ", " + run.bandwidth_name + " " +
                     readable_bandwidth(run.bandwidth),
                 8);
}

void warn(const Run& before, const Run& after, std::ostream& out) {
  const auto differs = [&](const char* what, const std::string& a, const std::string& b) {
    if (a == b) return;
    out << wrapped(std::string("warning: the runs are of different ") + what + ": " + a + "; " + b,
                   9);
  };
  differs("machines", before.machine, after.machine);
  differs("devices", before.device, after.device);
  constexpr double usual = 0.05;
  const double larger = std::max(before.bandwidth, after.bandwidth);
  if (std::abs(before.bandwidth - after.bandwidth) > usual * larger) {
    out << wrapped("warning: the bandwidths differ by more than " + readable_percent(usual) +
                       ": the machine itself was not the same",
                   9);
  }
}

}  // namespace

Comparison compare_runs(const Run& old_run, const Run& new_run, double threshold,
                        std::ostream& out) {
  print_run("before", old_run, out);
  print_run("after ", new_run, out);
  warn(old_run, new_run, out);
  const Times before = times_of(old_run), after = times_of(new_run);
  Comparison comparison;
  std::vector<Difference> slower, faster, slower_peers, faster_peers;
  int same_peers = 0, missing_peers = 0;
  for (const Key& key : before.order) {
    const auto found = after.of.find(key);
    if (found == after.of.end()) {
      ++(std::get<Role>(key) == Role::peer ? missing_peers : comparison.missing);
      continue;
    }
    const Difference d = {before.of.at(key), found->second,
                          found->second.timing.median / before.of.at(key).timing.median};
    const bool differs = std::abs(d.after.timing.median - d.before.timing.median) >
                             threshold * d.before.timing.median &&
                         !overlap(d.before.timing, d.after.timing);
    const bool peer = d.after.candidate->role == Role::peer;
    if (!differs) {
      ++(peer ? same_peers : comparison.same);
    } else if (d.after.timing.median > d.before.timing.median) {
      (peer ? slower_peers : slower).push_back(d);
    } else {
      (peer ? faster_peers : faster).push_back(d);
    }
  }
  comparison.slower = static_cast<int>(slower.size());
  comparison.faster = static_cast<int>(faster.size());
  print_differences("slower", slower, true, out);
  print_differences("faster", faster, false, out);
  print_differences("slower, other libraries", slower_peers, true, out);
  print_differences("faster, other libraries", faster_peers, false, out);
  print_lone("missing: no valid result in the later run", before, after, new_run, out);
  print_lone("new: no valid result in the earlier run", after, before, old_run, out);
  const auto counts = [](std::size_t slow, std::size_t fast, int same, int missing) {
    return std::to_string(slow) + " slower, " + std::to_string(fast) + " faster, " +
           std::to_string(same) + " the same, " + std::to_string(missing) + " missing";
  };
  out << "Heddle           "
      << counts(slower.size(), faster.size(), comparison.same, comparison.missing) << "\n"
      << "other libraries  "
      << counts(slower_peers.size(), faster_peers.size(), same_peers, missing_peers) << "\n"
      << "the same: within " << readable_percent(threshold) << " or the noise of either run\n";
  return comparison;
}

}  // namespace heddle::bench
