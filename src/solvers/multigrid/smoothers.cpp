#include "smoothers.hpp"

#include <utility>
#include <vector>

#include "solvers/cycles/level_cycle.hpp"
#include "solvers/operators/spectrum.hpp"
#include "solvers/preconditioners/chebyshev_numbers.hpp"
#include "solvers/tiles/level_spectrum.hpp"

namespace heddle::detail {

namespace {

/// Each colour is a product, which a GPU launches separately.
constexpr int max_colours = 64;

/// Ratio of the bounds between which the polynomial damps: these ratios took the fewest iterations
/// on Poisson's equation and elasticity (docs/inside/tried.md).
double ratio_of(int degree) { return degree == 0 ? 3 : degree == 1 ? 6 : 10; }

}  // namespace

template <class S>
void Smoothers<S>::smooth(Level<S>& level, std::span<const double> scales, bool estimates) {
  LevelSmoother<S>& own = level.smoother;
  if (own.inverses.empty()) {
    own.inverses = UnsetArray<double>(
        static_cast<std::size_t>(Offset(level.matrix.rows()) * level.matrix.shape.scalars()));
  }
  invert_diagonal(level.matrix, own.inverses, scratch_, host_.stream());
  if (own.jacobi) {
    own.jacobi->refresh();
  } else {
    own.jacobi = std::make_shared<SlicedJacobi<S>>(*level.product);
  }
  estimate_largest(level, scales, estimates);
  switch (options_.smoother) {
    case Smoother::chebyshev:
    case Smoother::jacobi:
      return smooth_by_polynomial(level);
    case Smoother::l1_jacobi:
      return smooth_by_norms(level);
    case Smoother::gauss_seidel:
      if (!smooth_by_colours(level)) smooth_by_polynomial(level);
  }
}

/// Beyond its interval the polynomial amplifies.
template <class S>
void Smoothers<S>::estimate_largest(Level<S>& level, std::span<const double> scales,
                                    bool estimates) {
  LevelSmoother<S>& own = level.smoother;
  if (!own.spectrum) own.spectrum.emplace(level.matrix, host_);
  SpectrumWorkspace& spectrum = *own.spectrum;
  const double bound = safety_of_estimate * own.largest;
  if (!estimates && !may_exceed(level.matrix, own.inverses, bound, false, spectrum, host_)) return;
  const double largest = largest_eigenvalue(level.matrix, own.inverses, scales, spectrum, host_);
  if (remembers_reach_) may_exceed(level.matrix, own.inverses, bound, true, spectrum, host_);
  if (!estimates) ++own.new_estimates;
  if (estimates || largest > own.largest) own.largest = largest;
}

template <class S>
void Smoothers<S>::remember_reach(const LevelList<S>& levels) {
  if (std::exchange(remembers_reach_, true)) return;
  for (const auto& level : levels) {
    LevelSmoother<S>& own = level->smoother;
    if (own.spectrum) may_exceed(level->matrix, own.inverses, 0, true, *own.spectrum, host_);
  }
}

/// Writes the coefficients for the polynomial's interval, for a cycle in steps, to memory that
/// stays.
template <class S>
void Smoothers<S>::place_numbers(LevelSmoother<S>& own) {
  if (!operators_.device().on_gpu()) return;
  std::vector<Coefficient<Ring::real, S>> numbers(2 * (static_cast<std::size_t>(degree()) + 1));
  set_chebyshev_numbers<S>(own.polynomial->interval(), degree(), numbers);
  if (own.numbers.empty()) {
    own.numbers = Array<Coefficient<Ring::real, S>>(numbers.size(), operators_.device());
  }
  copy_bytes(own.numbers.data(), numbers.data(), numbers.size() * sizeof numbers[0],
             operators_.device().stream());
}

template <class S>
void Smoothers<S>::smooth_by_polynomial(Level<S>& level) {
  LevelSmoother<S>& own = level.smoother;
  const double upper = safety_of_estimate * own.largest;
  const SpectralInterval interval{upper / ratio_of(degree()), upper};
  own.interval = interval;
  // The polynomial itself is made if no `NumberCycle` takes its place.
  const bool is_joined = own.first_numbers || (!own.polynomial && degree() <= 1 && sweeps() == 1 &&
                                               has_number_rows(*level.product, level.entry.tiles));
  if (is_joined) {
    if (!own.first_numbers) own.first_numbers = std::make_shared<FirstNumbers<S>>();
    if (!set_chebyshev_numbers<S>(interval, degree(), *own.first_numbers)) refuse_not_finite();
  }
  if (own.polynomial) {
    const SpectralInterval& known = own.polynomial->interval();
    if (known.upper == interval.upper) return;
    own.polynomial->replace_interval(interval);
    return place_numbers(own);
  }
  if (!is_joined) make_polynomial(level);
}

template <class S>
void Smoothers<S>::make_polynomial(Level<S>& level) {
  LevelSmoother<S>& own = level.smoother;
  own.polynomial = std::make_shared<Chebyshev<S>>(
      *level.product, own.jacobi, ChebyshevOptions{.degree = degree(), .interval = own.interval});
  place_numbers(own);
  own.before = own.after = repeated<S>(*level.product, own.polynomial, sweeps());
}

template <class S>
void Smoothers<S>::smooth_by_norms(Level<S>& level) {
  LevelSmoother<S>& own = level.smoother;
  l1_diagonal(level.matrix, own.norms, host_.stream());
  if (!own.by_norms) {
    own.norm_inverses = own.norms;
    own.by_norms = operators_.make_square(level, own.norms);
    own.before = own.after = repeated<S>(
        *level.product, std::make_shared<InverseOperator<S>>(own.by_norms), options_.degree);
  }
  invert_diagonal(own.norms, own.norm_inverses.values, scratch_, host_.stream());
  operators_.put_values(own.norm_inverses, level.entry, *own.by_norms);
}

/// Makes the smoother of a level by colours, without values, unless there are too many colours.
template <class S>
void Smoothers<S>::add_colours(Level<S>& level) {
  LevelSmoother<S>& own = level.smoother;
  own.colours = colour_rows(level.matrix, max_colours);
  if (own.colours.count() == 0) return;
  own.sweeps = std::make_shared<ColouredOperators<S>>(*level.product, own.jacobi, own.colours.row,
                                                      own.colours.begin);
  Plan plan = operators_.plan();
  plan.layout.order = RowOrder::natural;
  plan.layout.sort_window = 1;
  plan.layout.basis = BasisUse::permuted;
  plan.layout.vector = VectorLayout::aos;
  const auto places = Basis::natural(level.matrix.rows());
  for (const TileMatrix& part : own.colours.of_colour) {
    own.sweeps->of_colour.push_back(std::make_shared<SlicedOperator<S>>(
        level.entry.table, part.pattern.view(part.columns), ComponentOrder::row_major, plan,
        operators_.device(), Basis::natural(part.rows()), places));
  }
  const auto sweeps_of = [&](bool is_forward) {
    return std::make_shared<GaussSeidel<S>>(*level.product, own.sweeps, options_.degree,
                                            is_forward);
  };
  own.before = sweeps_of(true);
  own.after = sweeps_of(false);
}

/// False if there are too many colours.
template <class S>
bool Smoothers<S>::smooth_by_colours(Level<S>& level) {
  LevelSmoother<S>& own = level.smoother;
  if (!own.before) add_colours(level);
  if (own.colours.count() == 0) return false;
  scale_rows(level.matrix, own.inverses, own.colours, host_.stream());
  for (std::size_t k = 0; k < own.colours.of_colour.size(); ++k) {
    operators_.put_values(own.colours.of_colour[k], level.entry, *own.sweeps->of_colour[k]);
  }
  return true;
}

template class Smoothers<float>;
template class Smoothers<double>;

}  // namespace heddle::detail
