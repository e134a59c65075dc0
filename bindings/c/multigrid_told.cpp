#include "multigrid_told.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sized_struct.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_multigrid_options default_multigrid_options{
    sizeof(heddle_multigrid_options), MultigridOptions{}.strength, nullptr, 0, nullptr, 0, 0};
constexpr std::int64_t most_candidates = 6;

/// The points of the rows, two or three numbers each.
std::shared_ptr<const std::vector<std::array<double, 3>>> points_of(const double* coordinates,
                                                                    const NamedEntry& entry,
                                                                    std::int64_t rows) {
  if (entry.number != HEDDLE_BLOCK2 && entry.number != HEDDLE_BLOCK3) {
    throw Error(ErrorKind::usage, "coordinates are of rows of block2 or block3 entries, not of " +
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
    const heddle_multigrid_options& options, const NamedEntry& entry, std::int64_t rows) {
  const heddle_view& first = required(options.candidates, "candidates");
  std::vector<std::vector<double>> fields;
  for (std::int64_t k = 0; k < options.candidate_count; ++k) {
    const std::string name = "candidates[" + std::to_string(k) + "]";
    const auto field = field_of<const S>(&first + k, entry, entry.row_scalars(), {}, name.c_str());
    if (field.size != rows) {
      throw Error(ErrorKind::size_mismatch, name + " has " + std::to_string(field.size) +
                                                " rows, and the matrix " + std::to_string(rows));
    }
    auto& numbers = fields.emplace_back();
    for (Index i = 0; i < field.size; ++i) {
      for (int c = 0; c < field.components; ++c) numbers.push_back(double(field.at(i, c)));
    }
  }
  return std::make_shared<const std::vector<std::vector<double>>>(std::move(fields));
}

}  // namespace

void heddle_multigrid_options_init(heddle_multigrid_options* options, size_t size) {
  init_struct(options, size, default_multigrid_options);
}

MultigridChoice heddle::c::told_by(const heddle_multigrid_options* given, MultigridChoice choice,
                                   const NamedEntry& entry, std::int64_t rows,
                                   Precision precision) {
  const auto options = read_struct(given, default_multigrid_options, "heddle_multigrid_options");
  if (!(options.strength >= 0 && options.strength < 1)) {
    throw Error(ErrorKind::usage, "the strength is at least 0 and below 1");
  }
  if (options.candidate_count < 0 || options.candidate_count > most_candidates) {
    throw Error(ErrorKind::usage,
                "there are 0 to " + std::to_string(most_candidates) + " candidates");
  }
  if ((options.coordinates != nullptr) + (options.candidate_count > 0) + (options.adaptive != 0) >
      1) {
    throw Error(ErrorKind::usage,
                "coordinates are where candidates come from, as is the search that is adaptive: "
                "give one of them, or candidates");
  }
  choice.strength = options.strength;
  choice.is_adaptive = options.adaptive != 0;
  choice.estimates_again = options.estimates_again != 0;
  if (options.coordinates != nullptr) {
    choice.points = points_of(options.coordinates, entry, rows);
  }
  if (options.candidate_count > 0) {
    choice.candidates = precision == Precision::double_precision
                            ? candidates_of<double>(options, entry, rows)
                            : candidates_of<float>(options, entry, rows);
  }
  return choice;
}
