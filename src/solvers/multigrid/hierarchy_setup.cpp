#include "hierarchy_setup.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "coarse_inverse.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

namespace {

/// Ratio of coarse scalars to a level's scalars above which a coarser level is not worth it.
constexpr double min_gain = 0.8;
/// Fraction of a level's rows that may stay unaggregated though neighbours outweigh half of their
/// diagonal.
constexpr double max_left = 0.1;
/// Below this strength, all rows that an entry connects count as connected.
constexpr double min_strength = 0.005;

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw Error(kind, "multigrid: " + why);
}

const MultigridOptions& checked(const MultigridOptions& options) {
  if (options.degree < 0) refuse(ErrorKind::usage, "the smoother's degree is 0 or more");
  if (options.degree == 0 && options.smoother != Smoother::chebyshev) {
    refuse(ErrorKind::usage, "this smoother takes 1 sweep or more");
  }
  if (!(options.strength >= 0 && options.strength < 1)) {
    refuse(ErrorKind::usage, "the strength of a connection is at least 0 and below 1");
  }
  if (options.coarsest < 1 || options.coarsest > 4096) {
    refuse(ErrorKind::usage, "the coarsest level has 1 to 4096 scalars");
  }
  if (options.level_precision != StoredScalar::own &&
      options.level_precision != StoredScalar::single) {
    refuse(ErrorKind::usage, "the precision of its levels is that of the matrix, or single");
  }
  return options;  // NOLINT(bugprone-return-const-ref-from-parameter): a parameter of a constructor
}

template <class S>
const SlicedOperator<S>& checked(const SlicedOperator<S>& matrix) {
  check_square<S>(matrix, "multigrid");
  if (!matrix.has_adjoint() || matrix.entry().adjoint == nullptr) {
    refuse(ErrorKind::unsupported,
           "it needs P* A P, and these entries have no adjoint; use jacobi, or none");
  }
  return matrix;  // NOLINT(bugprone-return-const-ref-from-parameter): as above
}

}  // namespace

template <class S>
HierarchySetup<S>::HierarchySetup(FinestMatrix<S> finest, const MultigridOptions& options,
                                  std::size_t candidates)
    : options_(checked(options)),
      finest_(std::move(finest)),
      host_(Device::cpu(finest_.matrix().device().threads())),
      operators_(checked(finest_.matrix()), candidates, host_, scratch_),
      smoothers_(options_, operators_, host_, scratch_) {}

/// The scales that the energies of the level's rows came from; empty on the finest level.
template <class S>
std::span<const double> HierarchySetup<S>::scales_below(const Level<S>& level) const {
  if (level.number == 0) return {};
  return levels_[static_cast<std::size_t>(level.number) - 1]->transfer.scales.span();
}

template <class S>
bool HierarchySetup<S>::is_solved(const Level<S>& level) const {
  const TileMatrix& a = level.matrix;
  return Offset(level.rows) * a.shape.height * a.shape.ring <= options_.coarsest;
}

template <class S>
void HierarchySetup<S>::add_finest() {
  levels_.push_back(std::make_unique<Level<S>>());
  Level<S>& finest = *levels_.back();
  const SlicedOperator<S>& matrix = finest_.matrix();
  finest.rows = matrix.rows();
  finest.entries = matrix.pattern().entries;
  finest.entry = operators_.entries().finest;
  const EntryTiles& tiles = finest.entry.tiles;
  finest.matrix.shape = {tiles.size, tiles.size, tiles.ring};
  finest.matrix.columns = matrix.columns();
  finest.product = std::make_shared<SlicedOperator<S>>(matrix);
}

/// Makes values for all patterns that have none.
template <class S>
void HierarchySetup<S>::make_values() {
  for (const auto& level : levels_) {
    LevelTransfer<S>& transfer = level->transfer;
    for (TileMatrix* const matrix : {&level->matrix, &transfer.prolongation, &transfer.image,
                                     &transfer.restriction, &level->inverse_tiles}) {
      if (matrix->values.empty() && !matrix->pattern.offsets.empty()) matrix->make_values();
    }
  }
}

template <class S>
void HierarchySetup<S>::compute(UnsetArray<double>* candidates) {
  const bool is_new = candidates != nullptr, estimates = is_new || options_.estimates_again;
  if (!estimates) smoothers_.remember_reach(levels_);
  const Stream host = host_.stream();
  if (is_new) {
    add_finest();
    finest_.read_pattern(levels_.front()->matrix, host);
  }
  make_values();
  Level<S>& finest = *levels_.front();
  finest_.read_values(finest.entry.tiles, finest.matrix, scratch_, host);
  double strength = options_.strength;
  for (std::size_t l = 0; l < levels_.size(); ++l, strength /= 2) {
    Level<S>& level = *levels_[l];
    if (is_solved(level)) {
      solve(level);
      break;
    }
    smoothers_.smooth(level, scales_below(level), estimates);
    if (is_new) extend(level, *candidates, strength);
    if (l + 1 < levels_.size()) transfer(level, *levels_[l + 1]);
  }
}

