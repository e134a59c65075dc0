#include "multigrid_hierarchy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "coarse_inverse.hpp"
#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "level_cycle.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/operators/spectrum.hpp"
#include "solvers/tiles/level_spectrum.hpp"

namespace heddle::detail {

namespace {

/// Ratio of coarse scalars to a level's scalars above which a coarser level is not worth it.
constexpr double min_gain = 0.8;
/// Fraction of a level's rows that may stay unaggregated though neighbours outweigh their diagonal.
constexpr double max_left = 0.1;
/// Below this strength, all rows that an entry connects count as connected.
constexpr double min_strength = 0.005;

[[noreturn]] void refuse(ErrorKind kind, const std::string& why) {
  throw Error(kind, "multigrid: " + why);
}

void check(const MultigridOptions& options) {
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
}

}  // namespace

template <class S>
template <class T>
Hierarchy<S>::Hierarchy(const SlicedOperator<S>& matrix, const SlicedOperator<T>& source,
                        const MultigridOptions& options,
                        std::span<const FieldView<const T>> candidates)
    : matrix_(matrix),
      options_(options),
      host_(Device::cpu(matrix.device().threads())),
      plan_(matrix.plan()),
      reduction_(matrix.rows(), matrix.device()) {
  check(options_);
  if constexpr (!std::is_same_v<S, T>) wide_ = source;
  check_matrix();
  plan_.layout.stored = StoredScalar::own;
  // A product that counts what its blocks have taken allocates for each stream it is used with.
  if (matrix_.device().on_gpu()) plan_.schedule.kind = ScheduleKind::full;
  const LevelEntries<S> entries = level_entries(matrix_, candidates.size());
  finest_ = entries.finest, between_ = entries.between, coarse_ = entries.coarse;
  rounding_ = keeps_floats(matrix_) || std::is_same_v<T, float> ? 1e-5 : 1e-10;
  bool is_done = false;
  if constexpr (has_cuda) is_done = set_up_on_gpu(source, candidates);
  if (!is_done) {
    UnsetArray<double> tiles = read_candidates(source, candidates);
    compute(&tiles);
  }
  make_cycle();
}

template <class S>
void Hierarchy<S>::check_matrix() const {
  check_square<S>(matrix_, "multigrid");
  if (!matrix_.has_adjoint() || matrix_.entry().adjoint == nullptr) {
    refuse(ErrorKind::unsupported,
           "it needs P* A P, and these entries have no adjoint; use jacobi, or none");
  }
}

/// A tile for each row, whose columns are the candidates; missing ones are 0.
template <class S>
template <class T>
UnsetArray<double> Hierarchy<S>::read_candidates(
    const SlicedOperator<T>& source, std::span<const FieldView<const T>> candidates) const {
  const int v = finest_.tiles.size, r = finest_.tiles.ring, k = coarse_.tiles.size;
  const Index n = matrix_.rows();
  UnsetArray<double> tiles(static_cast<std::size_t>(n) * static_cast<std::size_t>(v * k * r));
  const int team = team_size(host_.stream(), static_cast<long long>(tiles.size()));
  const auto at = [&](Index row, int i, int j) {
    return static_cast<std::size_t>(((Offset(row) * v + i) * k + j) * r);
  };
  if (static_cast<int>(candidates.size()) < k) {
    parallel_for(team, n, [&](Index row) { std::fill_n(&tiles[at(row, 0, 0)], v * k * r, 0.0); });
  }
  if (candidates.empty()) {
    parallel_for(team, n, [&](Index row) {
      for (int i = 0; i < v; ++i) tiles[at(row, i, i)] = 1;
    });
    return tiles;
  }
  const int components = matrix_.row_components();
  if (components != v * r) {
    refuse(ErrorKind::unsupported,
           "these entries are one number that acts on several components; use constant candidates");
  }
  const auto inside = row_field_of<T>(source);
  Array<T> own(static_cast<std::size_t>(n) * static_cast<std::size_t>(components));
  const FieldView<T> user(own.data(), n, components);
  const Stream stream = matrix_.device().stream();
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    check_same_shape(candidates[j], inside.view, "a multigrid candidate");
    permute<T>(candidates[j], inside.view, T(1), stream);
    permute<T>(inside.view, user, T(1), stream);
    const auto larger = [](double a, double b) { return Reduction<double>::larger(a, b); };
    const double largest = parallel_reduce(
        team, own.size(), 0.0,
        [&](std::size_t i, double& most) { most = larger(std::abs(double(own[i])), most); },
        [&](double& most, double other) { most = larger(other, most); });
    if (!std::isfinite(largest)) {
      refuse(ErrorKind::not_finite, "a candidate has a component that is not finite");
    }
    // Scaled so that no square leaves the range; the span stays.
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    parallel_for(team, n, [&](Index row) {
      for (int part = 0; part < v * r; ++part) {
        const auto number = static_cast<double>(user.at(row, part));
        tiles[at(row, part / r, static_cast<int>(j)) + static_cast<std::size_t>(part % r)] =
            std::ldexp(number, -exponent);
      }
    });
  }
  return tiles;
}

