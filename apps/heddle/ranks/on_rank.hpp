// A rank's place in a solve whose rows ranks share, and threads that act as ranks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/communicator.hpp"
#include "matrix_of_rank.hpp"
#include "solve/placement.hpp"

namespace heddle::cli {

class OnRank : public Placement {
 public:
  /// All arguments must outlive this. `has_all_rows`: the matrices that it stores have all rows;
  /// otherwise only the rank's, in its order. `progress` is that of rank 0 and may be null.
  OnRank(Communicator& ranks, const Partition& partition, const RankOptions& options,
         const Device& device, bool has_all_rows, std::unique_ptr<TerminalProgress> progress)
      : ranks_(ranks),
        partition_(partition),
        options_(options),
        device_(device),
        has_all_rows_(has_all_rows),
        progress_(is_first() ? std::move(progress) : nullptr) {}

  void store(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts,
             const std::function<void()>& act) override;
  bool may_store_again() const override { return false; }
  AnyLinearOperator store_mass(const AnyMatrix& mass) override;
  long long mass_memory() const override { return 0; }
  void tell(StorageFacts& facts) const override { facts.ranks = rows_->summary(); }

  AnyField whole(AnyField part) const override { return rows_->gathered(part); }
  long long total(long long own) const override;

  bool is_first() const override { return ranks_.rank() == 0; }
  TerminalProgress* progress() const override { return progress_.get(); }
  void on_first(const std::function<void()>& report) const override;

 protected:
  FieldsWanted rows_of_all(bool are_of_columns) const override;
  std::optional<AnyField> part_of(const AnyField& all) const override {
    return rows_->part_of(all);
  }
  const Device& device() const override { return device_; }

 private:
  Communicator& ranks_;
  const Partition& partition_;
  const RankOptions& options_;
  const Device& device_;
  bool has_all_rows_;
  std::unique_ptr<TerminalProgress> progress_;
  Plan plan_;
  std::optional<MatrixOfRank> rows_, mass_;
};

/// Runs `rank` on `count` ranks that are threads of this process, each with its device: one of
/// `devices` if they are GPUs, else a share of the first one's threads. Returns the result of rank
/// 0.
int run_on_threads(const RankOptions& options, const std::vector<Device>& devices, int count,
                   const std::function<int(Communicator&, const Device&)>& rank);

}  // namespace heddle::cli