template <class S>
std::optional<Aggregates> HierarchySetup<S>::aggregate_rows(
    Level<S>& level, double strength, const std::function<Aggregates(double)>& aggregate) const {
  while (true) {
    Aggregates aggregates = aggregate(strength);
    const double coarse =
        static_cast<double>(aggregates.count) * operators_.entries().coarse.tiles.size;
    const bool is_worth_it =
        aggregates.count > 0 && coarse <= min_gain * level.rows * level.matrix.shape.height;
    if (strength == 0 || (is_worth_it && aggregates.left <= max_left * level.rows)) {
      if (!is_worth_it) return {};
      level.strength = strength;
      return aggregates;
    }
    strength = strength / 4 < min_strength ? 0 : strength / 4;
  }
}

/// Adds the next level, without a matrix, if it is worth it.
template <class S>
void HierarchySetup<S>::extend(Level<S>& level, UnsetArray<double>& candidates, double strength) {
  const Stream host = host_.stream();
  const TileMatrix& a = level.matrix;
  const EntryNorms norms = entry_norms(a, host);
  const auto aggregates = aggregate_rows(
      level, strength, [&](double least) { return aggregate(a, norms, least, host); });
  if (!aggregates) return;
  add_coarse(level, aggregates->count);
  TileMatrix& t = level.transfer.tentative;
  t = tentative_prolongation(*aggregates, t.shape, candidates, host);
}

template <class S>
Level<S>& HierarchySetup<S>::add_coarse(Level<S>& level, Index count) {
  const LevelEntry<S>& entry = operators_.entries().coarse;
  const TileShape shape{level.matrix.shape.height, entry.tiles.size, level.matrix.shape.ring};
  LevelTransfer<S>& transfer = level.transfer;
  for (TileMatrix* const matrix : {&transfer.tentative, &transfer.prolongation, &transfer.image}) {
    matrix->shape = shape;
    matrix->columns = count;
  }
  transfer.restriction.shape = shape.transposed();
  transfer.restriction.columns = level.rows;
  transfer.scales = Array<double>(static_cast<std::size_t>(count));
  auto coarse = std::make_unique<Level<S>>();
  coarse->number = level.number + 1;
  coarse->rows = count;
  coarse->entry = entry;
  coarse->matrix.shape = {shape.width, shape.width, shape.ring};
  coarse->matrix.columns = count;
  levels_.push_back(std::move(coarse));
  return *levels_.back();
}

/// P = (1 - omega D^-1 A) T if it is smoothed, and P* A P; the first time with their patterns.
template <class S>
void HierarchySetup<S>::transfer(Level<S>& level, Level<S>& coarse) {
  const Stream host = host_.stream();
  LevelTransfer<S>& between = level.transfer;
  const bool is_new = !between.interpolate;
  const TileMatrix& a = level.matrix;
  TileMatrix &p = between.prolongation, &adjoint = between.restriction;
  const TileMatrix& t = between.tentative;
  const auto put_product = [&](const TileMatrix& left, const TileMatrix& right, ProductUse use,
                               ProductPlaces& places, TileMatrix& result) {
    if (is_new) {
      result = product(left, right, use, host, places);
    } else {
      list_terms(left, right, result, places, host);
      multiply(left, right, places, result, host);
    }
  };
  if (options_.interpolation == Interpolation::smoothed) {
    const double omega = 4 / (3 * level.smoother.largest);
    put_product(a, t, ProductUse::matrix, between.to_prolongation, p);
    smooth_prolongation(level.smoother.inverses, omega, t, p, scratch_, host);
  } else if (is_new) {
    p = t;
  } else {
    std::copy(t.values.begin(), t.values.end(), p.values.begin());
  }
  if (is_new) adjoint = adjoint_pattern(p, host, between.place);
  conjugate_transpose(p, between.place, adjoint, host);
  put_product(a, p, ProductUse::factor, between.to_image, between.image);
  put_product(adjoint, between.image, ProductUse::hermitian, between.to_coarse, coarse.matrix);
  if (is_new) {
    coarse.entries = coarse.matrix.pattern.entries();
    operators_.make(level, coarse, p.pattern.view(p.columns), adjoint.pattern.view(a.rows()),
                    coarse.matrix.pattern.view(coarse.matrix.columns));
  }
  const auto rows = static_cast<std::size_t>(a.rows());
  if (between.diagonal.empty()) between.diagonal = Array<double>(rows);
  energy_scales(a, scales_below(level), adjoint, between.diagonal, between.scales, host);
  mend_diagonal(coarse.matrix, between.scales.span(), finest_.rounding(), scratch_, host);
  operators_.put_values(p, operators_.entry_of_p(level), *between.interpolate);
  operators_.put_values(adjoint, between.adjoint_entry, *between.restrict);
  operators_.put_values(coarse.matrix, coarse.entry, *coarse.product);
}

template <class S>
void HierarchySetup<S>::solve(Level<S>& level) {
  TileMatrix& inverse = level.inverse_tiles;
  invert(level.matrix, scales_below(level), finest_.rounding(), inverse, scratch_, host_.stream());
  if (!level.inverse) level.inverse = operators_.make_square(level, inverse);
  operators_.put_values(inverse, level.entry, *level.inverse);
}

template class HierarchySetup<float>;
template class HierarchySetup<double>;

}  // namespace heddle::detail
