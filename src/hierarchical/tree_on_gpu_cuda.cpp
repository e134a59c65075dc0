#include <cstring>
#include <utility>

#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

using device::TreeLeaf;

/// Leaves of a new schedule that lie together, in the old one too if `from` is not negative.
struct Run {
  Offset to;
  Offset from;
  Offset count;
};

/// A block of y that both schedules have alike is taken from the old one.
std::vector<Run> runs_of(const TreeSchedule& now, const TreeSchedule& old) {
  std::vector<Run> runs;
  const Array<Offset>&first = now.places->first, &old_first = old.places->first;
  for (std::size_t block = 0; block + 1 < first.size(); ++block) {
    const Offset to = first[block], count = first[block + 1] - to;
    if (count == 0) continue;
    const Offset there = old_first[block];
    const bool is_alike =
        old_first[block + 1] - there == count &&
        std::memcmp(now.on_host.leaves.data() + to, old.on_host.leaves.data() + there,
                    static_cast<std::size_t>(count) * sizeof(TreeLeaf)) == 0;
    const Offset from = is_alike ? there : -1;
    if (!runs.empty() &&
        (runs.back().from < 0 ? !is_alike
                              : is_alike && runs.back().from + runs.back().count == from)) {
      runs.back().count += count;
    } else {
      runs.push_back({to, from, count});
    }
  }
  return runs;
}

/// The leaves of a schedule in the GPU's memory, with those that an old one has from there.
void send_leaves(TreeSchedule& schedule, const TreeSchedule* old, const Device& device) {
  // More copies than this take longer than sending all of it.
  constexpr std::size_t most_runs = 512;
  const Array<TreeLeaf>& here = schedule.on_host.leaves;
  std::vector<Run> runs;
  if (old != nullptr) runs = runs_of(schedule, *old);
  if (old == nullptr || runs.size() > most_runs) {
    schedule.leaves = Array<TreeLeaf>(here.span(), device);
    schedule.sent += static_cast<long long>(here.size() * sizeof(TreeLeaf));
    return;
  }
  schedule.leaves = Array<TreeLeaf>(here.size(), device);
  for (const Run& run : runs) {
    const bool is_old = run.from >= 0;
    const auto bytes = static_cast<std::size_t>(run.count) * sizeof(TreeLeaf);
    detail::copy_bytes(schedule.leaves.data() + run.to,
                       is_old ? old->leaves.data() + run.from : here.data() + run.to, bytes,
                       device.stream());
    if (!is_old) schedule.sent += static_cast<long long>(bytes);
  }
}

}  // namespace

TreeOnGpu::TreeOnGpu(std::shared_ptr<const detail::ScheduledTree> matrix, const Device& device,
                     const TreeOnGpu* before)
    : matrix_(std::move(matrix)), device_(device) {
  for (const detail::PoolShare& share : matrix_->tree().pools) {
    pools_.push_back(share.pool ? share.pool->on(device) : nullptr);
    addresses_.push_back(share.pool ? reinterpret_cast<unsigned long long>(pools_.back()->data())
                                    : 0ULL);
  }
  if (before == nullptr) return;
  const std::lock_guard lock(before->making_);
  before_ = before->schedules_;
}

TreeOnGpu::~TreeOnGpu() = default;

const TreeSchedule& TreeOnGpu::schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  auto& made = schedules_[by_columns ? 1 : 0];
  if (made) return *made;
  const detail::Tree& tree = matrix_->tree();
  const detail::LeafSchedule& leaves = matrix_->schedule(by_columns);
  const auto schedule = std::make_shared<TreeSchedule>();
  schedule->places = leaves.places;
  schedule->on_host = tree_pieces(tree, leaves, addresses_, leaves.places->first.device());
  const auto& pieces = schedule->on_host.pieces;
  schedule->pieces = Array<device::TreePiece>(pieces.span(), device_);
  schedule->sent = static_cast<long long>(pieces.size() * sizeof(device::TreePiece));
  auto& before = before_[by_columns ? 1 : 0];
  send_leaves(*schedule, before.get(), device_);
  device_.synchronize();  // so that other streams find it there too
  before = nullptr;
  made = schedule;
  return *made;
}

std::shared_ptr<const TreeSchedule> TreeOnGpu::made_schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  return schedules_[by_columns ? 1 : 0];
}

long long TreeOnGpu::bytes_of_schedule(bool by_columns) const {
  const auto made = made_schedule(by_columns);
  return made ? made->bytes() : 0;
}

long long TreeOnGpu::bytes_on_host() const {
  // Beside those of a tree before, which their own matrix counts.
  return bytes_of_schedule(false) + bytes_of_schedule(true);
}

long long TreeOnGpu::sent_bytes() const {
  long long bytes = 0;
  for (const bool by_columns : {false, true}) {
    const auto made = made_schedule(by_columns);
    if (made) bytes += made->sent;
  }
  return bytes;
}

}  // namespace heddle::cuda
