#include "on_rank.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace heddle::cli {

void OnRank::store(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts,
                   const std::function<void()>& act) {
  plan_ = facts.choice.plan;
  rows_.emplace(ranks_, partition_, matrix, has_all_rows_, plan_, options_, device_,
                use == TreeUse::both);
  matrix_.emplace(rows_->matrix());
  act();
}

AnyLinearOperator OnRank::store_mass(const AnyMatrix& mass) {
  mass_.emplace(ranks_, partition_, mass, has_all_rows_, plan_, options_, device_);
  return rows_->in_own_basis(*mass_);
}

/// The argument is unused: ranks share only square matrices.
FieldsWanted OnRank::rows_of_all(bool) const {
  return {rows_->matrix().entry(), rows_->matrix().precision(),
          static_cast<Index>(partition_.rows())};
}

long long OnRank::total(long long own) const {
  const std::vector<long long> all = gather(ranks_, own);
  return std::accumulate(all.begin(), all.end(), 0LL);
}

void OnRank::on_first(const std::function<void()>& report) const {
  together(ranks_, [&] {
    if (is_first()) report();
  });
}

int run_on_threads(const RankOptions& options, const std::vector<Device>& devices, int count,
                   const std::function<int(Communicator&, const Device&)>& rank) {
  const Device& of_all = devices.front();
  const Device part_of_cpu = Device::cpu(std::max(1, of_all.threads() / count));
  std::atomic<int> status = 0;
  run_on_ranks(count, [&](Communicator& ranks) {
    const Device& device =
        of_all.on_gpu() ? devices[static_cast<std::size_t>(ranks.rank())] : part_of_cpu;
    const auto linked = options.linked(ranks, device);
    const int own = rank(linked ? *linked : ranks, device);
    if (ranks.rank() == 0) status = own;
  });
  return status;
}

}  // namespace heddle::cli
