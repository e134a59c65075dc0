#include "level_values_cuda.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/device_cuda.hpp"
#include "level_spectrum.hpp"
#include "spectrum.hpp"

namespace heddle::cuda {

using heddle::detail::TileMatrix, heddle::detail::TileShape, heddle::detail::UserRows,
    heddle::detail::ProductPlaces;

namespace level_values {

std::vector<TileComponent> components_of(const std::vector<heddle::detail::SignedPlace>& places) {
  std::vector<TileComponent> components;
  for (const auto& [at, sign] : places) components.push_back({at, sign});
  return components;
}

std::size_t numbers_of(const TileMatrix& matrix) {
  return static_cast<std::size_t>(matrix.pattern.entries() * matrix.shape.scalars());
}

template <class Values>
auto on_gpu(const Values& values, const Device& device) {
  return Array<std::remove_cvref_t<decltype(values[0])>>(values.span(), device);
}

/// Scalars of a dense level.
std::size_t dense_scalars(const TileMatrix& a) {
  const auto n = static_cast<std::size_t>(a.rows()) * static_cast<std::size_t>(a.shape.height);
  return n * n * static_cast<std::size_t>(a.shape.ring);
}

/// Of the coarse rows: a tile and its pivots each.
std::size_t scratch_scalars(const TileMatrix& coarse) {
  return static_cast<std::size_t>(coarse.rows()) *
         static_cast<std::size_t>(coarse.shape.scalars() + coarse.shape.height);
}

double mean_length(const UserRows& rows) {
  return rows.rows() > 0 ? static_cast<double>(rows.entries()) / rows.rows() : 0;
}

}  // namespace level_values

template <class S>
LevelValues<S>::LevelValues(const heddle::detail::SlicedOperator<S>& matrix,
                            const heddle::detail::StoredRows& rows, const Levels& levels)
    : matrix_(matrix),
      levels_(levels),
      device_(matrix.device()),
      slot_(level_values::on_gpu(rows.slot, device_)),
      values_(levels.size()),
      doubts_(device_.stream()) {
  const auto components = level_values::components_of(levels.front()->entry.tiles.component_of);
  components_ = Array<TileComponent>(std::span<const TileComponent>(components), device_);
  for (std::size_t l = 0; l < levels.size(); ++l) add_level(l);
  staged_ = Array<std::byte>(staged_bytes_, device_);
  sums_ = Array<double>(static_cast<std::size_t>(staged_sums_) / sizeof(double), device_);
}

template <class S>
auto LevelValues<S>::pattern_of(const UserRows& rows, bool with_columns) const -> Pattern {
  return {level_values::on_gpu(rows.offsets, device_),
          with_columns ? level_values::on_gpu(rows.column, device_) : Array<Index>(), rows.rows(),
          level_values::mean_length(rows)};
}

template <class S>
auto LevelValues<S>::places_of(const ProductPlaces& places, const Matrix& a, const Matrix& b,
                               const UserRows& rows, const TileShape& shape) -> Places {
  Places result;
  const auto take = [&](const auto& of_terms) {
    const auto bytes = std::as_bytes(of_terms.span());
    result.of_terms = Array<unsigned char>(
        std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()), device_);
    result.bytes = static_cast<int>(sizeof of_terms[0]);
  };
  if (!places.bytes.empty()) take(places.bytes);
  if (!places.halves.empty()) take(places.halves);
  if (!places.words.empty()) take(places.words);
  result.first = level_values::on_gpu(places.first, device_);
  result.mirror = level_values::on_gpu(places.mirror, device_);
  result.longest = static_cast<Offset>(places.longest);
  device::TileProduct p;
  p.a = a.pattern.view(), p.b = b.pattern.view(), p.places = result.view();
  p.height = shape.height, p.width = shape.width;
  result.pieces =
      cut(p, rows.offsets.span(), shape.ring, b.pattern.length, result.longest, device_);
  staged_sums_ = std::max(staged_sums_, result.pieces.sizes.bytes_of_sums());
  return result;
}

template <class S>
auto LevelValues<S>::stored_of(const heddle::detail::EntryTable<S>& entry,
                               const heddle::detail::EntryTiles& tiles, const TileMatrix& matrix)
    -> Stored {
  Stored stored;
  stored.scalar_bytes = entry.sizes.stored_bytes;
  if (stored.scalar_bytes == sizeof(double) && is_in_order(tiles)) return stored;
  const auto numbers = level_values::components_of(tiles.number_of);
  stored.numbers = Array<TileComponent>(std::span<const TileComponent>(numbers), device_);
  staged_bytes_ = std::max(staged_bytes_, level_values::numbers_of(matrix) *
                                              static_cast<std::size_t>(stored.scalar_bytes));
  return stored;
}

