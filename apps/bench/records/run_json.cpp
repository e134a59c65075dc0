// Runs as JSON: written with a fixed order of keys, read with every fault named by its path.
#include <cmath>
#include <limits>

#include "heddle/error.hpp"
#include "matrix/definitions/json_object.hpp"
#include "matrix/definitions/strict_json.hpp"
#include "queue_report.hpp"
#include "record.hpp"

namespace heddle::bench {

namespace {

using json = nlohmann::ordered_json;
using Object = detail::JsonObject;
using detail::refuse_json;

constexpr int max_levels = 8;  // the format has six

// ---- writing ----

/// Strings come from other libraries and from file names, and need not be UTF-8.
json json_text(const std::string& bytes) {
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace));
}

double finite(double number, const char* key) {
  if (std::isfinite(number)) return number;
  throw Error(ErrorKind::not_finite, std::string(key) + ": is not a finite number");
}

bool finite(const Timing& timing) {
  return std::isfinite(timing.lower_quartile) && std::isfinite(timing.median) &&
         std::isfinite(timing.upper_quartile);
}

json to_json(const Timing& timing) {
  return {{"lower_quartile", timing.lower_quartile},
          {"median", timing.median},
          {"upper_quartile", timing.upper_quartile}};
}

json to_json(const Candidate& candidate) {
  json object = {{"role", name(candidate.role)},
                 {"library", json_text(candidate.library)},
                 {"method", json_text(candidate.method)}};
  std::string left_out;
  const auto leave_out = [&](const char* key) {
    left_out += (left_out.empty() ? "not finite: " : ", ") + std::string(key);
  };
  const auto put_timing = [&](const char* key, const std::optional<Timing>& timing) {
    if (!timing) return;
    if (finite(*timing)) {
      object[key] = to_json(*timing);
    } else {
      leave_out(key);
    }
  };
  const auto put_number = [&](const char* key, const std::optional<double>& number) {
    if (!number) return;
    if (std::isfinite(*number)) {
      object[key] = *number;
    } else {
      leave_out(key);
    }
  };
  const auto put_count = [&](const char* key, const std::optional<long long>& count) {
    if (count) object[key] = *count;
  };
  put_timing("seconds", candidate.seconds);
  put_timing("cold", candidate.cold);
  put_number("of_bandwidth", candidate.of_bandwidth);
  put_number("cold_of_bandwidth", candidate.cold_of_bandwidth);
  put_number("error", candidate.error);
  put_count("memory_bytes", candidate.memory_bytes);
  put_number("memory_ratio", candidate.memory_ratio);
  put_number("of_product", candidate.of_product);
  put_number("products_to_pay", candidate.products_to_pay);
  if (candidate.repeats) object["repeats"] = *candidate.repeats;
  if (candidate.queues) object["queues"] = report::queues_json(*candidate.queues);
  put_count("iterations", candidate.iterations);
  put_number("solve_seconds", candidate.solve_seconds);
  put_number("residual", candidate.residual);
  if (candidate.status) object["status"] = json_text(*candidate.status);
  if (!candidate.history.empty()) {
    json history = json::array(), at = json::array();
    for (std::size_t i = 0; i < candidate.history.size(); ++i) {
      const double iteration =
          i < candidate.history_at.size() ? candidate.history_at[i] : static_cast<double>(i);
      if (!std::isfinite(candidate.history[i]) || !std::isfinite(iteration)) continue;
      history.push_back(candidate.history[i]);
      at.push_back(iteration);
    }
    if (history.size() < candidate.history.size()) leave_out("history");
    if (!history.empty()) {
      object["history"] = std::move(history);
      object["history_at"] = std::move(at);
    }
  }
  if (candidate.failure) {
    object["failure"] = json_text(*candidate.failure);
  } else if (!left_out.empty()) {
    object["failure"] = left_out;
  }
  return object;
}

