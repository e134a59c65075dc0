#include <utility>

#include "hierarchical/tree_schedule_cuda.hpp"

namespace heddle::cuda {

TreeOnGpu::TreeOnGpu(std::shared_ptr<const detail::ScheduledTree> matrix, const Device& device)
    : matrix_(std::move(matrix)), device_(device) {
  for (const detail::PoolShare& share : matrix_->tree().pools) {
    pools_.push_back(share.pool ? share.pool->on(device) : nullptr);
    addresses_.push_back(share.pool ? reinterpret_cast<unsigned long long>(pools_.back()->data())
                                    : 0ULL);
  }
}

TreeOnGpu::~TreeOnGpu() = default;

const TreeSchedule& TreeOnGpu::schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  auto& made = schedules_[by_columns ? 1 : 0];
  if (!made) {
    made = std::make_shared<const TreeSchedule>(
        schedule_on_gpu(matrix_->tree(), addresses_, by_columns, device_));
    device_.synchronize();  // so that other streams find it there too
  }
  return *made;
}

long long TreeOnGpu::bytes_of_schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  const auto& made = schedules_[by_columns ? 1 : 0];
  return made ? made->bytes() : 0;
}

}  // namespace heddle::cuda
