// Results of runs of `heddle tune`, for the page of results.
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "amounts.hpp"
#include "heddle/error.hpp"
#include "markdown_table.hpp"
#include "plan_names.hpp"
#include "summary.hpp"
#include "tune_output.hpp"

namespace heddle::tuning {

namespace {

using nlohmann::json;
using report::MarkdownTable;

struct Found {
  std::string matrix, entry, precision, objective, search;
  std::string plan, schedule;
  long long rows = 0;
  double median = 0;
  double speedup = 0;  // 0: unknown
  double memory_ratio = 1;
  double predicted = 0;  // median of the predicted plan; 0: not measured
  double search_seconds = 0;
  int measured = 0;
};

std::vector<Found> found_by(const json& run) {
  std::vector<Found> all;
  for (const json& matrix : run.at("matrices")) {
    if (matrix.at("plan").is_null() || matrix.at("seconds").is_null()) continue;
    Found found;
    found.matrix = matrix.at("name");
    found.entry = run.at("entry");
    found.precision = run.at("precision");
    found.objective = run.at("objective");
    found.search = run.at("search");
    found.plan = matrix.at("plan");
    found.schedule = matrix.at("schedule");
    found.rows = matrix.at("rows");
    found.median = matrix.at("seconds").at("median");
    if (!matrix.at("speedup").is_null()) found.speedup = matrix.at("speedup");
    found.memory_ratio = matrix.at("memory_ratio");
    if (matrix.contains("predicted")) found.predicted = matrix.at("predicted").at("median");
    found.search_seconds = matrix.at("search_seconds");
    found.measured = matrix.at("measured");
    all.push_back(std::move(found));
  }
  return all;
}

std::string name_of(const Found& found) {
  return found.matrix + ", " + found.entry + (found.precision == "double" ? "" : ", single");
}

std::string percent(double share) { return report::readable_percent(share); }

class GeometricMean {
 public:
  void add(double value) {
    sum_ += std::log(value);
    ++count_;
  }
  int count() const { return count_; }
  std::string percent() const {
    if (count_ == 0) return "";
    return tuning::percent(std::exp(sum_ / count_));
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

/// A table like tables 2 to 8 of Mueller-Roemer et al. (2020).
std::string best_layouts(const std::vector<Found>& all) {
  MarkdownTable table({"matrix", "rows", "timed", "search", "best layout", "over CSR-AoS-AoS",
                       "median", "schedule", "memory over CSR's", "plans", "search took"});
  for (const Found& found : all) {
    table.add({name_of(found), report::readable_count(found.rows), found.objective, found.search,
               report::layout_name(parse_plan(found.plan)),
               found.speedup > 0 ? report::readable_ratio(found.speedup) : "",
               report::readable_seconds(found.median), found.schedule,
               report::readable_ratio(found.memory_ratio), report::readable_count(found.measured),
               report::readable_seconds(found.search_seconds)});
  }
  return table.text();
}

/// Speedup of the best plan of `other`. Both searches begin with the predicted plan: relative to
/// that, a change of the machine between the searches does not count.
double of_best(const Found& found, const Found& other) {
  const double times = found.median / other.median;
  const bool comparable = found.predicted > 0 && other.predicted > 0;
  return comparable ? times * other.predicted / found.predicted : times;
}

/// Empty unless a matrix was searched both fully and otherwise.
std::string searches(const std::vector<Found>& all) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::map<std::string, const Found*>>
      by_matrix;
  for (const Found& found : all) {
    by_matrix[{found.entry, found.precision, found.objective, found.matrix}][found.search] = &found;
  }
  MarkdownTable table({"matrix", "timed", "full", "took", "pruned vs. full's best",
                       "time vs. full's", "predicted vs. full's best"});
  GeometricMean reached, time, predicted;
  for (const auto& [key, by_search] : by_matrix) {
    if (!by_search.contains("full") || !by_search.contains("pruned")) continue;
    const Found &full = *by_search.at("full"), &pruned = *by_search.at("pruned");
    const double of_full = of_best(full, pruned);
    reached.add(of_full);
    time.add(pruned.search_seconds / full.search_seconds);
    if (full.predicted > 0) predicted.add(full.median / full.predicted);
    table.add({name_of(full), full.objective, report::readable_seconds(full.median),
               report::readable_seconds(full.search_seconds), percent(of_full),
               percent(pruned.search_seconds / full.search_seconds),
               full.predicted > 0 ? percent(full.median / full.predicted) : ""});
  }
  if (reached.count() == 0) return "";
  table.add({"geometric mean of " + std::to_string(reached.count()), "", "", "", reached.percent(),
             time.percent(), predicted.percent()});
  return "\nSearches compared. vs. full's best: the time of full's best plan over the time of the "
         "other plan, each relative to the predicted plan in its own search; more than 100% is "
         "faster. Predicted: the plan with which both begin, without a trial.\n\n" +
         table.text();
}

/// Adds a row for the domain that a run tuned, with its loss on a matrix left out, if there is one.
void add_domain(const json& run, std::vector<std::vector<std::string>>& rows) {
  if (!run.contains("domain")) return;
  const json& domain = run.at("domain");
  const json& mean = domain.at("mean_left_out");
  std::string worst;
  double most = 0;
  const auto losses = domain.at("left_out").get<std::vector<double>>();
  for (std::size_t i = 0; i < losses.size() && i < run.at("matrices").size(); ++i) {
    if (losses[i] < most) continue;
    most = losses[i];
    worst = loss_text(most) + ", " + run.at("matrices").at(i).at("name").get<std::string>();
  }
  const Plan plan = parse_plan(domain.at("plan").get<std::string>());
  const DomainUse use = parse_domain_use(domain.at("use").get<std::string>());
  rows.push_back({domain.at("name").get<std::string>() + ", " + run.at("entry").get<std::string>(),
                  run.at("objective").get<std::string>(), std::to_string(run.at("matrices").size()),
                  std::string(name(use)),
                  use == DomainUse::plan ? report::layout_name(plan) : plan_for_others(plan, use),
                  loss_text(domain.at("regret").get<double>()),
                  mean.is_null() ? "" : loss_text(mean.get<double>()), worst});
}

/// Empty where there is no domain.
std::string domains_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  MarkdownTable table({"domain", "timed", "matrices", "for others", "which is", "loss over the set",
                       "on a matrix left out", "at most"});
  for (const std::vector<std::string>& row : rows) table.add(row);
  return "\nDomains: how much longer a matrix takes under the plan of the set, and under that of "
         "the set without it, than under its own best plan (geometric means). For others: the "
         "whole plan; its storage, or only the order of its rows and columns, with the rest "
         "predicted for each matrix; or only predictions.\n\n" +
         table.text();
}

}  // namespace

std::string results_section(const std::vector<json>& runs) {
  std::map<std::string, std::vector<Found>> by_device;
  std::map<std::string, std::vector<std::vector<std::string>>> domains;
  std::map<std::string, std::set<std::string>> notes;
  for (const json& run : runs) {
    try {
      const std::string device = run.at("device");
      for (Found& found : found_by(run)) {
        parse_plan(found.plan);
        by_device[device].push_back(std::move(found));
      }
      add_domain(run, domains[device]);
      notes[device].insert(run.at("date").get<std::string>() + ", commit " +
                           run.at("commit").get<std::string>() + ": `" +
                           run.at("command").get<std::string>() + "`");
    } catch (const json::exception& error) {
      throw Error(ErrorKind::usage, std::string("not a run of heddle tune: ") + error.what());
    }
  }
  std::string text;
  for (const auto& [device, found] : by_device) {
    text += "\n## Tuning on " + report::escaped_markdown(device) + "\n\n";
    text +=
        "Searches by `heddle tune`: medians of one product, or of one iteration with Jacobi, under "
        "the best plan that was found, and how much faster that is than the natural layout under "
        "its own best schedule.\n\n";
    text += best_layouts(found) + searches(found) + domains_table(domains[device]) + "\n";
    for (const std::string& note : notes[device]) text += "- " + note + "\n";
  }
  return text;
}

}  // namespace heddle::tuning