json to_json(const Record& record) {
  json object = {{"suite", json_text(record.suite)},
                 {"problem", json_text(record.problem)},
                 {"entry", json_text(record.entry)},
                 {"precision", json_text(record.precision)},
                 {"quantity", json_text(record.quantity)},
                 {"rows", record.rows},
                 {"entries", record.entries}};
  if (record.compulsory_bytes) object["compulsory_bytes"] = *record.compulsory_bytes;
  if (record.tolerance) object["tolerance"] = finite(*record.tolerance, "tolerance");
  json candidates = json::array();
  for (const Candidate& candidate : record.candidates) candidates.push_back(to_json(candidate));
  object["candidates"] = std::move(candidates);
  return object;
}

json to_json(const PeerPresence& peer) {
  return {{"name", json_text(peer.name)},
          {"version", json_text(peer.version)},
          {"detail", json_text(peer.detail)},
          {"present", peer.present}};
}

// ---- reading ----

Timing read_timing(const Object& object) {
  object.check_keys({"lower_quartile", "median", "upper_quartile"});
  const Timing timing = {object.number("lower_quartile"), object.number("median"),
                         object.number("upper_quartile")};
  if (timing.lower_quartile > timing.median || timing.median > timing.upper_quartile) {
    refuse_json(object.path(), "lower_quartile, median and upper_quartile must not decrease");
  }
  return timing;
}

SchedulerStatistics read_queues(const Object& object) {
  std::vector<std::string_view> keys(report::queue_names.begin(), report::queue_names.end());
  keys.insert(keys.end(), {"controllers", "rounds"});
  object.check_keys(keys);
  SchedulerStatistics statistics;
  for (std::size_t kind = 0; kind < report::queue_names.size(); ++kind) {
    const Object queue = object.object(report::queue_names[kind]);
    queue.check_keys({"tasks", "launches"});
    statistics.queues[kind] = {queue.count("tasks"), queue.count("launches")};
  }
  statistics.controllers = object.count("controllers");
  statistics.rounds = object.count("rounds");
  return statistics;
}

Role role_of(const Object& object) {
  const std::string text = object.text_of("role", {"natural", "chosen", "best", "tried", "peer"});
  for (const Role role : {Role::natural, Role::chosen, Role::best, Role::tried}) {
    if (text == name(role)) return role;
  }
  return Role::peer;
}

Candidate read_candidate(const Object& object) {
  object.check_keys(
      {"role",          "library",           "method",  "seconds",      "cold",
       "of_bandwidth",  "cold_of_bandwidth", "error",   "memory_bytes", "memory_ratio",
       "of_product",    "products_to_pay",   "repeats", "queues",       "iterations",
       "solve_seconds", "residual",          "status",  "history",      "history_at",
       "failure"});
  const auto number = [&](const char* key) {
    return object.has(key) ? std::optional(object.number(key)) : std::nullopt;
  };
  const auto count = [&](const char* key) {
    return object.has(key) ? std::optional(object.count(key)) : std::nullopt;
  };
  const auto timing = [&](const char* key) {
    return object.has(key) ? std::optional(read_timing(object.object(key))) : std::nullopt;
  };
  const auto text = [&](const char* key) {
    return object.has(key) ? std::optional(object.text(key)) : std::nullopt;
  };
  Candidate candidate;
  candidate.role = role_of(object);
  candidate.library = object.text("library");
  candidate.method = object.text("method");
  candidate.seconds = timing("seconds");
  candidate.cold = timing("cold");
  candidate.of_bandwidth = number("of_bandwidth");
  candidate.cold_of_bandwidth = number("cold_of_bandwidth");
  candidate.error = number("error");
  candidate.memory_bytes = count("memory_bytes");
  candidate.memory_ratio = number("memory_ratio");
  candidate.of_product = number("of_product");
  candidate.products_to_pay = number("products_to_pay");
  if (object.has("repeats")) candidate.repeats = object.boolean("repeats");
  if (object.has("queues")) candidate.queues = read_queues(object.object("queues"));
  candidate.iterations = count("iterations");
  candidate.solve_seconds = number("solve_seconds");
  candidate.residual = number("residual");
  candidate.status = text("status");
  if (object.has("history") || object.has("history_at")) {
    candidate.history = object.numbers("history");
    candidate.history_at = object.numbers("history_at");
    if (candidate.history.size() != candidate.history_at.size()) {
      refuse_json(object.path_of("history_at"), "must be as long as history");
    }
  }
  candidate.failure = text("failure");
  return candidate;
}