template <class S>
void LevelValues<S>::add_level(std::size_t number) {
  const Level& level = *levels_[number];
  const TileMatrix& a = level.matrix;
  Values& own = values_[number];
  own.matrix.pattern = pattern_of(a.pattern, true);
  own.matrix.values = Array<double>(level_values::numbers_of(a), device_);
  std::vector<Offset> diagonal(static_cast<std::size_t>(a.rows()), -1);
  for (Index row = 0; row < a.rows(); ++row) {
    const std::span<const Index> columns = a.pattern.row(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row);
    if (found == columns.end() || *found != row) continue;
    diagonal[static_cast<std::size_t>(row)] = a.pattern.begin(row) + (found - columns.begin());
  }
  own.diagonal = Array<Offset>(std::span<const Offset>(diagonal), device_);
  own.of_matrix = stored_of(*level.entry.table, level.entry.tiles, a);
  if (level.inverse) return add_inverse(number);
  own.inverses = Array<double>(level.inverses.size(), device_);
  own.energies = Array<double>(static_cast<std::size_t>(a.rows()), device_);
  own.reach = Array<double>(static_cast<std::size_t>(a.rows()), device_);
  if (level.interpolate) add_transfer(number);
}

template <class S>
void LevelValues<S>::add_transfer(std::size_t number) {
  const Level& level = *levels_[number];
  const TileMatrix& coarse = levels_[number + 1]->matrix;
  Values& own = values_[number];
  own.tentative.pattern = pattern_of(level.tentative.pattern, true);
  own.tentative.values = level_values::on_gpu(level.tentative.values, device_);
  own.prolongation.pattern = pattern_of(level.prolongation.pattern, true);
  own.prolongation.values = Array<double>(level_values::numbers_of(level.prolongation), device_);
  own.image.pattern = pattern_of(level.image.pattern, false);
  // A T is there before A P, whose pattern has it.
  own.image.values = Array<double>(
      std::max(level_values::numbers_of(level.image), level_values::numbers_of(level.prolongation)),
      device_);
  own.restriction.pattern = pattern_of(level.restriction.pattern, true);
  own.restriction.values = Array<double>(level_values::numbers_of(level.restriction), device_);
  const UserRows& rows = level.matrix.pattern;
  const TileShape& shape = level.prolongation.shape;
  own.to_prolongation = places_of(level.to_prolongation, own.matrix, own.tentative, rows, shape);
  own.to_image = places_of(level.to_image, own.matrix, own.prolongation, rows, shape);
  own.to_coarse = places_of(level.to_coarse, own.restriction, own.image, level.restriction.pattern,
                            coarse.shape);
  own.place = level_values::on_gpu(level.place, device_);
  own.scales = Array<double>(level.scales.size(), device_);
  own.scratch = Array<double>(level_values::scratch_scalars(coarse), device_);
  const heddle::detail::EntryTiles& tiles = level.adjoint_entry.tiles;
  own.of_p = stored_of(level.interpolate->entry(), tiles, level.prolongation);
  own.of_adjoint = stored_of(*level.adjoint_entry.table, tiles, level.restriction);
}

template <class S>
void LevelValues<S>::add_inverse(std::size_t number) {
  const TileMatrix& a = levels_[number]->matrix;
  Values& own = values_[number];
  const std::size_t scalars = level_values::dense_scalars(a);
  const auto n = static_cast<std::size_t>(a.rows()) * static_cast<std::size_t>(a.shape.height);
  for (Array<double>* const array : {&own.dense, &own.other, &own.panel, &own.inverse}) {
    *array = Array<double>(scalars, device_);
  }
  own.sizes = Array<double>(n, device_);
  stored_of(*levels_[number]->entry.table, levels_[number]->entry.tiles,
            levels_[number]->inverse_tiles);  // its room
}

