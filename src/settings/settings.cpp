#include "heddle/runtime/settings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/names.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "json_settings.hpp"
#include "setting_kinds.hpp"
#include "setting_rows.hpp"

namespace heddle {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

/// --max-iterations, max-iterations and Max_Iterations are max_iterations.
std::string plain(std::string_view name) {
  if (name.starts_with("--")) name.remove_prefix(2);
  std::string text = lower_case(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

[[noreturn]] void refuse_name(std::string_view name) {
  std::vector<std::string> names;
  for (const SettingRow& setting : settings_table()) {
    for (const std::string_view known : {setting.name, setting.alias}) {
      const bool is_new = std::find(names.begin(), names.end(), known) == names.end();
      if (!known.empty() && is_new) names.emplace_back(known);
    }
  }
  const std::string meant = nearest_name(plain(name), names);
  refuse("there is no setting " + io::in_quotes(name) +
         (meant.empty() ? "" : "; did you mean " + meant + "?"));
}

nlohmann::ordered_json json_of(const std::vector<double>& numbers) {
  auto array = nlohmann::ordered_json::array();
  for (const double number : numbers) {
    array.push_back(nlohmann::ordered_json::parse(detail::text_of_number(number)));
  }
  return array;
}

nlohmann::ordered_json json_of(const SettingRow& setting, const std::string& value) {
  switch (setting.kind) {
    case ValueKind::yes_or_no:
      return *detail::yes_or_no(value);
    case ValueKind::number:  // infinity has no number in JSON
      if (const double number = *detail::number_in<double>(value); std::isfinite(number)) {
        return number;
      }
      return value;
    case ValueKind::whole_number:  // a seed may be beyond those with a sign
      if (const auto number = detail::number_in<std::int64_t>(value)) return *number;
      return *detail::number_in<std::uint64_t>(value);
    case ValueKind::numbers:
      return json_of(detail::numbers_in<double>(value));
    default:
      return value;
  }
}

/// The methods that take it: "gmres and fgmres".
std::string methods_with(bool MethodInfo::* property) {
  std::string names;
  for (const MethodInfo& method : method_table()) {
    if (method.*property) names += (names.empty() ? "" : " and ") + std::string(method.name);
  }
  return names;
}

}  // namespace

std::span<const SettingRow> settings_table() {
  static const std::vector<SettingRow> table = [] {
    std::vector<SettingRow> rows;
    for (const auto part :
         {detail::storage_settings(), detail::rank_settings(), detail::solver_settings(),
          detail::least_squares_settings(), detail::multigrid_settings(), detail::eigen_settings(),
          detail::tuning_settings(), detail::description_settings()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return table;
}

const SettingRow* find_setting(std::string_view name) {
  const auto table = settings_table();
  const std::string wanted = plain(name);
  const auto row = std::find_if(table.begin(), table.end(), [&](const SettingRow& setting) {
    return setting.name == wanted || (!setting.alias.empty() && setting.alias == wanted);
  });
  return row == table.end() ? nullptr : &*row;
}

bool has_setting(SettingUse use, std::string_view name) {
  const auto table = settings_table();
  return std::any_of(table.begin(), table.end(), [&](const SettingRow& setting) {
    return setting.use == use && setting.name == name;
  });
}

const Settings::Given* Settings::find(std::string_view name) const {
  if (given_.empty()) return nullptr;
  const SettingRow* const row = find_setting(name);
  const auto found = std::find_if(given_.begin(), given_.end(),
                                  [&](const Given& given) { return given.setting == row; });
  return row == nullptr || found == given_.end() ? nullptr : &*found;
}

void Settings::set(std::string_view name, std::string_view value) {
  const SettingRow* const row = find_setting(name);
  if (row == nullptr) refuse_name(name);
  if (!row->is_value(value)) {
    refuse(std::string(name) + " must be " + std::string(row->values) + ", not " +
           io::in_quotes(value));
  }
  reset(name);
  given_.push_back({row, std::string(value), std::string(name)});
}

void Settings::set_json(std::string_view text) {
  Settings all = *this;
  for (const auto& [name, value] : detail::settings_in_json(text)) {
    if (find_setting(name) == nullptr) refuse_name(name);
    all.set(name, value);
  }
  *this = std::move(all);
}

void Settings::reset(std::string_view name) {
  const SettingRow* const row = find_setting(name);
  if (row == nullptr) refuse_name(name);
  std::erase_if(given_, [&](const Given& given) { return given.setting == row; });
}

std::string Settings::to_json(std::span<const SettingUse> uses) const {
  auto object = nlohmann::ordered_json::object();
  for (const Given& given : given_) {
    const bool is_of_uses = std::any_of(uses.begin(), uses.end(), [&](SettingUse use) {
      return has_setting(use, given.setting->name);
    });
    if (is_of_uses) object[std::string(given.setting->name)] = json_of(*given.setting, given.value);
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void Settings::write(SettingUse use, void* options) const {
  for (const Given& given : given_) {
    for (const SettingRow& row : settings_table()) {
      if (row.use == use && row.name == given.setting->name) row.write(options, given.value);
    }
  }
}

void check_for_method(const Settings& settings, std::string_view method) {
  const auto table = method_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const MethodInfo& info) {
    return is_same_name(info.name, method);
  });
  for (const Settings::Given& given : settings.given()) {
    bool MethodInfo::* const needed = given.setting->taken_by;
    const bool is_usual = given.setting->kind == ValueKind::name &&
                          is_same_name(given.value, given.setting->by_default);
    if (needed == nullptr || is_usual || (row != table.end() && (*row).*needed)) continue;
    refuse(given.spelling + " is for " + methods_with(needed) +
           (is_same_name(method, "auto") ? ": name the method; auto may choose another"
                                         : ", not for " + std::string(method)));
  }
  const Settings::Given* const interval = settings.find("interval");
  const Settings::Given* const omega = settings.find("omega");
  if (interval != nullptr && omega != nullptr) {
    refuse(omega->spelling + " and " + interval->spelling + ": give one of them");
  }
}

}  // namespace heddle
