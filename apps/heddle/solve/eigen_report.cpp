#include "eigen_report.hpp"

#include <array>
#include <vector>

#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "output_path.hpp"
#include "readable.hpp"

namespace heddle::cli {

std::string numbered(const std::string& path, int k) {
  for (const char* const end : {".mtx", ".mtx.gz"}) {
    if (!ends_with(path, end)) continue;
    return path.substr(0, path.size() - std::string(end).size()) + "-" + std::to_string(k) + end;
  }
  return path + "-" + std::to_string(k) + ".mtx";
}

namespace {

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_or_null(value));
  return list;
}

void describe_memory(ReportLines& lines, const FoundPairs& found) {
  const StorageFacts& storage = found.storage;
  const std::string of_solver = readable_bytes(found.solver_memory);
  lines.add({{"solver_memory", found.solver_memory}});
  if (storage.ranks) return lines.add("solver", of_solver + " per rank");
  const bool is_sliced = storage.tree.empty();
  std::string text = is_sliced ? to_string(storage.memory) : to_string(storage.tree_memory);
  if (storage.copied_bytes > 0) {
    text += ", entries for the preconditioner " + readable_bytes(storage.copied_bytes);
  }
  lines.add("memory", text + (found.mass_entries ? ", solver and mass " : ", solver ") + of_solver);
}

void describe_pairs(ReportLines& lines, const EigenReport& report) {
  lines.add({{"eigenvalues", numbers(report.eigenvalues)},
             {"residuals", numbers(report.residuals)},
             {"residual_norms", numbers(report.residual_norms)},
             {"error_estimates", numbers(report.error_estimates)},
             {"mass_norm", number_or_null(report.mass_norm)},
             {"products", report.products},
             {"restarts", report.restarts}});
  if (report.eigenvalues.empty()) return;
  lines.append("\n      eigenvalue                 est. error   residual\n");
  for (std::size_t k = 0; k < report.eigenvalues.size(); ++k) {
    lines.append(formatted("%4zu  %-25.16g  %-11.1e  %.3e\n", k + 1, report.eigenvalues[k],
                           report.error_estimates[k], report.residuals[k]));
  }
}

}  // namespace

ReportLines describe(const EigenCommand& options, const FoundPairs& found, const Device& device) {
  const EigenReport& report = found.report;
  ReportLines lines;
  describe_matrix(lines, found);
  lines.add({{"mass_entries", found.mass_entries ? Json(*found.mass_entries) : Json()}});
  if (found.mass_entries) {
    lines.add("mass",
              io::printable(options.mass) + ": " + readable_count(*found.mass_entries) + " stored");
  }
  describe_device(lines, device);
  describe_plan(lines, found);
  describe_memory(lines, found);
  lines.add("problem",
            formatted("A x = %sx lambda, the %d smallest, LOBPCG, preconditioner %s",
                      found.mass_entries ? "M " : "", found.count, found.preconditioner.c_str()),
            {{"preconditioner", found.preconditioner},
             {"preconditioner_reason", found.preconditioner_reason}});
  if (options.preconditioner == automatic && found.preconditioner == "none") {
    lines.add("jacobi", "not taken: " + found.preconditioner_reason);
  }
  if (found.units.count > 0) {
    lines.add("diagonal", found.units.text(), {{"unit_rows", found.units.count}});
  }
  describe_status(lines, report.status, report.iterations, report.detail);
  lines.add("residual",
            formatted("|A x - M x lambda| / ((|A| + |lambda| |M|) |x|), computed from x; |A| is "
                      "about %.2e%s",
                      report.matrix_norm, found.mass_entries ? "" : ", M = 1"),
            {{"matrix_norm", number_or_null(report.matrix_norm)}});
  describe_times(lines, found, std::nullopt, report.seconds, report.iterations);
  lines.add({{"settings", json_of(options.settings, std::array{SettingUse::eigen})}});
  std::optional<std::string> files;
  if (options.output) {
    files = numbered(*options.output, 1) +
            (found.count > 1 ? " to " + numbered(*options.output, found.count) : std::string());
  }
  describe_written(lines, files,
                   report.eigenvalues.empty() ? "nothing: no vector was found" : nullptr);
  describe_pairs(lines, report);
  add_provenance(lines.json(), found.path, device);
  return lines;
}

}  // namespace heddle::cli