Record read_record(const Object& object) {
  object.check_keys({"suite", "problem", "entry", "precision", "quantity", "rows", "entries",
                     "compulsory_bytes", "tolerance", "candidates"});
  Record record;
  record.suite = object.text("suite");
  record.problem = object.text("problem");
  record.entry = object.text("entry");
  record.precision = object.text_of("precision", {"single", "double"});
  record.quantity = object.text("quantity");
  record.rows = object.count("rows");
  record.entries = object.count("entries");
  if (object.has("compulsory_bytes")) record.compulsory_bytes = object.count("compulsory_bytes");
  if (object.has("tolerance")) record.tolerance = object.number("tolerance");
  record.candidates = object.objects("candidates", read_candidate);
  return record;
}

PeerPresence read_peer(const Object& object) {
  object.check_keys({"name", "version", "detail", "present"});
  return {object.text("name"), object.text("version"), object.text("detail"),
          object.boolean("present")};
}

}  // namespace

json to_json(const Run& run) {
  json object = {{"schema_version", schema_version},
                 {"name", json_text(run.name)},
                 {"date", json_text(run.date)},
                 {"version", json_text(run.version)},
                 {"commit", json_text(run.commit)},
                 {"command", json_text(run.command)},
                 {"machine", json_text(run.machine)},
                 {"device", json_text(run.device)},
                 {"device_kind", json_text(run.device_kind)},
                 {"bandwidth_name", json_text(run.bandwidth_name)},
                 {"bandwidth", finite(run.bandwidth, "bandwidth")},
                 {"repetitions", run.repetitions},
                 {"tolerance", finite(run.tolerance, "tolerance")},
                 {"quick", run.quick},
                 {"interrupted", run.interrupted}};
  json peers = json::array(), records = json::array();
  for (const PeerPresence& peer : run.peers) peers.push_back(to_json(peer));
  for (const Record& record : run.records) records.push_back(to_json(record));
  object["peers"] = std::move(peers);
  object["records"] = std::move(records);
  return object;
}

Run run_from_json(const nlohmann::json& json) {
  const Object object(json, "");
  // Checked before anything else: a newer schema may have any keys.
  const long long version = object.count("schema_version");
  if (version > schema_version) {
    refuse_json("schema_version", std::to_string(version) + " is newer than " +
                                      std::to_string(schema_version) +
                                      ", the newest version known here");
  }
  if (version < 1) refuse_json("schema_version", "must be at least 1");
  object.check_keys({"schema_version", "name", "date", "version", "commit", "command", "machine",
                     "device", "device_kind", "bandwidth_name", "bandwidth", "repetitions",
                     "tolerance", "quick", "interrupted", "peers", "records"});
  Run run;
  run.name = object.text("name");
  run.date = object.text("date");
  run.version = object.text("version");
  run.commit = object.text("commit");
  run.command = object.text("command");
  run.machine = object.text("machine");
  run.device = object.text("device");
  run.device_kind = object.text_of("device_kind", {"cpu", "cuda"});
  run.bandwidth_name = object.text_of("bandwidth_name", {"triad", "copy"});
  run.bandwidth = object.number("bandwidth");
  run.repetitions = static_cast<int>(object.count("repetitions", std::numeric_limits<int>::max()));
  run.tolerance = object.number("tolerance");
  run.quick = object.boolean("quick");
  run.interrupted = object.boolean("interrupted");
  run.peers = object.objects("peers", read_peer);
  run.records = object.objects("records", read_record);
  return run;
}

Run read_run(const std::string& path) {
  const std::string bytes = detail::text_of_file(path);
  try {
    return run_from_json(detail::parse_strict_json(bytes, max_levels));
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + error.what());
  }
}

}  // namespace heddle::bench
