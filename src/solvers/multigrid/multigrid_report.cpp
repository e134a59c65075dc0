// A hierarchy's report on its levels and their memory.
#include "heddle/config.hpp"
#include "multigrid_hierarchy.hpp"

namespace heddle::detail {

namespace {

template <class Numbers>
long long bytes_of(const Numbers& array) {
  return static_cast<long long>(array.span().size_bytes());
}

long long bytes_of(const UserRows& rows) { return bytes_of(rows.offsets) + bytes_of(rows.column); }

}  // namespace

template <class S>
long long Hierarchy<S>::host_bytes(const Level& level) const {
  long long bytes =
      bytes_of(level.place) + bytes_of(level.inverses) + bytes_of(level.diagonal) +
      bytes_of(level.scales) +
      (level.room ? bytes_of(level.room->storage) + 2 * bytes_of(level.room->reach) : 0) +
      level.colours.bytes() + level.to_prolongation.memory() + level.to_image.memory() +
      level.to_coarse.memory();
  for (const TileMatrix* matrix :
       {&level.matrix, &level.tentative, &level.prolongation, &level.image, &level.restriction,
        &level.inverse_tiles, &level.norms, &level.norm_inverses}) {
    bytes += bytes_of(matrix->pattern) + bytes_of(matrix->values);
  }
  return bytes;
}

template <class S>
long long Hierarchy<S>::device_bytes(const Level& level) const {
  const bool is_finest = &level == levels_.front().get();
  long long bytes = is_finest ? 0 : level.product->memory().total();
  if (level.jacobi) bytes += level.jacobi->bytes_of_application();
  if (level.inverse) bytes += level.inverse->memory().total();
  if (level.by_norms) bytes += level.by_norms->memory().total();
  if (level.sweeps) {
    for (const auto& part : level.sweeps->of_colour) bytes += part->memory().total();
    if (matrix_.device().on_gpu()) bytes += level.sweeps->basis->bytes();  // its copy on the GPU
  }
  if (level.interpolate) {
    bytes += level.interpolate->memory().total();
    bytes += level.restrict->memory().total();
  }
  return bytes;
}

template <class S>
MultigridReport Hierarchy<S>::report() const {
  MultigridReport report;
  report.setup_seconds = setup_seconds_;
  report.host_bytes = bytes_of(slots_) + scratch_.bytes();
  if constexpr (has_cuda) report.refresh_bytes = bytes_of_refresh();
  report.is_refreshed_on_gpu = is_refreshed_on_gpu_;
  double sum = 0;
  for (const auto& level : levels_) {
    const TileMatrix& a = level->matrix;
    const Offset scalars = level->entries * a.shape.scalars();
    report.levels.push_back({.rows = level->rows,
                             .entries = level->entries,
                             .components = level->product->row_components(),
                             .scalars = scalars,
                             .largest = level->largest,
                             .new_estimates = level->new_estimates,
                             .strength = level->strength,
                             .is_solved = level->inverse != nullptr,
                             .colours = level->colours.count()});
    sum += static_cast<double>(scalars);
    report.host_bytes += host_bytes(*level);
    report.device_bytes += device_bytes(*level);
  }
  if (report.levels.front().scalars > 0) {
    report.operator_complexity = sum / static_cast<double>(report.levels.front().scalars);
  }
  return report;
}

template MultigridReport Hierarchy<float>::report() const;
template MultigridReport Hierarchy<double>::report() const;

}  // namespace heddle::detail
