#include "heddle/detail/trees/task_scheduler_cuda.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "base/device_value.hpp"
#include "heddle/error.hpp"
#include "hierarchical/tree_program.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

struct SchedulerMemory {
  explicit SchedulerMemory(const Device& device) : state(1, device), failure(device.stream()) {}

  Array<device::SchedulerState> state;
  Mapped<int> failure;
};

namespace {

/// Bounds on the tasks of each kind.
std::array<long long, task_kinds> tasks_of(const detail::Tree& tree) {
  const auto of = [](const NodeCounts& counts, NodeKind kind) {
    return counts.of_kind[static_cast<std::size_t>(kind)];
  };
  const auto parts = [](TaskKind kind, long long slots) {
    const long long of_task = task_shape(kind).slots;
    return (slots + of_task - 1) / of_task;
  };
  const long long places = tree.leaf.positions();
  const NodeCounts &inner = tree.memory.inner, &leaves = tree.memory.leaves;
  const long long dense = of(inner, NodeKind::dense), dense_leaves = of(leaves, NodeKind::dense);
  const long long sparse = inner.nodes() - dense;
  const long long coo4 = of(leaves, NodeKind::coo4);
  const int some = task_shape(TaskKind::some_entries).slots;
  return {sparse,
          std::min(sparse, inner.items / (task_shape(TaskKind::few_children).slots + 1)) +
              parts(TaskKind::many_children, inner.items),
          dense * parts(TaskKind::dense_children, places),
          leaves.nodes() - dense_leaves - coo4,
          coo4,
          std::min(coo4, leaves.items / (some + 1)) + parts(TaskKind::many_entries, leaves.items),
          dense_leaves * parts(TaskKind::dense_entries, places)};
}

/// A share of the pending launches that the device's runtime keeps room for, which all schedulers
/// of a GPU have together.
unsigned max_launches(const Stream& stream) {
  const OnGpu here(stream);
  std::size_t limit = 0;
  check(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
  return std::max<unsigned>(task_kinds, static_cast<unsigned>(limit / 8));
}

}  // namespace

TaskScheduler::TaskScheduler(const EntryText& entry, const std::string& type,
                             std::size_t operation_bytes, std::shared_ptr<const TreeOnGpu> matrix,
                             const Device& device)
    : device_(device), memory_(std::make_unique<SchedulerMemory>(device_)) {
  if (entry.type.empty()) {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
  set_tree(std::move(matrix));
  const Stream stream = device_.stream();
  const auto processors = static_cast<unsigned>(multiprocessors(stream));
  preparing_blocks_ = 2 * processors;
  limits_ = {.batch = 4 * processors, .launches = max_launches(stream), .patience = 2'000'000};
  control_ =
      load_kernel(scheduler_source(entry, type, operation_bytes), "heddle_control_tasks", stream);
}

TaskScheduler::~TaskScheduler() = default;

void TaskScheduler::set_tree(std::shared_ptr<const TreeOnGpu> matrix) {
  for (const unsigned long long pool : matrix->addresses()) {
    if (pool >= NodeTask::max_address >> 1) {
      throw Error(ErrorKind::unsupported, "schedule=tree needs addresses below 2^51");
    }
  }
  const auto tasks = tasks_of(matrix->matrix().tree());
  constexpr long long max_tasks = std::numeric_limits<Index>::max();
  std::array<Array<NodeTask>, task_kinds> larger;
  for (std::size_t kind = 0; kind < tasks.size(); ++kind) {
    if (tasks[kind] <= static_cast<long long>(queues_[kind].size())) continue;
    if (tasks[kind] > max_tasks) {
      throw Error(ErrorKind::unsupported,
                  "schedule=tree takes fewer than 2^31 tasks of a kind; use larger nodes");
    }
    // An edited tree has a few nodes more.
    const long long room = tasks[kind] + (matrix_ ? tasks[kind] / 8 + 64 : 0);
    larger[kind] = Array<NodeTask>(static_cast<std::size_t>(std::min(room, max_tasks)), device_);
  }
  Array<unsigned long long> pools(matrix->addresses(), device_);
  for (std::size_t kind = 0; kind < tasks.size(); ++kind) {
    if (larger[kind].size() > 0) queues_[kind] = std::move(larger[kind]);
  }
  pools_ = std::move(pools);
  matrix_ = std::move(matrix);
  device_.synchronize();  // a launch may be on another stream
}

long long TaskScheduler::bytes() const {
  auto bytes = static_cast<long long>(sizeof(device::SchedulerState) +
                                      pools_.size() * sizeof(unsigned long long));
  for (const auto& queue : queues_) {
    bytes += static_cast<long long>(queue.size() * sizeof(NodeTask));
  }
  return bytes;
}

void TaskScheduler::check_last() const {
  const int failure = *memory_->failure;
  if (failure == 0) return;
  device_.synchronize();
  for (auto& queue : queues_) {
    detail::fill_bytes(queue.data(), 0, queue.size() * sizeof(NodeTask), device_.stream());
  }
  detail::fill_bytes(memory_->state.data(), 0, sizeof(device::SchedulerState), device_.stream());
  device_.synchronize();
  *memory_->failure = 0;
  throw Error(ErrorKind::internal, std::string("a kernel could not launch another: ") +
                                       cudaGetErrorString(static_cast<cudaError_t>(failure)));
}

void TaskScheduler::launch(const void* operation, const Stream& stream) const {
  check_last();
  const detail::Tree& tree = matrix_->matrix().tree();
  const OnGpu here(stream);
  device::SchedulerArguments<NodeTask> arguments{};
  for (std::size_t kind = 0; kind < queues_.size(); ++kind) {
    arguments.queues[kind] = queues_[kind].data();
  }
  arguments.state = memory_->state.data();
  arguments.failure = memory_->failure.get();
  arguments.limits = limits_;
  NodeTask root{};
  if (tree.entries > 0) {
    const unsigned long long pool =
        matrix_->addresses()[static_cast<std::size_t>(tree.root.pool())];
    const int level = detail::levels_of(tree.rows, tree.columns, tree.leaf.log2_size) - 1;
    root = NodeTask::make(pool + static_cast<unsigned long long>(tree.root.byte()),
                          tree.root.kind(), level, 0, 0);
  }
  void* pointers[] = {&arguments, const_cast<void*>(operation), &root};
  cuda::launch(static_cast<cudaKernel_t>(control_),
               {.blocks = preparing_blocks_ + 1, .threads = 256}, stream, pointers);
}

SchedulerStatistics TaskScheduler::statistics(const Stream& stream) const {
  const OnGpu here(stream);
  check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  const device::SchedulerState state = read_value(memory_->state.data(), device_);
  SchedulerStatistics statistics;
  for (std::size_t kind = 0; kind < statistics.queues.size(); ++kind) {
    statistics.queues[kind] = {state.queues[kind].queued, state.queues[kind].launches};
  }
  statistics.controllers = state.controllers;
  statistics.rounds = state.rounds;
  return statistics;
}

}  // namespace heddle::cuda
