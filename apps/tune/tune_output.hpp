// Presentations of a run of `heddle tune`. Nothing here measures.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tune_report.hpp"

namespace heddle::tuning {

/// Prints a line for each matrix, like tables 2 to 8 of Mueller-Roemer et al. (2020), and its plan
/// in full; at most 120 columns wide except for the plans.
void print_table(const TuneReport& report, std::ostream& out);

/// One page that needs no network and no script.
std::string html_page(const TuneReport& run);

/// A section on several runs in the form of `summary_json`, for a page of results: by device, the
/// plans found, and how near searches for the same matrix and objective came to one another's best.
/// Throws `Error` (usage) for JSON that is no such run, with the first missing key.
std::string results_section(const std::vector<nlohmann::json>& runs);

/// The report without its trials, as `heddle tune --json` prints it.
nlohmann::ordered_json summary_json(const TuneReport& report);
/// The same with every trial, as `--trials` keeps it.
nlohmann::ordered_json trials_json(const TuneReport& report);

}  // namespace heddle::tuning
