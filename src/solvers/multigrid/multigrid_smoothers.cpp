// The smoothers of a hierarchy's levels, from the levels' current values.
#include <utility>
#include <vector>

#include "heddle/composed_preconditioner.hpp"
#include "level_cycle.hpp"
#include "multigrid_hierarchy.hpp"
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

/// Updates D^-1, Jacobi and the smoother to the level's current matrix.
template <class S>
void Hierarchy<S>::smooth(Level& level, bool estimates) {
  if (level.inverses.empty()) {
    level.inverses = UnsetArray<double>(
        static_cast<std::size_t>(Offset(level.matrix.rows()) * level.matrix.shape.scalars()));
  }
  invert_diagonal(level.matrix, level.inverses, scratch_, host_.stream());
  if (level.jacobi) {
    level.jacobi->refresh();
  } else {
    level.jacobi = std::make_shared<SlicedJacobi<S>>(*level.product);
  }
  estimate_largest(level, estimates);
  switch (options_.smoother) {
    case Smoother::chebyshev:
      return smooth_by_polynomial(level, options_.degree, 1);
    case Smoother::jacobi:
      return smooth_by_polynomial(level, 0, options_.degree);
    case Smoother::l1_jacobi:
      return smooth_by_norms(level);
    case Smoother::gauss_seidel:
      if (!smooth_by_colours(level)) smooth_by_polynomial(level, options_.degree, 1);
  }
}

/// Estimates the largest eigenvalue for the current values, always if `estimates`, else only if it
/// may have grown: beyond its interval the polynomial amplifies.
template <class S>
void Hierarchy<S>::estimate_largest(Level& level, bool estimates) {
  if (!level.room) level.room.emplace(level.matrix, host_);
  SpectrumRoom& room = *level.room;
  const double bound = safety_of_estimate * level.largest;
  if (!estimates && !may_exceed(level.matrix, level.inverses, bound, false, room, host_)) return;
  const double largest =
      largest_eigenvalue(level.matrix, level.inverses, scales_below(level), room, host_);
  if (remembers_reach_) may_exceed(level.matrix, level.inverses, bound, true, room, host_);
  if (!estimates) ++level.new_estimates;
  if (estimates || largest > level.largest) level.largest = largest;
}

template <class S>
std::shared_ptr<Preconditioner<S>> Hierarchy<S>::repeated(const Level& level,
                                                          std::shared_ptr<Preconditioner<S>> part,
                                                          int sweeps) const {
  if (sweeps == 1) return part;
  using Parts = std::vector<std::shared_ptr<Preconditioner<S>>>;
  return std::make_shared<MultiplicativePreconditioner<S>>(
      *level.product, Parts(static_cast<std::size_t>(sweeps), std::move(part)));
}

/// Writes the coefficients for the polynomial's interval, for a cycle in steps, to memory that
/// stays.
template <class S>
void Hierarchy<S>::place_numbers(Level& level, int degree) {
  if (!matrix_.device().on_gpu()) return;
  std::vector<Coefficient<Ring::real, S>> numbers(2 * (static_cast<std::size_t>(degree) + 1));
  set_chebyshev_numbers<S>(level.polynomial->interval(), degree, numbers);
  if (level.numbers.empty()) {
    level.numbers = Array<Coefficient<Ring::real, S>>(numbers.size(), matrix_.device());
  }
  copy_bytes(level.numbers.data(), numbers.data(), numbers.size() * sizeof numbers[0],
             matrix_.device().stream());
}

template <class S>
void Hierarchy<S>::smooth_by_polynomial(Level& level, int degree, int sweeps) {
  const double upper = safety_of_estimate * level.largest;
  const SpectralInterval interval{upper / ratio_of(degree), upper};
  level.interval = interval;
  // The polynomial itself is made if no `NumberCycle` takes its place.
  const bool is_joined =
      level.first_numbers || (!level.polynomial && degree <= 1 && sweeps == 1 &&
                              has_number_rows(*level.product, level.entry.tiles));
  if (is_joined) {
    if (!level.first_numbers) level.first_numbers = std::make_shared<FirstNumbers<S>>();
    if (!set_chebyshev_numbers<S>(interval, degree, *level.first_numbers)) refuse_not_finite();
  }
  if (level.polynomial) {
    const SpectralInterval& known = level.polynomial->interval();
    if (known.upper == interval.upper) return;
    level.polynomial->replace_interval(interval);
    return place_numbers(level, degree);
  }
  if (!is_joined) make_polynomial(level, degree, sweeps);
}

