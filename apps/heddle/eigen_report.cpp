#include "eigen_report.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
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

nlohmann::ordered_json to_json(const EigenCommand& options, const FoundPairs& found,
                               const Device& device) {
  const EigenReport& report = found.report;
  const auto numbers = [](const std::vector<double>& values) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const double value : values) list.push_back(number_or_null(value));
    return list;
  };
  nlohmann::ordered_json json;
  json["status"] = name(report.status);
  if (!report.detail.empty()) json["detail"] = report.detail;
  json["iterations"] = report.iterations;
  json["eigenvalues"] = numbers(report.eigenvalues);
  json["residuals"] = numbers(report.residuals);
  json["residual_norms"] = numbers(report.residual_norms);
  json["error_estimates"] = numbers(report.error_estimates);
  json["matrix_norm"] = number_or_null(report.matrix_norm);
  json["mass_norm"] = number_or_null(report.mass_norm);
  json["preconditioner"] = found.preconditioner;
  json["preconditioner_reason"] = found.preconditioner_reason;
  json["plan"] = found.storage.plan();
  json["plan_reason"] = found.storage.choice.reason;
  json["entry"] = found.entry.name();
  json["precision"] = name(found.precision);
  json["rows"] = found.rows;
  json["entries"] = found.entries;
  json["mass_entries"] =
      found.mass_entries ? nlohmann::ordered_json(*found.mass_entries) : nlohmann::ordered_json();
  json["products"] = report.products;
  json["restarts"] = report.restarts;
  json["memory"] = found.storage.bytes();
  if (found.storage.ranks) json["ranks"] = to_json(*found.storage.ranks);
  json["solver_memory"] = found.solver_memory;
  json["times"] = {{"read", found.read_seconds},
                   {"build", found.build_seconds},
                   {"iterate", report.seconds},
                   {"write", found.write_seconds}};
  json["settings"] = json_of(options.settings, std::array{SettingUse::eigen});
  add_provenance(json, found.path, device);
  return json;
}

namespace {

void print_memory(const FoundPairs& found) {
  const StorageFacts& storage = found.storage;
  if (storage.ranks) {
    print(*storage.ranks);
    std::printf("solver     %s of a rank\n", readable_bytes(found.solver_memory).c_str());
    return;
  }
  const bool is_sliced = storage.tree.empty();
  std::string text = is_sliced ? to_string(storage.memory) : to_string(storage.tree_memory);
  if (!is_sliced && storage.memory.total() > 0) {
    text += ", preconditioner " + to_string(storage.memory);
  }
  std::printf("memory     %s, solver%s %s\n", text.c_str(), found.mass_entries ? " and mass" : "",
              readable_bytes(found.solver_memory).c_str());
}

void print_pairs(const EigenReport& report) {
  if (report.eigenvalues.empty()) return;
  std::printf("\n      eigenvalue                 error about  residual\n");
  for (std::size_t k = 0; k < report.eigenvalues.size(); ++k) {
    std::printf("%4zu  %-25.16g  %-11.1e  %.3e\n", k + 1, report.eigenvalues[k],
                report.error_estimates[k], report.residuals[k]);
  }
}

}  // namespace

void print(const EigenCommand& options, const FoundPairs& found, const Device& device) {
  const EigenReport& report = found.report;
  print_matrix(found);
  if (found.mass_entries) {
    std::printf("mass       %s: %s stored\n", io::printable(options.mass).c_str(),
                readable_count(*found.mass_entries).c_str());
  }
  std::printf("device     %s\n", device.description().c_str());
  print_plan(found);
  print_memory(found);
  std::printf("problem    A x = %sx lambda, the %d smallest, LOBPCG, preconditioner %s\n",
              found.mass_entries ? "M " : "", found.count, found.preconditioner.c_str());
  if (options.preconditioner == automatic) {
    print_without_jacobi(found.preconditioner, found.preconditioner_reason);
  }
  print_status(report.status, report.iterations, report.detail);
  std::printf(
      "residual   |A x - M x lambda| / ((|A| + |lambda| |M|) |x|), computed from x; |A| is "
      "about %.2e%s\n",
      report.matrix_norm, found.mass_entries ? "" : ", M = 1");
  std::printf("time       read %s, build %s, iterate %s\n",
              readable_seconds(found.read_seconds).c_str(),
              readable_seconds(found.build_seconds).c_str(),
              readable_iterations(report.seconds, report.iterations).c_str());
  std::optional<std::string> files;
  if (options.output) {
    files = numbered(*options.output, 1) +
            (found.count > 1 ? " to " + numbered(*options.output, found.count) : std::string());
  }
  print_written(files, report.eigenvalues.empty() ? "nothing: no vector was found" : nullptr);
  print_pairs(report);
}

}  // namespace heddle::cli
