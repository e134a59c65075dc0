#include "simulations_section.hpp"

#include <cstdio>
#include <filesystem>
#include <set>

#include "amounts.hpp"
#include "heddle/error.hpp"
#include "markdown_table.hpp"

namespace heddle::bench {

namespace {

using report::MarkdownTable, report::readable_count, report::readable_seconds;

std::string seconds(const nlohmann::json& times, const char* phase) {
  return readable_seconds(times.at(phase).get<double>());
}

std::string file_name(const nlohmann::json& report) {
  return std::filesystem::path(report.at("mesh").get<std::string>()).filename().string();
}

std::string an_iteration(double all, long long iterations) {
  return iterations > 0 ? readable_seconds(all / static_cast<double>(iterations)) : "";
}

void add_spin(const nlohmann::json& report, MarkdownTable& table) {
  const nlohmann::json &eigenvector = report.at("eigenvector"), &times = report.at("times");
  const long long iterations = eigenvector.at("iterations");
  double iterating = 0;
  for (const nlohmann::json& step : eigenvector.at("steps"))
    iterating += step.at("seconds").get<double>();
  const bool has_surface = report.contains("positions");
  const std::filesystem::path rho(report.at("rho").at("from").get<std::string>());
  table.add({file_name(report), rho.filename().string(), report.at("device"),
             readable_count(report.at("vertices")), readable_count(eigenvector.at("entries")),
             std::to_string(eigenvector.at("steps").size()), readable_count(iterations),
             an_iteration(iterating, iterations),
             has_surface ? readable_count(report.at("positions").at("iterations")) : "",
             seconds(times, "read"), seconds(times, "assemble"), seconds(times, "build"),
             seconds(times, "eigenvector"), seconds(times, "positions"), seconds(times, "write"),
             seconds(times, "all")});
}

void add_elastic(const nlohmann::json& report, MarkdownTable& table) {
  const nlohmann::json& times = report.at("times");
  const long long iterations = report.at("iterations");
  table.add({file_name(report),
             report.at("analysis").get<std::string>() +
                 (report.contains("method") ? ", " + report.at("method").get<std::string>() : ""),
             report.at("device"), readable_count(report.at("unknowns")),
             readable_count(report.at("entries")), std::to_string(report.at("steps").size()),
             readable_count(iterations), an_iteration(times.at("iterate"), iterations),
             seconds(times, "read"), seconds(times, "setup"), seconds(times, "elements"),
             seconds(times, "values"), seconds(times, "iterate"), seconds(times, "fields"),
             seconds(times, "output"), seconds(times, "wall"),
             report::readable_percent(report.at("share"))});
}

void add_heart(const nlohmann::json& report, MarkdownTable& table) {
  const nlohmann::json& times = report.at("times");
  const long long steps =
      report.at("steps").get<long long>() - report.at("first_step").get<long long>();
  const bool is_newton = report.at("scheme") == "newton";
  const auto number = [&](const char* key) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", report.at(key).get<double>());
    return std::string(digits);
  };
  table.add({report.at("mesh").is_null() ? "slab" : file_name(report), report.at("membranes"),
             is_newton ? "newton" : report.at("splitting").get<std::string>(), report.at("device"),
             readable_count(report.at("vertices")), readable_count(report.at("entries")),
             number("time_step"), readable_count(steps), number("iterations_a_step"),
             an_iteration(times.at("steps"), steps), seconds(times, "read"),
             seconds(times, "setup"), seconds(times, "steps"), seconds(times, "output"),
             seconds(times, "wall")});
}

}  // namespace

std::string simulations_section(const std::vector<NamedReport>& reports) {
  MarkdownTable spin({"surface", "rho", "device", "rows", "quaternions", "steps", "iterations",
                      "an iteration", "of the positions", "read", "assemble", "build",
                      "eigenvector", "positions", "write", "in all"});
  MarkdownTable elastic({"solid", "analysis", "device", "unknowns", "blocks", "steps", "iterations",
                         "an iteration", "read", "setup", "elements", "values", "iterations took",
                         "vectors", "output", "in all", "solver and elements"});
  MarkdownTable heart({"tissue", "membranes", "scheme", "device", "vertices", "entries",
                       "ms a step", "steps", "iterations a step", "a step takes", "read", "setup",
                       "steps took", "output", "in all"});
  bool has_spin = false, has_elastic = false, has_heart = false;
  std::set<std::string> notes;
  for (const auto& [path, report] : reports) {
    try {
      if (report.contains("eigenvector")) {
        add_spin(report, spin);
        has_spin = true;
      } else if (report.contains("membranes")) {
        add_heart(report, heart);
        has_heart = true;
      } else {
        add_elastic(report, elastic);
        has_elastic = true;
      }
      notes.insert(report.at("date").get<std::string>() + ", commit " +
                   report.at("commit").get<std::string>() + ": `" +
                   report.at("command").get<std::string>() + "`");
    } catch (const nlohmann::json::exception& error) {
      throw Error(ErrorKind::usage, path + ": not a report of a simulation: " + error.what());
    }
  }
  std::string text = "\n## Simulations\n\n";
  if (has_spin) {
    text +=
        "Conformal deformations by heddle-spin: rows of the quaternion matrix, steps "
        "of inverse iteration and the iterations of all of them, those of the Poisson equation for "
        "the positions, and seconds by phase.\n\n" +
        spin.text() + "\n";
  }
  if (has_elastic) {
    text += "Elasticity by heddle-elastic, seconds by phase.\n\n" + elastic.text() + "\n";
  }
  if (has_heart) {
    text += "Heart muscle by heddle-heart, seconds by phase.\n\n" + heart.text() + "\n";
  }
  for (const std::string& note : notes) text += "- " + note + "\n";
  return text;
}

}  // namespace heddle::bench