/// Of the arrays above.
template <class S>
long long LevelValues<S>::bytes(const heddle::detail::StoredRows& rows, const Levels& levels) {
  std::size_t bytes = rows.slot.size() * sizeof(Offset), staged = 0, sums = 0;
  const auto pattern = [](const TileMatrix& matrix) {
    return matrix.pattern.offsets.size() * sizeof(Offset) +
           matrix.pattern.column.size() * sizeof(Index);
  };
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Level& level = *levels[l];
    const TileMatrix& a = level.matrix;
    const auto count = static_cast<std::size_t>(a.rows());
    for (const TileMatrix* matrix :
         {&a, &level.tentative, &level.prolongation, &level.image, &level.restriction}) {
      if (matrix->pattern.offsets.empty()) continue;
      bytes += pattern(*matrix) + level_values::numbers_of(*matrix) * sizeof(double);
      staged = std::max(staged, level_values::numbers_of(*matrix) * sizeof(double));
    }
    bytes += count * sizeof(Offset);
    if (level.inverse) {
      const std::size_t dense = level_values::dense_scalars(a) * sizeof(double);
      bytes += 4 * dense, staged = std::max(staged, dense);
      continue;
    }
    bytes += (level.inverses.size() + 2 * count) * sizeof(double);
    if (!level.interpolate) continue;
    const auto product = [&](const auto& b, const auto& c, const auto& d, const auto& places) {
      const auto sizes = sizes_of_pieces(b, c, d, places);
      bytes += static_cast<std::size_t>(places.memory() + sizes.bytes(d.rows()));
      sums = std::max(sums, static_cast<std::size_t>(sizes.bytes_of_sums()));
    };
    product(a, level.tentative, level.prolongation, level.to_prolongation);
    product(a, level.prolongation, level.image, level.to_image);
    product(level.restriction, level.image, levels[l + 1]->matrix, level.to_coarse);
    bytes += level.place.size() * sizeof(Offset) +
             (level.scales.size() + level_values::scratch_scalars(levels[l + 1]->matrix)) *
                 sizeof(double);
  }
  return static_cast<long long>(bytes + staged + sums);
}

/// The sums that were found with the last estimates of eigenvalues.
template <class S>
void LevelValues<S>::take_reach() {
  if (std::exchange(has_reach_, true)) return;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (levels_[l]->inverse) continue;
    const auto& reach = levels_[l]->room->reach;
    heddle::detail::copy_bytes(values_[l].reach.data(), reach.data(), reach.size() * sizeof(double),
                               device_.stream());
  }
}

template <class S>
void LevelValues<S>::queue(double rounding) {
  *doubts_ = {.singular = matrix_.rows()};
  take_reach();
  read_matrix();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (levels_[l]->inverse) return solve(l);
    smooth(l);
    if (l + 1 < levels_.size()) transfer(l, rounding);
  }
}

template <class S>
bool LevelValues<S>::are_good() {
  synchronize(device_.stream());
  return doubts_->values == 0 && doubts_->singular == matrix_.rows();
}

template <class S>
bool LevelValues<S>::brings_coarsest() {
  if (doubts_->coarsest == 0) return false;
  const std::size_t last = levels_.size() - 1;
  const auto bring = [&](const Array<double>& from, auto& to) {
    heddle::detail::copy_bytes(to.data(), from.data(), from.size() * sizeof(double),
                               device_.stream());
  };
  bring(values_[last].matrix.values, levels_[last]->matrix.values);
  if (last > 0) bring(values_[last - 1].scales, levels_[last - 1]->scales);
  return true;
}

template <class S>
const double* LevelValues<S>::scales_below(std::size_t number) const {
  return number == 0 ? nullptr : values_[number - 1].scales.data();
}

template <class S>
void LevelValues<S>::read_matrix() {
  const SlicedPattern& pattern = matrix_.pattern();
  const auto& sizes = matrix_.entry().sizes;
  StoredTiles tiles;
  tiles.from = std::as_const(matrix_).stored_values().data();
  tiles.scalar_bytes = sizes.stored_bytes;
  tiles.rule = slot_rule(matrix_.plan().layout.inner, sizes.components, pattern.C, pattern.slots,
                         sizes.stored_bytes);
  tiles.slot = slot_.data();
  tiles.components = components_.data();
  tiles.scalars = levels_.front()->matrix.shape.scalars();
  tiles.entries = levels_.front()->matrix.pattern.entries();
  tiles.to = values_.front().matrix.values.data();
  read_tiles(tiles, &doubts_->values, device_.stream());
}

/// D^-1, Jacobi, and whether the eigenvalues may have grown.
template <class S>
void LevelValues<S>::smooth(std::size_t number) {
  const Level& level = *levels_[number];
  Values& own = values_[number];
  const auto& shape = level.matrix.shape;
  const Stream& stream = device_.stream();
  device::DiagonalRows diagonal;
  diagonal.values = own.matrix.values.data();
  diagonal.diagonal = own.diagonal.data();
  diagonal.below = scales_below(number);
  diagonal.inverses = own.inverses.data();
  diagonal.energies = own.energies.data();
  diagonal.size = shape.height;
  invert_diagonal(diagonal, shape.ring, own.matrix.pattern.rows, &doubts_->values, stream);
  level.jacobi->queue_refresh(&doubts_->singular, stream);
  device::ReachRows reach;
  reach.a = own.matrix.pattern.view();
  reach.values = own.matrix.values.data();
  reach.inverses = own.inverses.data();
  reach.reach = own.reach.data();
  reach.bound = heddle::detail::safety_of_estimate * level.largest;
  reach.size = shape.height;
  look_for_growth(reach, shape.ring, own.matrix.pattern.length, &doubts_->values, stream);
}

