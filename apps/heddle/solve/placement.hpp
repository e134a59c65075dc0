// Where the matrix of a command is: in this process, or in rows that ranks share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/runtime/any_operator.hpp"
#include "heddle/tools/progress.hpp"
#include "profile_option.hpp"
#include "right_hand_side.hpp"
#include "run_facts.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

struct RightHandSideWanted {
  const std::string& rhs;    // like --rhs: a file, ones, or empty for random solutions
  std::optional<int> count;  // default: as many as in the file, or one
  std::uint64_t seed = 1;
  double shift = 0;
};

/// On ranks, `store`, `store_mass`, `tell`, `right_hand_side`, `whole`, `total` and `on_first` are
/// collective.
class Placement {
 public:
  virtual ~Placement() = default;

  /// Stores the matrix and calls `act`, which makes a solver of `matrix()`. If the plan of a
  /// profile turns out not to run, it does both again under another plan. `use`: the products that
  /// solvers make.
  virtual void store(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts,
                     const std::function<void()>& act) = 0;
  /// False if `act` is called only once and the matrix is not needed after that.
  virtual bool may_store_again() const = 0;
  /// Stores a mass matrix that acts on fields of the matrix; `act` may call it.
  virtual AnyLinearOperator store_mass(const AnyMatrix& mass) = 0;
  /// The stored matrix.
  const AnyLinearOperator& matrix() const { return *matrix_; }
  /// Bytes of the mass matrix, if they count as the solver's.
  virtual long long mass_memory() const = 0;
  /// Adds facts about the storage that are known only after the solve.
  virtual void tell(StorageFacts& facts) const = 0;

  /// Right-hand sides from a file, ones, or (A + shift I) x* with random x* of the seed and of
  /// those that follow it: the rows of this rank, and all rows of x*.
  RightHandSide right_hand_side(const RightHandSideWanted& wanted) const;
  /// The rows of this rank of each guess.
  std::vector<AnyField> read_guess(const std::string& path, int count) const;
  /// All rows of a field.
  virtual AnyField whole(AnyField part) const = 0;
  /// The sum over all ranks.
  virtual long long total(long long own) const = 0;

  /// True for the first rank, which shows progress and reports.
  virtual bool is_first() const = 0;
  /// Null if nothing is to be drawn.
  virtual TerminalProgress* progress() const = 0;
  /// Runs `report` on the first rank. An error in it is thrown on all ranks.
  virtual void on_first(const std::function<void()>& report) const = 0;

 protected:
  /// Sizes of all rows of b, or of x.
  virtual FieldsWanted rows_of_all(bool are_of_columns) const = 0;
  /// This rank's rows of a field that has all rows; none if the rank itself has all of them.
  virtual std::optional<AnyField> part_of(const AnyField& all) const = 0;
  /// The device whose threads make fields.
  virtual const Device& device() const = 0;

  std::optional<AnyLinearOperator> matrix_;

 private:
  /// Reduces fields of all rows to the rows of this rank.
  void keep_own(std::vector<AnyField>& fields) const;
};

/// A matrix without ranks, stored as a tree or under a plan.
class OneProcess : public Placement {
 public:
  /// `predict` returns a plan without any profile. The arguments must outlive this.
  OneProcess(const StorageOption& storage, const ProfileOption& profile, const Device& device,
             TerminalProgress* progress, std::function<PlanChoice()> predict)
      : storage_(storage),
        profile_(profile),
        device_(device),
        progress_(progress),
        predict_(std::move(predict)) {}

  void store(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts,
             const std::function<void()>& act) override;
  bool may_store_again() const override { return !storage_.is_hierarchical(); }
  AnyLinearOperator store_mass(const AnyMatrix& mass) override;
  long long mass_memory() const override;
  void tell(StorageFacts& facts) const override;

  AnyField whole(AnyField part) const override { return part; }
  long long total(long long own) const override { return own; }

  bool is_first() const override { return true; }
  TerminalProgress* progress() const override { return progress_; }
  void on_first(const std::function<void()>& report) const override { report(); }

 protected:
  FieldsWanted rows_of_all(bool are_of_columns) const override;
  std::optional<AnyField> part_of(const AnyField&) const override { return std::nullopt; }
  const Device& device() const override { return device_; }

 private:
  void store_tree(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts);

  const StorageOption& storage_;
  const ProfileOption& profile_;
  const Device& device_;
  TerminalProgress* progress_;
  std::function<PlanChoice()> predict_;
  NodeChoice nodes_;
  std::function<HierarchicalMemory()> tree_memory_, mass_tree_memory_;  // empty if not a tree
  long long mass_memory_ = 0;                                           // in sliced storage
};

}  // namespace heddle::cli
