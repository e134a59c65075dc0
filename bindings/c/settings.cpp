// Settings of heddle.h.
#include "heddle/runtime/settings.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "callers_memory.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "settings/setting_kinds.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

constexpr std::array all_uses = {
    SettingUse::storage,   SettingUse::ranks, SettingUse::solver, SettingUse::least_squares,
    SettingUse::multigrid, SettingUse::eigen, SettingUse::tuning, SettingUse::description};
constexpr std::array use_names = {"storage",   "ranks", "solver", "least_squares",
                                  "multigrid", "eigen", "tuning", "description"};
constexpr std::array kind_names = {"text",   "name",         "yes_or_no",
                                   "number", "whole_number", "numbers"};

nlohmann::ordered_json methods_with(bool MethodInfo::* property) {
  nlohmann::ordered_json names;
  for (const MethodInfo& method : method_table()) {
    if (method.*property) names.push_back(method.name);
  }
  return names;
}

std::string table_as_json() {
  auto rows = nlohmann::ordered_json::array();
  for (const SettingRow& setting : settings_table()) {
    nlohmann::ordered_json row;
    row["use"] = use_names.at(static_cast<std::size_t>(setting.use));
    row["name"] = setting.name;
    if (!setting.alias.empty()) row["alias"] = setting.alias;
    row["kind"] = kind_names.at(static_cast<std::size_t>(setting.kind));
    row["value"] = setting.value_name;
    row["values"] = setting.values;
    row["default"] = setting.by_default;
    row["help"] = setting.help;
    if (setting.taken_by != nullptr) row["taken_by"] = methods_with(setting.taken_by);
    rows.push_back(std::move(row));
  }
  return rows.dump();
}

}  // namespace

heddle_status heddle_settings_create(heddle_context* context, heddle_settings** settings) {
  return guarded_by(context, [&] {
    heddle_settings*& out = required(settings, "settings");
    out = new heddle_settings{context->messages};
  });
}

heddle_status heddle_settings_set(heddle_settings* settings, const char* name, const char* value) {
  return guarded_by(settings, [&] {
    const std::string key = &required(name, "name");
    if (value == nullptr) {
      settings->named.reset(key);
    } else {
      settings->named.set(key, value);
    }
  });
}

heddle_status heddle_settings_set_number(heddle_settings* settings, const char* name,
                                         double value) {
  return guarded_by(settings, [&] {
    settings->named.set(&required(name, "name"), detail::text_of_number(value));
  });
}

heddle_status heddle_settings_set_json(heddle_settings* settings, const char* json) {
  return guarded_by(settings, [&] { settings->named.set_json(&required(json, "json")); });
}

size_t heddle_settings_json(const heddle_settings* settings, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded_by(settings,
             [&] { length = copy_text(settings->named.to_json(all_uses), buffer, capacity); });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}

size_t heddle_settings_table(char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded(nullptr, [&] {
    static const std::string json = table_as_json();
    length = copy_text(json, buffer, capacity);
  });
  return length;
}

heddle_status heddle_settings_use_allocator(heddle_settings* settings,
                                            const heddle_allocator* allocator) {
  return guarded_by(settings, [&] {
    if (allocator != nullptr) const CallersMemory checked(*allocator);
    settings->allocator = allocator != nullptr ? std::optional(*allocator) : std::nullopt;
  });
}

heddle_status heddle_settings_use_stream(heddle_settings* settings, void* stream) {
  return guarded_by(settings, [&] { settings->stream = stream; });
}

heddle_status heddle_settings_observe(heddle_settings* settings, heddle_observer observer,
                                      void* user) {
  return guarded_by(settings, [&] {
    settings->observer = observer;
    settings->observer_user = user;
  });
}

heddle_status heddle_settings_observe_tuning(heddle_settings* settings,
                                             heddle_tune_observer observer, void* user) {
  return guarded_by(settings, [&] {
    settings->tune_observer = observer;
    settings->tune_observer_user = user;
  });
}

heddle_status heddle_settings_use_coordinates(heddle_settings* settings,
                                              const double* coordinates) {
  return guarded_by(settings, [&] { settings->coordinates = coordinates; });
}

heddle_status heddle_settings_use_candidates(heddle_settings* settings, int64_t count,
                                             const heddle_view* candidates) {
  return guarded_by(settings, [&] {
    constexpr std::int64_t max_candidates = 6;
    if (count < 0 || count > max_candidates) {
      throw Error(ErrorKind::usage, "give 0 to " + std::to_string(max_candidates) + " candidates");
    }
    const heddle_view* const first = count > 0 ? &required(candidates, "candidates") : nullptr;
    settings->candidates.assign(first, first + count);
  });
}

void heddle_settings_destroy(heddle_settings** settings) { destroy(settings); }
