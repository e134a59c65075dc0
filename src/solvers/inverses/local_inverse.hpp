// The dense systems that an approximate inverse is made of, and their results, on the host.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/detail/sliced_operator.hpp"
#include "row_groups.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "solvers/tiles/local_systems.hpp"
#include "solvers/tiles/user_rows.hpp"

namespace heddle::detail {

/// Factorized: G* G of a Hermitian positive definite matrix. General: rows of the inverse of any
/// matrix. Blocks: the inverse of each diagonal block of consecutive rows.
enum class InverseForm { factorized, general, blocks };

/// The first row of each kind; the number of rows if there is none.
struct FailedRows {
  Index singular, too_large, without_entry;
};

template <class S>
class LocalInverse {
 public:
  using D = sum_t<S>;

  /// `number`: the power whose pattern the inverse has; for blocks, their entries per side, 0 for
  /// natural groups. `entry` is the matrix's, `stored` that of the inverse. `computes`: false if a
  /// GPU does. Throws `Error` for entries, powers and blocks that are not supported.
  LocalInverse(const EntryTable<S>& entry, EntryTableHandle<S> stored, InverseForm form, int number,
               const Device& host, bool computes = true);

  /// From then on the matrix has rows of other ranks too.
  void choose_rows(RowsOfRank rows) { of_rank_ = std::move(rows); }
  long long row_of_all(Index row) const { return of_rank_.row_of_all(row); }

  const char* name() const {
    if (form_ == InverseForm::blocks) return "block Jacobi";
    return form_ == InverseForm::factorized ? "FSAI" : "ISAI";
  }
  const EntryTiles& tiles() const { return tiles_; }
  const EntryTableHandle<S>& entry() const { return entry_; }
  Stream stream() const { return host_.stream(); }
  int number() const { return number_; }
  Index max_rows_of_block() const;

  /// The pattern of G, or of the inverse: that of a power, or blocks. Throws `Error` if it does not
  /// fit in memory or takes too long. `first_without_diagonal`: the number of rows if all have a
  /// diagonal entry.
  Index first_without_diagonal(const UserRows& rows) const;
  [[noreturn]] void refuse_without_diagonal(Index row) const;
  void make_powers(const UserRows& rows);
  void make_blocks(GroupStarts groups);
  const UserRows& pattern() const { return pattern_; }
  const GroupStarts& groups() const { return groups_; }
  /// A block is as symmetric as half of the matrix's digits say.
  static double mirror_tolerance() { return std::sqrt(double(std::numeric_limits<S>::epsilon())); }
  /// The pattern of G*, in whose order `second_values` are.
  UserRows make_adjoint_pattern();
  std::span<const Offset> place_in_second() const { return place_in_second_.span(); }
  /// Throws `Error` (memory) unless operators of the pattern and `entries` of the matrix fit.
  void check_memory(Offset entries) const;

  /// Computes the values for a matrix given by its rows and the components of their entries.
  FailedRows compute(const UserRows& rows, std::span<const D> values);
  /// Throws `Error` for the first row of each kind, of n rows.
  void check_rows(const FailedRows& failed, Index n) const;
  std::span<const std::byte> first_values() const { return first_values_.span(); }
  std::span<const std::byte> second_values() const { return second_values_.span(); }
  /// Forgets the values until they are computed again.
  void forget_values();
  void forget_patterns();

 private:
  struct Matrix {
    const UserRows& rows;
    std::span<const D> values;
  };
  /// Workspace of a thread.
  struct Scratch {
    std::vector<D> matrix, result, numbers;
    std::vector<Index> order;
  };
  enum class RowOutcome { done, no_entry, too_large };

  void check(const EntryTable<S>& entry) const;
  long long bytes_of_entry() const;
  void check_memory(Offset entries, Index longest, Offset entries_of_matrix) const;
  void gather(const Matrix& matrix, std::span<const Index> wanted, Scratch& scratch) const;
  bool solve_rows(const Matrix& matrix, Index first, Index end, std::span<const Index> wanted,
                  Scratch& scratch) const;
  RowOutcome store(Index row, const D* result);
  [[noreturn]] void refuse_singular(Index row) const;
  int team(Offset entries) const;
  /// Number of units with one dense system each: rows, or groups.
  Index units() const {
    return form_ == InverseForm::blocks ? static_cast<Index>(groups_.size()) - 1 : pattern_.rows();
  }
  std::string row_text(Index row) const {
    return "row " + std::to_string(row_of_all(row)) + " (counted from 0)";
  }

  InverseForm form_;
  int number_;
  Device host_;
  bool computes_;
  EntryTiles tiles_;
  LocalSolver<D> solve_ = nullptr;
  EntryTableHandle<S> entry_;
  RowsOfRank of_rank_;
  GroupStarts groups_;
  UserRows pattern_;
  std::vector<Scratch> scratch_;
  Array<std::byte> first_values_, second_values_;
  Array<Offset> place_in_second_;
};

extern template class LocalInverse<float>;
extern template class LocalInverse<double>;
extern template class LocalInverse<long double>;

}  // namespace heddle::detail
