// Texts about a matrix that table, page and JSON share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune_report.hpp"

namespace heddle::tuning {

/// True if the plan of the record was measured, not predicted.
bool was_measured(const ProfileRecord& record);

/// Static or dynamic, and the time of the other kind in the same layout, where it was measured:
/// "static (dynamic takes 1.07x)".
std::string preferred_schedule(const MatrixReport& matrix);

/// "1.08x"; empty where the ratio is not finite.
std::string times(double ratio);

/// The search and its objective, in a few words.
std::string search_text(const TuneReport& report);

/// "1.3%"; "cannot run" for an infinite loss.
std::string loss_text(double loss);

/// Geometric mean of 1 + loss, less 1; none without losses, or where one is infinite.
std::optional<double> mean_of_losses(const std::vector<double>& losses);

/// A sentence or two on the plan for the whole domain, without a full stop.
std::string domain_text(const DomainRecord& domain);

}  // namespace heddle::tuning
