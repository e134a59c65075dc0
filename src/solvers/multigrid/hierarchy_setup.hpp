// The set-up of a multigrid's levels: aggregates, tentative and smoothed prolongations, P* A P.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "aggregates.hpp"
#include "finest_matrix.hpp"
#include "level_operators.hpp"
#include "smoothers.hpp"

namespace heddle::detail {

/// The levels, computed by the host; a GPU shares the steps that have no numbers.
template <class S>
class HierarchySetup {
 public:
  /// Without levels. `candidates`: their number. Throws `Error` for options, or a matrix, that have
  /// no levels.
  HierarchySetup(FinestMatrix<S> finest, const MultigridOptions& options, std::size_t candidates);
  HierarchySetup(const HierarchySetup&) = delete;
  HierarchySetup& operator=(const HierarchySetup&) = delete;

  /// Computes all values, and the levels if given candidates of the finest one; else they stay.
  void compute(UnsetArray<double>* candidates);

  /// Adds the finest level without its pattern.
  void add_finest();
  /// Adds the next level, of `count` rows, and the matrices in between, without patterns.
  Level<S>& add_coarse(Level<S>& level, Index count);
  /// Aggregates by the strength, or by a weaker one, which the level gets; none if no coarser level
  /// is worth it.
  std::optional<Aggregates> aggregate_rows(
      Level<S>& level, double strength, const std::function<Aggregates(double)>& aggregate) const;
  /// Computes the inverse of a level.
  void solve(Level<S>& level);
  bool is_solved(const Level<S>& level) const;

  const MultigridOptions& options() const { return options_; }
  const Device& host() const { return host_; }
  FinestMatrix<S>& finest() { return finest_; }
  const FinestMatrix<S>& finest() const { return finest_; }
  const LevelOperators<S>& operators() const { return operators_; }
  Smoothers<S>& smoothers() { return smoothers_; }
  LevelList<S>& levels() { return levels_; }
  const LevelList<S>& levels() const { return levels_; }
  /// Bytes on the host next to those of the levels.
  long long bytes() const { return finest_.bytes() + scratch_.bytes(); }

 private:
  void make_values();
  void extend(Level<S>& level, UnsetArray<double>& candidates, double strength);
  void transfer(Level<S>& level, Level<S>& coarse);
  std::span<const double> scales_below(const Level<S>& level) const;

  MultigridOptions options_;
  FinestMatrix<S> finest_;
  Device host_;
  SetupScratch scratch_;
  LevelOperators<S> operators_;
  Smoothers<S> smoothers_;
  LevelList<S> levels_;
};

}  // namespace heddle::detail
