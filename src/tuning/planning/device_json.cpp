#include "device_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "heddle/error.hpp"

namespace heddle::profile_json {

using detail::JsonObject;
using detail::refuse_json;
using json = nlohmann::ordered_json;

json text(const std::string& bytes) {
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace));
}

json number(double value, const char* what) {
  if (std::isfinite(value)) return value;
  throw Error(ErrorKind::not_finite, std::string("profile: ") + what + " is not a finite number");
}

json written(const DeviceProperties& device) {
  json object = {{"kind", device.gpu ? "gpu" : "cpu"},
                 {"name", text(device.name)},
                 {"memory", device.memory},
                 {"last_cache", device.last_cache}};
  if (!device.gpu) {
    object["threads"] = device.threads;
    object["instructions"] = text(device.instructions);
    return object;
  }
  object["architecture"] = device.architecture;
  object["multiprocessors"] = device.multiprocessors;
  object["warp"] = device.warp;
  object["threads_of_block"] = device.threads_of_block;
  object["threads_of_multiprocessor"] = device.threads_of_multiprocessor;
  object["blocks_of_multiprocessor"] = device.blocks_of_multiprocessor;
  object["registers_of_multiprocessor"] = device.registers_of_multiprocessor;
  object["shared_memory_of_block"] = device.shared_memory_of_block;
  object["driver"] = text(device.driver);
  return object;
}

json written(const Ceilings& ceilings) {
  return {{"memory", number(ceilings.memory, "a ceiling")},
          {"cache", number(ceilings.cache, "a ceiling")},
          {"start", number(ceilings.start, "a ceiling")}};
}

DeviceProperties read_device(const JsonObject& object) {
  DeviceProperties device;
  device.gpu = object.text_of("kind", {"cpu", "gpu"}) == "gpu";
  const auto count = [&](const char* key) {
    return static_cast<int>(object.count(key, max_count));
  };
  if (device.gpu) {
    object.check_keys({"kind", "name", "memory", "last_cache", "architecture", "multiprocessors",
                       "warp", "threads_of_block", "threads_of_multiprocessor",
                       "blocks_of_multiprocessor", "registers_of_multiprocessor",
                       "shared_memory_of_block", "driver"});
    device.architecture = count("architecture");
    device.multiprocessors = count("multiprocessors");
    device.warp = count("warp");
    device.threads_of_block = count("threads_of_block");
    device.threads_of_multiprocessor = count("threads_of_multiprocessor");
    device.blocks_of_multiprocessor = count("blocks_of_multiprocessor");
    device.registers_of_multiprocessor = count("registers_of_multiprocessor");
    device.shared_memory_of_block = count("shared_memory_of_block");
    device.driver = object.text("driver");
  } else {
    object.check_keys({"kind", "name", "memory", "last_cache", "threads", "instructions"});
    device.threads = count("threads");
    device.instructions = object.text("instructions");
  }
  device.name = object.text("name");
  device.memory = object.count("memory");
  device.last_cache = object.count("last_cache");
  return device;
}

Ceilings read_ceilings(const JsonObject& object) {
  object.check_keys({"memory", "cache", "start"});
  return {object.number("memory"), object.number("cache"), object.number("start")};
}

json written(const Statistics& seconds) {
  return {{"runs", seconds.runs},
          {"least", number(seconds.least, "a time")},
          {"lower_quartile", number(seconds.lower_quartile, "a time")},
          {"median", number(seconds.median, "a time")},
          {"upper_quartile", number(seconds.upper_quartile, "a time")},
          {"greatest", number(seconds.greatest, "a time")},
          {"mean", number(seconds.mean, "a time")}};
}

json written(const PatternFeatures& features) {
  return {{"rows", features.rows},
          {"columns", features.columns},
          {"entries", features.entries},
          {"mean_row", number(features.mean_row, "a feature")},
          {"deviation_of_rows", number(features.deviation_of_rows, "a feature")},
          {"longest_row", features.longest_row},
          {"mean_distance", number(features.mean_distance, "a feature")}};
}

std::string name_of(const JsonObject& object, const char* key) {
  const std::string name = object.text(key);
  if (name.empty()) refuse_json(object.path_of(key), "must not be empty");
  return name;
}

void check_fingerprint(const std::string& digits, const std::string& path) {
  constexpr std::size_t length = 32;
  if (digits.size() == length &&
      digits.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return;
  }
  refuse_json(path, "must be 32 digits of 0123456789abcdef");
}

std::string date_of(const JsonObject& object) {
  const std::string date = object.text("date");
  constexpr std::string_view form = "0000-00-00";
  const auto fits = [](char c, char as) { return as == '0' ? c >= '0' && c <= '9' : c == as; };
  if (date.size() != form.size() || !std::equal(date.begin(), date.end(), form.begin(), fits)) {
    refuse_json(object.path_of("date"), "must be a day such as 2026-11-21");
  }
  return date;
}

Statistics read_statistics(const JsonObject& object) {
  object.check_keys(
      {"runs", "least", "lower_quartile", "median", "upper_quartile", "greatest", "mean"});
  Statistics seconds;
  seconds.runs = static_cast<int>(object.count("runs", max_count));
  double before = 0;
  for (const auto& [key, value] :
       {std::pair("least", &seconds.least), std::pair("lower_quartile", &seconds.lower_quartile),
        std::pair("median", &seconds.median), std::pair("upper_quartile", &seconds.upper_quartile),
        std::pair("greatest", &seconds.greatest)}) {
    *value = object.number(key);
    if (*value < before) refuse_json(object.path_of(key), "is less than the value before it");
    before = *value;
  }
  seconds.mean = object.number("mean");
  return seconds;
}

PatternFeatures read_features(const JsonObject& object) {
  object.check_keys({"rows", "columns", "entries", "mean_row", "deviation_of_rows", "longest_row",
                     "mean_distance"});
  constexpr long long max_rows = std::numeric_limits<Index>::max();
  PatternFeatures features;
  features.rows = static_cast<Index>(object.count("rows", max_rows));
  features.columns = static_cast<Index>(object.count("columns", max_rows));
  features.entries = object.count("entries");
  features.mean_row = object.number("mean_row");
  features.deviation_of_rows = object.number("deviation_of_rows");
  features.longest_row = static_cast<Index>(object.count("longest_row", features.columns));
  features.mean_distance = object.number("mean_distance");
  return features;
}

}  // namespace heddle::profile_json
