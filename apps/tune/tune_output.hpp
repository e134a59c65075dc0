// What is shown of a run of `heddle tune`. Nothing here measures.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tune_report.hpp"

namespace heddle::tuning {

/// A line for each matrix, as tables 2 to 8 of Mueller-Roemer et al. (2020), and its plan in full;
/// at most 120 columns wide but for the plans.
void print_table(const TuneReport& report, std::ostream& out);

/// One page that needs no network and no script.
std::string html_page(const TuneReport& run);

/// Of several runs as `summary_json` has them, for a page of results: by device, what was found,
/// and what the searches that were run for the same matrix and objective found of one another's
/// best. Throws `Error` (usage) for what is no such run, with the first key that is missing.
std::string results_section(const std::vector<nlohmann::json>& runs);

/// The report without its trials, as `heddle tune --json` prints it.
nlohmann::ordered_json summary_json(const TuneReport& report);
/// And with every trial, as `--trials` keeps it.
nlohmann::ordered_json trials_json(const TuneReport& report);

}  // namespace heddle::tuning
