// The operators of a multigrid's levels on the device, under plans of their own.
#pragma once

#include <cstddef>
#include <memory>

#include "level.hpp"

namespace heddle::detail {

/// The plan for a part of the hierarchy on a GPU, by the number and length of its rows, for which
/// A's plan would leave most multiprocessors idle. Layout of vectors and order of entries are A's.
/// On an H200, P* to a coarsest level of 14 rows took 0.24 ms with two threads per row.
Plan plan_of_rows(Index rows, Offset entries, const Plan& of_matrix);

template <class S>
class LevelOperators {
 public:
  /// For the levels of this matrix with so many candidates. `scratch` must outlive it. Throws like
  /// `level_entries`.
  LevelOperators(const SlicedOperator<S>& matrix, std::size_t candidates, const Device& host,
                 SetupScratch& scratch);

  const Device& device() const { return device_; }
  const Plan& plan() const { return plan_; }
  const LevelEntries<S>& entries() const { return entries_; }
  /// The entry of P to this level.
  const LevelEntry<S>& entry_of_p(const Level<S>& level) const {
    return level.number == 0 ? entries_.between : entries_.coarse;
  }
  /// Makes P, P* and the coarse matrix, without values; their patterns may lie on the GPU.
  void make(Level<S>& level, Level<S>& coarse, const PatternView& prolongation,
            const PatternView& restriction, const PatternView& matrix) const;
  /// A matrix between fields of the level, without values.
  std::shared_ptr<SlicedOperator<S>> make_square(const Level<S>& level,
                                                 const TileMatrix& tiles) const;
  void put_values(const TileMatrix& from, const LevelEntry<S>& entry, SlicedOperator<S>& to) const;

 private:
  std::shared_ptr<SlicedOperator<S>> make_operator(const PatternView& rows,
                                                   const EntryTableHandle<S>& entry,
                                                   std::shared_ptr<const Basis> row_basis,
                                                   std::shared_ptr<const Basis> column_basis) const;

  Device device_, host_;
  Plan plan_;
  LevelEntries<S> entries_;
  SetupScratch& scratch_;
};

}  // namespace heddle::detail
