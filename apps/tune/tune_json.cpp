// A run of `heddle tune` as JSON.
#include <cmath>

#include "plan_names.hpp"
#include "summary.hpp"
#include "tune_output.hpp"

namespace heddle::tuning {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Statistics& s) {
  return {{"runs", s.runs},
          {"least", s.least},
          {"lower_quartile", s.lower_quartile},
          {"median", s.median},
          {"upper_quartile", s.upper_quartile},
          {"greatest", s.greatest},
          {"mean", s.mean}};
}

Json statistics_or_null(const Statistics& seconds) {
  return seconds.runs > 0 ? to_json(seconds) : Json();
}

Json to_json(const report::FiveNumbers& n) {
  return {{"least", n.least},
          {"lower_quartile", n.lower_quartile},
          {"median", n.median},
          {"upper_quartile", n.upper_quartile},
          {"greatest", n.greatest}};
}

Json to_json(const Trial& trial) {
  Json json = {{"plan", to_string(trial.plan)}, {"outcome", name(trial.outcome)}};
  if (!trial.reason.empty()) json["reason"] = trial.reason;
  json["memory_ratio"] = trial.memory_ratio;
  if (trial.outcome == Trial::Outcome::measured) {
    json["seconds"] = to_json(trial.seconds);
    json["score"] = std::isfinite(trial.score) ? Json(trial.score) : Json();
    json["prepare_seconds"] = trial.prepare_seconds;
    json["measure_seconds"] = trial.measure_seconds;
  }
  return json;
}

Json to_json(const MatrixReport& matrix, bool with_trials) {
  const PatternFeatures& f = matrix.features;
  Json json = {{"name", matrix.name},
               {"rows", f.rows},
               {"columns", f.columns},
               {"entries", f.entries},
               {"row_lengths", to_json(matrix.row_lengths)},
               {"row_bandwidths", to_json(matrix.row_bandwidths)},
               {"measured", matrix.count(Trial::Outcome::measured)},
               {"too_large", matrix.count(Trial::Outcome::too_large)},
               {"refused", matrix.count(Trial::Outcome::refused)},
               {"wrong", matrix.count(Trial::Outcome::wrong)},
               {"search_seconds", matrix.seconds}};
  if (matrix.gain_left) json["gain_left"] = *matrix.gain_left;
  if (matrix.record) {
    const ProfileRecord& record = *matrix.record;
    json["layout"] = report::layout_name(record.plan);
    json["plan"] = to_string(record.plan);
    json["seconds"] = statistics_or_null(record.seconds);
    json["memory_ratio"] = record.memory_ratio;
    json["natural"] = to_string(record.natural);
    json["natural_seconds"] = statistics_or_null(record.natural_seconds);
    json["speedup"] = record.speedup ? Json(*record.speedup) : Json();
    json["schedule"] = preferred_schedule(matrix);
    if (const Trial* const predicted = matrix.predicted()) {
      json["predicted"] = {{"plan", to_string(predicted->plan)},
                           {"median", predicted->seconds.median}};
    }
  } else {
    json["plan"] = nullptr;
  }
  if (!with_trials) return json;
  Json& layouts = json["layouts"] = Json::array();
  for (const LayoutSize& layout : matrix.layouts) {
    layouts.push_back(
        {{"layout", layout.layout}, {"bytes", layout.bytes}, {"of_csr", layout.of_csr}});
  }
  Json& trials = json["trials"] = Json::array();
  for (const Trial& trial : matrix.trials) trials.push_back(to_json(trial));
  return json;
}

Json to_json(const TuneReport& report, bool with_trials) {
  Json json = {
      {"date", report.date},
      {"version", report.version},
      {"commit", report.commit},
      {"command", report.command},
      {"device", report.device},
      {"entry", report.entry},
      {"precision", report.precision},
      {"search", name(report.search)},
      {"objective", name(report.objective)},
      {"max_memory_ratio", report.max_memory_ratio},
      {"memory_weight", report.memory_weight},
      {"confidence", report.confidence},
      {"tightness", report.tightness},
      {"seconds_limit", std::isfinite(report.seconds_limit) ? Json(report.seconds_limit) : Json()},
      {"cancelled", report.cancelled}};
  Json& matrices = json["matrices"] = Json::array();
  for (const MatrixReport& matrix : report.matrices) {
    matrices.push_back(to_json(matrix, with_trials));
  }
  if (report.domain) {
    const DomainRecord& domain = *report.domain;
    const auto left_out = mean_of_losses(domain.left_out);
    json["domain"] = {
        {"name", domain.domain},       {"plan", to_string(domain.plan)},
        {"use", name(domain.use)},     {"regret", domain.regret},
        {"left_out", domain.left_out}, {"mean_left_out", left_out ? Json(*left_out) : Json()}};
  }
  return json;
}

}  // namespace

nlohmann::ordered_json summary_json(const TuneReport& report) { return to_json(report, false); }
nlohmann::ordered_json trials_json(const TuneReport& report) { return to_json(report, true); }

}  // namespace heddle::tuning
