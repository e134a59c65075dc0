// The set-up of approximate inverses, and the operators that apply them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "entry_tiles.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "local_systems.hpp"
#include "operator_field.hpp"
#include "row_groups.hpp"
#include "user_rows.hpp"

namespace heddle::cuda {
class LocalInverse;
}

namespace heddle::detail {

/// Factorized: G* G of a Hermitian positive definite matrix. General: a row of the inverse of any.
/// Blocks: the inverse of each diagonal block of consecutive rows.
enum class InverseForm { factorized, general, blocks };

template <class S>
class InverseParts {
 public:
  /// `number`: the power whose pattern the inverse has; of blocks, their entries a side, 0 for
  /// natural groups.
  InverseParts(const SlicedOperator<S>& matrix, InverseForm form, int number);

  const SlicedOperator<S>& matrix() const { return matrix_; }
  /// G, or the inverse.
  const SlicedOperator<S>& first() const { return *first_; }
  /// G*; only of a factorized one.
  const SlicedOperator<S>& second() const { return *second_; }
  const char* name() const {
    if (form_ == InverseForm::blocks) return "block Jacobi";
    return form_ == InverseForm::factorized ? "FSAI" : "ISAI";
  }
  /// Their values, in the order of their rows; on the CPU.
  std::span<const std::byte> first_values() const { return first_values_.span(); }
  std::span<const std::byte> second_values() const { return second_values_.span(); }
  /// Only of blocks.
  const GroupStarts& groups() const { return groups_; }

  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) const;
  void refresh() {
    if (generation_ != matrix_.generation()) compute();
  }
  long long bytes_of_application() const;

  /// Whether a GPU computes the values, which `queue_refresh` then does in stream order.
  bool is_computed_on_gpu() const { return on_gpu_ != nullptr; }
  void queue_refresh(Index* singular_row, const Stream& stream);

 private:
  using D = sum_t<S>;

  /// Of a thread.
  struct Scratch {
    std::vector<D> matrix, result, numbers;
    std::vector<Index> order;
  };
  enum class RowOutcome { done, no_entry, too_large };

  void check() const;
  long long bytes_of_entry() const;
  void check_room(Offset entries, Index longest) const;
  void make_entry();
  void make_pattern(int power);
  void make_groups(int size);
  void make_operators();
  void compute();
  void compute_on_host();
  /// Blocks of groups are the host's work.
  bool computes_on_gpu() const {
    return form_ != InverseForm::blocks && matrix_.product_on_gpu() != nullptr;
  }
  bool make_on_gpu();
  /// Throws `Error` for the first row of each kind; the number of rows where there is none.
  void check_rows(Index singular, Index too_large, Index without_entry) const;
  void gather(Index row, Scratch& scratch) const;
  bool solve_rows(Index first, Index end, Scratch& scratch);
  RowOutcome store(Index row, const D* result);
  [[noreturn]] void refuse_singular(Index row) const;
  int team(Offset entries) const;
  /// What has one dense system: a row, or a group.
  Index units() const {
    return form_ == InverseForm::blocks ? static_cast<Index>(groups_.size()) - 1 : pattern_.rows();
  }
  std::string row_text(Index row) const {
    return "row " + std::to_string(row) + " (counted from 0)";
  }

  SlicedOperator<S> matrix_;
  InverseForm form_;
  Device host_;
  EntryTiles tiles_;
  LocalSolver<D> solve_ = nullptr;
  StoredRows rows_;  // of the matrix
  Array<D> values_;  // its components
  GroupStarts groups_;
  UserRows pattern_;  // of G, or of the inverse
  std::vector<Scratch> scratch_;
  EntryTableHandle<S> entry_;  // of the operators
  std::shared_ptr<SlicedOperator<S>> first_, second_;
  Array<std::byte> first_values_, second_values_;
  Array<Offset> place_in_second_;
  std::shared_ptr<OperatorField<S>> between_;   // G r
  std::shared_ptr<cuda::LocalInverse> on_gpu_;  // the host's arrays above are then empty
  long long generation_ = -1;
};

extern template class InverseParts<float>;
extern template class InverseParts<double>;
extern template class InverseParts<long double>;

}  // namespace heddle::detail
