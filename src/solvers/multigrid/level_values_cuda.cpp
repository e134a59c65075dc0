#include "level_values_cuda.hpp"

#include <utility>

#include "base/device_cuda.hpp"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "solvers/operators/spectrum.hpp"
#include "solvers/tiles/level_spectrum.hpp"

namespace heddle::cuda {

using heddle::detail::TileMatrix;

/// Takes the sums of the last estimates of eigenvalues.
template <class S>
void LevelValues<S>::take_reach() {
  if (std::exchange(has_reach_, true)) return;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level& level = *levels_[l];
    if (level.inverse) continue;
    if (has_values_) {
      find_reach(reach_rows(l), level.matrix.shape.ring, values_[l].matrix.pattern.mean_length(),
                 values_[l].reach.data(), device_.stream());
      continue;
    }
    const auto& reach = level.smoother.spectrum->reach;
    heddle::detail::copy_bytes(values_[l].reach.data(), reach.data(), reach.size() * sizeof(double),
                               device_.stream());
  }
}

template <class S>
void LevelValues<S>::bring_reach() {
  if (!has_values_) return;
  take_reach();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = *levels_[l];
    if (level.inverse) continue;
    level.smoother.spectrum.emplace(level.matrix, Device::cpu(device_.threads()));
    heddle::detail::copy_bytes(level.smoother.spectrum->reach.data(), values_[l].reach.data(),
                               values_[l].reach.size() * sizeof(double), device_.stream());
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
void LevelValues<S>::take_candidates(Array<double> candidates) {
  candidates_ = std::move(candidates);
}

template <class S>
void LevelValues<S>::drop_candidates() {
  wait_before_memory_goes_back(device_);
  candidates_ = {};
  norms_ = {};
  arriving_ = {};
}

template <class S>
void LevelValues<S>::find_norms(std::size_t number) {
  const Values& own = values_[number];
  const Stream& stream = device_.stream();
  const Index count = own.matrix.pattern.rows;
  const auto n = static_cast<std::size_t>(count);
  // A power of two near the largest energy, so that squares stay in range.
  const double largest = largest_of(own.energies.data(), count, device_);
  norms_ = {};
  norms_ = {UnsetArray<double>(own.matrix.pattern.column.size(), device_),
            UnsetArray<double>(n, device_), UnsetArray<unsigned char>(n, device_)};
  device::NormRows rows;
  rows.a = own.matrix.pattern.view();
  rows.values = own.matrix.values.data();
  rows.inverse_scale = heddle::detail::inverse_scale(largest);
  rows.scalars = levels_[number]->matrix.shape.scalars();
  rows.squared = norms_.squared.data();
  rows.diagonal = norms_.diagonal.data();
  rows.is_coupled = norms_.is_coupled.data();
  heddle::cuda::find_norms(rows, own.matrix.pattern.mean_length(), stream);
}

template <class S>
heddle::detail::Aggregates LevelValues<S>::aggregate(std::size_t number, double strength) {
  return heddle::cuda::aggregate(values_[number].matrix.pattern, norms_, strength, arriving_,
                                 device_);
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
  TileMatrix& coarsest = levels_[last]->matrix;
  const auto copy = [&](const auto& from, auto& to) {
    heddle::detail::copy_bytes(to.data(), from.data(), from.size() * sizeof(double),
                               device_.stream());
  };
  if (coarsest.pattern.offsets.empty()) bring(values_[last].matrix.pattern, coarsest.pattern);
  if (coarsest.values.empty()) coarsest.make_values();
  copy(values_[last].matrix.values, coarsest.values);
  if (last > 0) copy(values_[last - 1].scales, levels_[last - 1]->transfer.scales);
  return true;
}

template <class S>
const double* LevelValues<S>::scales_below(std::size_t number) const {
  return number == 0 ? nullptr : values_[number - 1].scales.data();
}

template <class S>
void LevelValues<S>::read_matrix() {
  has_values_ = true;
  const SlicedPattern& pattern = matrix_.pattern();
  const auto& sizes = matrix_.entry().sizes;
  StoredTiles tiles;
  tiles.from = source_.data;
  tiles.scalar_bytes = source_.scalar_bytes;
  tiles.rule = slot_rule(matrix_.plan().layout.inner, sizes.components, pattern.C, pattern.slots,
                         source_.scalar_bytes);
  tiles.slot = slot_.data();
  tiles.components = components_.data();
  tiles.scalars = levels_.front()->matrix.shape.scalars();
  tiles.entries = levels_.front()->entries;
  tiles.to = values_.front().matrix.values.data();
  read_tiles(tiles, &doubts_->values, device_.stream());
}

template <class S>
void LevelValues<S>::invert_diagonal(std::size_t number) {
  const auto& shape = levels_[number]->matrix.shape;
  Values& own = values_[number];
  device::DiagonalRows diagonal;
  diagonal.a = own.matrix.pattern.view();
  diagonal.values = own.matrix.values.data();
  diagonal.diagonal = own.diagonal.data();
  diagonal.below = scales_below(number);
  diagonal.inverses = own.inverses.data();
  diagonal.energies = own.energies.data();
  diagonal.size = shape.height;
  heddle::cuda::invert_diagonal(diagonal, shape.ring, own.matrix.pattern.rows, &doubts_->values,
                                device_.stream());
}

template <class S>
device::ReachRows LevelValues<S>::reach_rows(std::size_t number) const {
  const Level& level = *levels_[number];
  const Values& own = values_[number];
  device::ReachRows reach;
  reach.a = own.matrix.pattern.view();
  reach.values = own.matrix.values.data();
  reach.inverses = own.inverses.data();
  reach.reach = own.reach.data();
  reach.bound = heddle::detail::safety_of_estimate * level.smoother.largest;
  reach.size = level.matrix.shape.height;
  return reach;
}

/// Updates D^-1 and Jacobi, and checks if the eigenvalues may have grown.
template <class S>
void LevelValues<S>::smooth(std::size_t number) {
  const Level& level = *levels_[number];
  const Stream& stream = device_.stream();
  invert_diagonal(number);
  level.smoother.jacobi->queue_refresh(&doubts_->singular, stream);
  look_for_growth(reach_rows(number), level.matrix.shape.ring,
                  values_[number].matrix.pattern.mean_length(), &doubts_->values, stream);
}

/// Computes P and P* from A T, or from T alone.
template <class S>
void LevelValues<S>::smooth_transfer(std::size_t number) {
  const Level& level = *levels_[number];
  Values& own = values_[number];
  const auto& shape = level.transfer.prolongation.shape;
  device::SmoothedRows rows;
  rows.p = own.prolongation.pattern.view(), rows.t = own.tentative.pattern.view();
  rows.image = own.is_smoothed ? own.image.values.data() : own.tentative.values.data();
  rows.tentative = own.tentative.values.data();
  rows.inverses = own.inverses.data();
  rows.omega = own.is_smoothed ? 4 / (3 * level.smoother.largest) : 0;
  rows.smoothed = own.prolongation.values.data();
  rows.adjoint = own.restriction.values.data();
  rows.place = own.place.data();
  rows.height = shape.height, rows.width = shape.width;
  heddle::cuda::smooth(rows, shape.ring, own.prolongation.pattern.mean_length(), device_.stream());
}

template <class S>
void LevelValues<S>::transfer(std::size_t number, double rounding) {
  const Level &level = *levels_[number], &coarse = *levels_[number + 1];
  Values &own = values_[number], &next = values_[number + 1];
  const Stream& stream = device_.stream();
  const auto& shape = level.transfer.prolongation.shape;
  const auto product = [&](const Matrix& a, const Matrix& b, const Pattern& c,
                           UnsetArray<double>& result, const Product& sums, int height,
                           int middle) {
    device::TileProduct p;
    p.a = a.pattern.view(), p.b = b.pattern.view(), p.c = c.view();
    p.left = a.values.data(), p.right = b.values.data(), p.result = result.data();
    p.places = sums.places.view(), p.pieces = sums.pieces.view(sums_.data());
    p.diagonal = next.diagonal.data();
    p.height = height, p.middle = middle, p.width = shape.width;
    p.grows = true;
    p.one_each = &b == &own.tentative || (&b == &own.prolongation && !own.is_smoothed);
    multiply(p, shape.ring, b.pattern.mean_length(), c.longest, stream);
  };
  if (own.is_smoothed) {
    product(own.matrix, own.tentative, own.prolongation.pattern, own.image.values,
            own.to_prolongation, shape.height, shape.height);
  }
  smooth_transfer(number);
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
  mended.least = heddle::detail::min_energy;
  mended.size = shape.width;
  mended.of_tile = shape.scalars();
  mend(mended, shape.ring, own.restriction.pattern.mean_length(), &doubts_->values, stream);
  put(own.prolongation.values.span(), own.of_p, *level.transfer.interpolate);
  put(own.restriction.values.span(), own.of_adjoint, *level.transfer.restrict);
  put(next.matrix.values.span(), next.of_matrix, *coarse.product);
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
  dense.least = -heddle::detail::min_energy;
  dense.size = level.matrix.shape.height;
  dense.n = static_cast<int>(own.sizes.size());
  invert_dense(dense, level.matrix.shape.ring, &doubts_->coarsest, device_.stream());
  put(own.inverse.span(), own.of_matrix, *level.inverse);
}

template <class S>
void LevelValues<S>::put(std::span<const double> values, const Stored& stored,
                         heddle::detail::SlicedOperator<S>& to) {
  if (stored.numbers.empty()) return to.update_values(std::as_bytes(values));
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