/// The scales that the energies of the level's rows came from; empty on the finest level.
template <class S>
std::span<const double> Hierarchy<S>::scales_below(const Level& level) const {
  if (level.number == 0) return {};
  return levels_[static_cast<std::size_t>(level.number) - 1]->scales.span();
}

template <class S>
bool Hierarchy<S>::is_solved(const Level& level) const {
  const TileMatrix& a = level.matrix;
  return Offset(level.rows) * a.shape.height * a.shape.ring <= options_.coarsest;
}

/// Adds the finest level without its pattern.
template <class S>
void Hierarchy<S>::add_finest() {
  levels_.push_back(std::make_unique<Level>());
  Level& finest = *levels_.back();
  finest.rows = matrix_.rows();
  finest.entries = matrix_.pattern().entries;
  const int v = finest_.tiles.size;
  finest.entry = finest_;
  finest.matrix.shape = {v, v, finest_.tiles.ring};
  finest.matrix.columns = matrix_.columns();
  finest.product = std::make_shared<SlicedOperator<S>>(matrix_);
}

/// Computes all values, and the levels if given candidates of the finest one; else they stay.
template <class S>
void Hierarchy<S>::compute(UnsetArray<double>* candidates) {
  const auto begin = std::chrono::steady_clock::now();
  if (candidates == nullptr && !options_.estimates_again) remember_reach();
  if (candidates != nullptr) {
    add_finest();
    read_pattern();
  }
  make_values();
  read_matrix(*levels_.front());
  double strength = options_.strength;
  for (std::size_t l = 0; l < levels_.size(); ++l, strength /= 2) {
    Level& level = *levels_[l];
    if (is_solved(level)) {
      solve(level);
      break;
    }
    smooth(level, candidates != nullptr || options_.estimates_again);
    if (candidates != nullptr) extend(level, *candidates, strength);
    if (l + 1 < levels_.size()) transfer(level, *levels_[l + 1]);
  }
  generation_ = of_source([](const auto& source) { return source.generation(); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
}

/// Before the first new values arrive, stores what they are compared with.
template <class S>
void Hierarchy<S>::remember_reach() {
  if (std::exchange(remembers_reach_, true)) return;
  for (const auto& level : levels_) {
    if (level->room) may_exceed(level->matrix, level->inverses, 0, true, *level->room, host_);
  }
}

/// Aggregates by the strength, or by a weaker one, which the level gets; none if no coarser level
/// is worth it.
template <class S>
std::optional<Aggregates> Hierarchy<S>::aggregate_rows(
    Level& level, double strength, const std::function<Aggregates(double)>& aggregate) const {
  while (true) {
    Aggregates aggregates = aggregate(strength);
    const double coarse = static_cast<double>(aggregates.count) * coarse_.tiles.size;
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
void Hierarchy<S>::extend(Level& level, UnsetArray<double>& candidates, double strength) {
  const Stream host = host_.stream();
  const TileMatrix& a = level.matrix;
  const EntryNorms norms = entry_norms(a, host);
  const auto aggregates = aggregate_rows(
      level, strength, [&](double least) { return aggregate(a, norms, least, host); });
  if (!aggregates) return;
  add_coarse(level, aggregates->count);
  level.tentative = tentative_prolongation(*aggregates, level.tentative.shape, candidates, host);
}

/// Adds the next level, of `count` rows, and the matrices in between, without patterns.
template <class S>
typename Hierarchy<S>::Level& Hierarchy<S>::add_coarse(Level& level, Index count) {
  const Index rows = level.rows;
  const TileShape shape{level.matrix.shape.height, coarse_.tiles.size, level.matrix.shape.ring};
  for (TileMatrix* const matrix : {&level.tentative, &level.prolongation, &level.image}) {
    matrix->shape = shape;
    matrix->columns = count;
  }
  level.restriction.shape = shape.turned();
  level.restriction.columns = rows;
  level.scales = Array<double>(static_cast<std::size_t>(count));
  auto coarse = std::make_unique<Level>();
  coarse->number = level.number + 1;
  coarse->rows = count;
  coarse->entry = coarse_;
  coarse->matrix.shape = {shape.width, shape.width, shape.ring};
  coarse->matrix.columns = count;
  levels_.push_back(std::move(coarse));
  return *levels_.back();
}

/// P = (1 - omega D^-1 A) T if it is smoothed, and P* A P; the first time with their patterns.
template <class S>
void Hierarchy<S>::transfer(Level& level, Level& coarse) {
  const Stream host = host_.stream();
  const bool is_new = !level.interpolate;
  const TileMatrix& a = level.matrix;
  TileMatrix& p = level.prolongation;
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
    const double omega = 4 / (3 * level.largest);
    put_product(a, level.tentative, ProductUse::matrix, level.to_prolongation, p);
    smooth_prolongation(level.inverses, omega, level.tentative, p, scratch_, host);
  } else if (is_new) {
    p = level.tentative;
  } else {
    std::copy(level.tentative.values.begin(), level.tentative.values.end(), p.values.begin());
  }
  if (is_new) level.restriction = adjoint_pattern(p, host, level.place);
  conjugate_transpose(p, level.place, level.restriction, host);
  put_product(a, p, ProductUse::factor, level.to_image, level.image);
  put_product(level.restriction, level.image, ProductUse::hermitian, level.to_coarse,
              coarse.matrix);
  if (is_new) {
    coarse.entries = coarse.matrix.pattern.entries();
    make_operators(level, coarse, p.pattern.view(p.columns),
                   level.restriction.pattern.view(a.rows()),
                   coarse.matrix.pattern.view(coarse.matrix.columns));
  }
  if (level.diagonal.empty()) level.diagonal = Array<double>(static_cast<std::size_t>(a.rows()));
  energy_scales(a, scales_below(level), level.restriction, level.diagonal, level.scales, host);
  mend_diagonal(coarse.matrix, level.scales.span(), rounding_, scratch_, host);
  const bool is_finest = &level == levels_.front().get();
  put_values(p, is_finest ? between_ : coarse_, *level.interpolate);
  put_values(level.restriction, level.adjoint_entry, *level.restrict);
  put_values(coarse.matrix, coarse_, *coarse.product);
}

template <class S>
void Hierarchy<S>::solve(Level& level) {
  TileMatrix& inverse = level.inverse_tiles;
  invert(level.matrix, scales_below(level), rounding_, inverse, scratch_, host_.stream());
  if (!level.inverse) {
    const auto basis = level.product->row_basis();
    level.inverse =
        make_operator(inverse.pattern.view(inverse.columns), level.entry.table, basis, basis);
  }
  put_values(inverse, level.entry, *level.inverse);
}

/// The cycle of a level over that of the next one.
template <class S>
std::shared_ptr<Preconditioner<S>> Hierarchy<S>::make_level_cycle(
    Level& level, std::shared_ptr<Preconditioner<S>> coarse) {
  const LevelEntry<S>& of_p = level.number == 0 ? between_ : coarse_;
  if (level.first_numbers && has_number_rows(*level.interpolate, of_p.tiles) &&
      has_number_rows(*level.restrict, of_p.tiles)) {
    return std::make_shared<NumberCycle<S>>(*level.product, level.first_numbers,
                                            degree_of_polynomial(), level.jacobi,
                                            *level.interpolate, *level.restrict, std::move(coarse));
  }
  if (!level.before) make_polynomial(level, degree_of_polynomial(), 1);
  const SlicedOperator<S>& below = *levels_[static_cast<std::size_t>(level.number) + 1]->product;
  return std::make_shared<LevelCycle<S>>(
      *level.product, level.before,
      typename LevelCycle<S>::Transfer{level.interpolate, level.restrict}, std::move(coarse), below,
      level.after);
}

template <class S>
void Hierarchy<S>::make_cycle() {
  if constexpr (has_cuda) {
    if (make_cycle_of_steps()) return;
  }
  Level& last = *levels_.back();
  if (last.inverse) {
    cycle_ = std::make_shared<InverseOperator<S>>(last.inverse);
  } else {
    if (!last.before) make_polynomial(last, degree_of_polynomial(), 1);
    cycle_ = cycle_of_smoothers<S>(*last.product, last.before, last.after);
  }
  cycle_ = compose_cycle<S>(
      options_.cycle, levels_.size(), cycle_,
      [&](std::size_t l) -> const LinearOperator<S>& { return *levels_[l]->product; },
      [&](std::size_t l, auto coarse) { return make_level_cycle(*levels_[l], std::move(coarse)); });
}

template class Hierarchy<float>;
template class Hierarchy<double>;
#define HEDDLE_HIERARCHY(S, T)                                                         \
  template Hierarchy<S>::Hierarchy(const SlicedOperator<S>&, const SlicedOperator<T>&, \
                                   const MultigridOptions&, std::span<const FieldView<const T>>);
HEDDLE_HIERARCHY(float, float)
HEDDLE_HIERARCHY(float, double)
HEDDLE_HIERARCHY(double, double)
#undef HEDDLE_HIERARCHY

}  // namespace heddle::detail
