// The rows of the table of settings, by use.
#pragma once

#include <span>

#include "heddle/runtime/settings.hpp"

namespace heddle::detail {

std::span<const SettingRow> storage_settings();
std::span<const SettingRow> rank_settings();
std::span<const SettingRow> solver_settings();
std::span<const SettingRow> least_squares_settings();
std::span<const SettingRow> multigrid_settings();
std::span<const SettingRow> eigen_settings();
std::span<const SettingRow> tuning_settings();
std::span<const SettingRow> description_settings();

}  // namespace heddle::detail