template <class S>
void LevelValues<S>::transfer(std::size_t number, double rounding) {
  const Level &level = *levels_[number], &coarse = *levels_[number + 1];
  Values &own = values_[number], &next = values_[number + 1];
  const Stream& stream = device_.stream();
  const auto& shape = level.prolongation.shape;
  const auto product = [&](const Matrix& a, const Matrix& b, const Pattern& c,
                           Array<double>& result, const Places& places, int height, int middle) {
    device::TileProduct p;
    p.a = a.pattern.view(), p.b = b.pattern.view(), p.c = c.view();
    p.left = a.values.data(), p.right = b.values.data(), p.result = result.data();
    p.places = places.view(), p.pieces = places.pieces.view(sums_.data());
    p.diagonal = next.diagonal.data();
    p.height = height, p.middle = middle, p.width = shape.width;
    multiply(p, shape.ring, b.pattern.length, places.longest, stream);
  };
  product(own.matrix, own.tentative, own.prolongation.pattern, own.image.values,
          own.to_prolongation, shape.height, shape.height);
  device::SmoothedRows rows;
  rows.p = own.prolongation.pattern.view(), rows.t = own.tentative.pattern.view();
  rows.image = own.image.values.data();
  rows.tentative = own.tentative.values.data();
  rows.inverses = own.inverses.data();
  rows.omega = 4 / (3 * level.largest);
  rows.smoothed = own.prolongation.values.data();
  rows.adjoint = own.restriction.values.data();
  rows.place = own.place.data();
  rows.height = shape.height, rows.width = shape.width;
  heddle::cuda::smooth(rows, shape.ring, own.prolongation.pattern.length, stream);
  product(own.matrix, own.prolongation, own.image.pattern, own.image.values, own.to_image,
          shape.height, shape.height);
  product(own.restriction, own.image, next.matrix.pattern, next.matrix.values, own.to_coarse,
          shape.width, shape.height);
  device::MendedRows mended;
  mended.restriction = own.restriction.pattern.view();
  mended.adjoint = own.restriction.values.data();
  mended.energies = own.energies.data();
  mended.scales = own.scales.data();
  mended.values = next.matrix.values.data();
  mended.diagonal = next.diagonal.data();
  mended.scratch = own.scratch.data();
  mended.rounding = rounding;
  mended.least = heddle::detail::least_energy;
  mended.size = shape.width;
  mended.of_tile = shape.scalars();
  mend(mended, shape.ring, own.restriction.pattern.length, &doubts_->values, stream);
  put(own.prolongation.values, own.of_p, *level.interpolate);
  put(own.restriction.values, own.of_adjoint, *level.restrict);
  put(next.matrix.values, next.of_matrix, *coarse.product);
}

template <class S>
void LevelValues<S>::solve(std::size_t number) {
  const Level& level = *levels_[number];
  Values& own = values_[number];
  device::DenseInverse dense;
  dense.a = own.matrix.pattern.view();
  dense.values = own.matrix.values.data();
  dense.scales = scales_below(number);
  dense.dense = own.dense.data(), dense.other = own.other.data();
  dense.panel = own.panel.data(), dense.own = own.sizes.data();
  dense.result = own.inverse.data();
  dense.least = -heddle::detail::least_energy;
  dense.size = level.matrix.shape.height;
  dense.n = static_cast<int>(own.sizes.size());
  invert_dense(dense, level.matrix.shape.ring, &doubts_->coarsest, device_.stream());
  put(own.inverse, own.of_matrix, *level.inverse);
}

template <class S>
void LevelValues<S>::put(const Array<double>& values, const Stored& stored,
                         heddle::detail::SlicedOperator<S>& to) {
  if (stored.numbers.empty()) return to.update_values(std::as_bytes(values.span()));
  const auto scalars = static_cast<Offset>(stored.numbers.size());
  TileEntries entries;
  entries.from = values.data();
  entries.numbers = stored.numbers.data();
  entries.scalars = static_cast<int>(scalars);
  entries.entries = static_cast<Offset>(values.size()) / scalars;
  entries.scalar_bytes = stored.scalar_bytes;
  entries.to = staged_.data();
  write_entries(entries, device_.stream());
  to.update_values({staged_.data(), values.size() * static_cast<std::size_t>(stored.scalar_bytes)});
}

template class LevelValues<float>;
template class LevelValues<double>;

}  // namespace heddle::cuda
