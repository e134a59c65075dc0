// The levels of a multigrid whose rows are shared by ranks: set up on rank 0, distributed by rows.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "distributed/rank_operator.hpp"
#include "distributed/whole_matrix.hpp"
#include "heddle/distributed_multigrid.hpp"
#include "heddle/polynomial.hpp"
#include "rank_colours.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace heddle::detail {

template <class S>
class RankHierarchy {
 public:
  /// `Make` makes the hierarchy of the whole matrix on rank 0, and reports the candidates' number.
  struct Made {
    std::unique_ptr<Hierarchy<S>> hierarchy;
    std::size_t candidates = 0;
  };
  using Make = std::function<Made(const SlicedOperator<S>& whole, const MultigridOptions& options)>;

  /// Collective.
  RankHierarchy(const DistributedOperator<S>& matrix, const MultigridOptions& options,
                const Make& make);

  /// Takes the new values of any rank, if there are any. Collective.
  void refresh();
  const DistributedOperator<S>& matrix() const { return matrix_; }
  const Preconditioner<S>& cycle() const { return *cycle_; }
  const MultigridReport& report() const { return report_; }

 private:
  /// The facts about a level that all ranks need.
  struct Outline {
    Index rows = 0;
    int is_solved = 0;
    int colours = 0;              // for Gauss-Seidel, 0 for another smoother
    double lower = 0, upper = 0;  // bounds of the smoother's interval
  };
  struct Level {
    std::unique_ptr<DistributedOperator<S>> own;  // null on the finest level
    const DistributedOperator<S>* matrix = nullptr;
    std::shared_ptr<Chebyshev<S>> polynomial;
    std::shared_ptr<RankOperator<S>> by_norms;  // for l1-Jacobi
    std::shared_ptr<RankColours<S>> colours;    // for Gauss-Seidel
    // Each is the adjoint of the other; null if the level is solved.
    std::shared_ptr<Preconditioner<S>> before, after;
    std::shared_ptr<RankOperator<S>> interpolate, restrict;  // between this level and the next
    std::shared_ptr<RankOperator<S>> inverse;
  };
  using WholeLevel = detail::Level<S>;

  bool is_root() const { return ranks_.rank() == 0; }
  void set_up(const Make& make);
  void tell();
  std::vector<Partition> make_partitions();
  std::vector<int> owners_below(const WholeLevel& level, const Partition& partition) const;
  void add_level(std::size_t number, const Partition& partition);
  void add_transfers(std::size_t number);
  std::shared_ptr<RankOperator<S>> make_transfer(const TileMatrix* whole,
                                                 const LevelEntry<S>& entry,
                                                 const DistributedOperator<S>& of_rows,
                                                 const DistributedOperator<S>& of_columns);
  std::shared_ptr<RankOperator<S>> square_on(const Level& level, const TileMatrix* tiles);
  void smooth(std::size_t number);
  void smooth_by_colours(std::size_t number);
  void make_cycle();
  void give_values();
  void count_bytes();

  const WholeLevel* whole_level(std::size_t number) const {
    return is_root() ? hierarchy_->levels()[number].get() : nullptr;
  }
  const LevelEntry<S>& entry_on(const Level& level) const {
    return level.own ? entries_.coarse : entries_.finest;
  }
  const LevelEntry<S>& entry_below(std::size_t number) const {
    return number == 0 ? entries_.between : entries_.coarse;
  }
  LevelEntry<S> entry_above(std::size_t number) const;
  /// The plan that `Hierarchy` uses for a matrix of rank 0. Collective.
  Plan plan_of(const TileMatrix* whole) const;
  /// This rank's rows of rank 0's matrix, or only their values. Collective.
  RankRows rows_of(const TileMatrix* whole, const Partition& partition) const;
  std::vector<std::byte> values_of(const TileMatrix* whole, const LevelEntry<S>& entry,
                                   const Partition& partition) const;

  const DistributedOperator<S>& matrix_;
  Communicator& ranks_;
  MultigridOptions options_;
  Device device_;  // for this rank alone
  Plan plan_;
  ExchangeMode mode_;
  LevelEntries<S> entries_;
  std::optional<WholeMatrix<S>> whole_;
  std::unique_ptr<Hierarchy<S>> hierarchy_;  // on rank 0

  std::size_t candidates_ = 0;
  std::vector<Outline> outlines_;
  std::vector<Level> levels_;
  std::shared_ptr<Preconditioner<S>> cycle_;
  MultigridReport report_;
};

}  // namespace heddle::detail
