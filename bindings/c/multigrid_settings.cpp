#include "multigrid_settings.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "settings_given.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// The points of the rows, two or three numbers each.
std::shared_ptr<const std::vector<std::array<double, 3>>> points_of(const double* coordinates,
                                                                    const NamedEntry& entry,
                                                                    std::int64_t rows) {
  if (entry.number != HEDDLE_BLOCK2 && entry.number != HEDDLE_BLOCK3) {
    throw Error(ErrorKind::usage, "coordinates are for rows of block2 or block3 entries, not of " +
                                      std::string(entry.entry.name()));
  }
  const std::size_t dimension = entry.number == HEDDLE_BLOCK2 ? 2 : 3;
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(rows));
  for (std::array<double, 3>& point : points) {
    for (std::size_t c = 0; c < dimension; ++c) point[c] = *coordinates++;
  }
  return std::make_shared<const std::vector<std::array<double, 3>>>(std::move(points));
}

template <class S>
std::shared_ptr<const std::vector<std::vector<double>>> candidates_of(
    const std::vector<heddle_view>& candidates, const NamedEntry& entry, std::int64_t rows) {
  std::vector<std::vector<double>> fields;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const std::string name = "candidates[" + std::to_string(k) + "]";
    const auto field =
        field_of<const S>(&candidates[k], entry, entry.row_scalars(), {}, name.c_str());
    if (field.size != rows) {
      throw Error(ErrorKind::size_mismatch, name + " has " + std::to_string(field.size) +
                                                " rows, but the matrix has " +
                                                std::to_string(rows));
    }
    auto& numbers = fields.emplace_back();
    for (Index i = 0; i < field.size; ++i) {
      for (int c = 0; c < field.components; ++c) numbers.push_back(double(field.at(i, c)));
    }
  }
  return std::make_shared<const std::vector<std::vector<double>>>(std::move(fields));
}

}  // namespace

MultigridChoice heddle::c::choice_by_settings(const heddle_settings* settings,
                                              MultigridChoice choice, const NamedEntry& entry,
                                              std::int64_t rows, Precision precision) {
  const heddle_settings& given = given_or_none(settings);
  choice = with_settings(std::move(choice), given.named);
  if ((given.coordinates != nullptr) + !given.candidates.empty() + choice.is_adaptive > 1) {
    throw Error(
        ErrorKind::usage,
        "coordinates, an adaptive search and candidates exclude one another: give one of them");
  }
  if (given.coordinates != nullptr) choice.points = points_of(given.coordinates, entry, rows);
  if (!given.candidates.empty()) {
    choice.candidates = precision == Precision::double_precision
                            ? candidates_of<double>(given.candidates, entry, rows)
                            : candidates_of<float>(given.candidates, entry, rows);
  }
  return choice;
}

std::string heddle::c::first_of_multigrid(const heddle_settings* settings) {
  const heddle_settings& given = given_or_none(settings);
  if (given.coordinates != nullptr) return "coordinates";
  if (!given.candidates.empty()) return "candidates";
  for (const SettingRow& setting : settings_table()) {
    if (setting.use != SettingUse::multigrid) continue;
    if (const auto* const found = given.named.find(setting.name)) return found->spelling;
  }
  return "";
}