template <class S>
void Hierarchy<S>::make_polynomial(Level& level, int degree, int sweeps) {
  level.polynomial = std::make_shared<Chebyshev<S>>(
      *level.product, level.jacobi, ChebyshevOptions{.degree = degree, .interval = level.interval});
  place_numbers(level, degree);
  level.before = level.after = repeated(level, level.polynomial, sweeps);
}

template <class S>
void Hierarchy<S>::smooth_by_norms(Level& level) {
  l1_diagonal(level.matrix, level.norms, host_.stream());
  if (!level.by_norms) {
    const auto basis = level.product->row_basis();
    level.norm_inverses = level.norms;
    level.by_norms = make_operator(level.norms.pattern.view(level.matrix.rows()), level.entry.table,
                                   basis, basis);
    level.before = level.after =
        repeated(level, std::make_shared<InverseOperator<S>>(level.by_norms), options_.degree);
  }
  invert_diagonal(level.norms, level.norm_inverses.values, scratch_, host_.stream());
  put_values(level.norm_inverses, level.entry, *level.by_norms);
}

/// False if there are too many colours.
template <class S>
bool Hierarchy<S>::smooth_by_colours(Level& level) {
  if (!level.before) {
    level.colours = colour_rows(level.matrix, max_colours);
    if (level.colours.count() == 0) return false;
    level.sweeps = std::make_shared<ColouredOperators<S>>(*level.product, level.jacobi,
                                                          level.colours.row, level.colours.begin);
    Plan plan = plan_;
    plan.layout.order = RowOrder::natural;
    plan.layout.sort_window = 1;
    plan.layout.basis = BasisUse::permuted;
    plan.layout.vector = VectorLayout::aos;
    const auto places = Basis::natural(level.matrix.rows());
    for (const TileMatrix& part : level.colours.of_colour) {
      level.sweeps->of_colour.push_back(std::make_shared<SlicedOperator<S>>(
          level.entry.table, part.pattern.view(part.columns), ComponentOrder::row_major, plan,
          matrix_.device(), Basis::natural(part.rows()), places));
    }
    const auto sweeps_of = [&](bool is_forward) {
      return std::make_shared<GaussSeidel<S>>(*level.product, level.sweeps, options_.degree,
                                              is_forward);
    };
    level.before = sweeps_of(true);
    level.after = sweeps_of(false);
  }
  if (level.colours.count() == 0) return false;
  scale_rows(level.matrix, level.inverses, level.colours, host_.stream());
  for (std::size_t k = 0; k < level.colours.of_colour.size(); ++k) {
    put_values(level.colours.of_colour[k], level.entry, *level.sweeps->of_colour[k]);
  }
  return true;
}

#define HEDDLE_MULTIGRID_SMOOTHERS(S)                                 \
  template void Hierarchy<S>::smooth(Level&, bool);                   \
  template void Hierarchy<S>::estimate_largest(Level&, bool);         \
  template std::shared_ptr<Preconditioner<S>> Hierarchy<S>::repeated( \
      const Level&, std::shared_ptr<Preconditioner<S>>, int) const;   \
  template void Hierarchy<S>::make_polynomial(Level&, int, int);      \
  template void Hierarchy<S>::smooth_by_polynomial(Level&, int, int); \
  template void Hierarchy<S>::smooth_by_norms(Level&);                \
  template bool Hierarchy<S>::smooth_by_colours(Level&);
HEDDLE_MULTIGRID_SMOOTHERS(float)
HEDDLE_MULTIGRID_SMOOTHERS(double)
#undef HEDDLE_MULTIGRID_SMOOTHERS

}  // namespace heddle::detail
