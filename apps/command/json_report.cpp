#include "json_report.hpp"

#include <cmath>

#include "base/cores.hpp"
#include "heddle/version.hpp"
#include "provenance.hpp"
#include "run_program.hpp"

namespace heddle::cli {

using nlohmann::ordered_json;

ordered_json begin_report() {
  return {{"program", std::string(program_name) + " " + version},
          {"version", version},
          {"commit", commit()},
          {"date", utc("%Y-%m-%dT%H:%M:%SZ")},
          {"command", command_line()},
          {"host", host_name()}};
}

void add_provenance(ordered_json& json, const std::string& file, const Device& device) {
  json["file"] = file;
  json["device"] = device.description();
  json["threads"] = device.threads();
  // A solve reports its own processors, and those of ranks differ from one another.
  const bool is_reported = json.contains("processors") || json.contains("ranks");
  if (const int processors = processors_of(device); processors > 0 && !is_reported) {
    json["processors"] = processors;
  }
  json.update(begin_report());
}

ordered_json json_of(const Settings& settings, std::span<const SettingUse> uses) {
  return ordered_json::parse(settings.to_json(uses));
}

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

std::string text_of(const ordered_json& report, int indent) {
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace heddle::cli
