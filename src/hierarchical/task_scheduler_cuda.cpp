#include "heddle/detail/trees/task_scheduler_cuda.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "base/device_value.hpp"
#include "heddle/detail/trees/task_counts.hpp"
#include "heddle/detail/trees/task_team.hpp"
#include "heddle/error.hpp"
#include "spmv/kernel_library_cuda.hpp"
#include "tree_program.hpp"

namespace heddle::cuda {

struct SchedulerMemory {
  SchedulerMemory(const Device& device, bool is_waited_for) : state(1, device) {
    if (!is_waited_for) failure.emplace(device.stream());
  }

  Array<device::SchedulerState> state;
  std::optional<Mapped<int>> failure;
};

namespace {

/// A share of the pending launches that the device's runtime keeps room for, which all schedulers
/// of a GPU have together.
unsigned max_launches(const Stream& stream) {
  const OnGpu here(stream);
  std::size_t limit = 0;
  check(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
  return std::max<unsigned>(task_kinds, static_cast<unsigned>(limit / 8));
}

[[noreturn]] void refuse(int failure) {
  throw Error(ErrorKind::internal, std::string("a kernel could not launch another: ") +
                                       cudaGetErrorString(static_cast<cudaError_t>(failure)));
}

}  // namespace

TaskScheduler::TaskScheduler(const EntryText& operation, std::size_t operation_bytes, Trees trees,
                             const Device& device, bool is_waited_for)
    : device_(device), memory_(std::make_unique<SchedulerMemory>(device_, is_waited_for)) {
  if (operation.type.empty()) {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
  set_trees(std::move(trees));
  const Stream stream = device_.stream();
  const auto processors = static_cast<unsigned>(multiprocessors(stream));
  preparing_blocks_ = 2 * processors;
  limits_ = {.batch = 4 * processors, .launches = max_launches(stream), .patience = 2'000'000};
  control_ =
      load_kernel(scheduler_source(operation, operation_bytes), "heddle_control_tasks", stream);
}

TaskScheduler::~TaskScheduler() = default;

void TaskScheduler::set_trees(Trees trees) {
  std::vector<unsigned long long> addresses;
  for (const auto& tree : trees) {
    addresses.insert(addresses.end(), tree->addresses().begin(), tree->addresses().end());
  }
  for (const unsigned long long pool : addresses) {
    if (pool >= NodeTask::max_address >> 1) {
      throw Error(ErrorKind::unsupported, "schedule=tree needs addresses below 2^51");
    }
  }
  detail::TaskNodes nodes{{}, {}, trees.front()->matrix().tree().leaf.positions()};
  for (const auto& tree : trees) nodes.add(tree->matrix().tree().memory);
  const auto tasks = detail::max_tasks(nodes);
  const auto words = static_cast<long long>(trees.size());
  constexpr long long max_queue = std::numeric_limits<Index>::max();
  std::array<Array<NodeTask>, task_kinds> larger;
  for (std::size_t kind = 0; kind < tasks.size(); ++kind) {
    if (words * tasks[kind] <= static_cast<long long>(queues_[kind].size())) continue;
    if (tasks[kind] > max_queue) {
      throw Error(ErrorKind::unsupported,
                  "schedule=tree takes fewer than 2^31 tasks of a kind; use larger nodes");
    }
    // An edited tree has a few nodes more.
    const long long room = tasks[kind] + (trees_.empty() ? 0 : tasks[kind] / 8 + 64);
    larger[kind] =
        Array<NodeTask>(static_cast<std::size_t>(words * std::min(room, max_queue)), device_);
  }
  Array<unsigned long long> pools(addresses, device_);
  for (std::size_t kind = 0; kind < tasks.size(); ++kind) {
    if (!larger[kind].empty()) queues_[kind] = std::move(larger[kind]);
  }
  pools_ = std::move(pools);
  root_.clear();
  for (const auto& tree : trees) {
    root_.push_back(detail::root_task(tree->matrix().tree(), tree->addresses()));
  }
  if (std::ranges::none_of(root_, PairTask::has_node)) root_.assign(trees.size(), NodeTask{});
  trees_ = std::move(trees);
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
  const int failure = **memory_->failure;
  if (failure == 0) return;
  device_.synchronize();
  for (auto& queue : queues_) {
    detail::fill_bytes(queue.data(), 0, queue.size() * sizeof(NodeTask), device_.stream());
  }
  detail::fill_bytes(memory_->state.data(), 0, sizeof(device::SchedulerState), device_.stream());
  device_.synchronize();
  **memory_->failure = 0;
  refuse(failure);
}

void TaskScheduler::queue(const void* operation, const Stream& stream) const {
  const OnGpu here(stream);
  device::SchedulerArguments<NodeTask> arguments{};  // with the addresses of tasks of any length
  for (std::size_t kind = 0; kind < queues_.size(); ++kind) {
    arguments.queues[kind] = queues_[kind].data();
  }
  auto* const state = memory_->state.data();
  arguments.state = state;
  arguments.failure = memory_->failure ? memory_->failure->get() : &state->failure;
  arguments.limits = limits_;
  void* pointers[] = {&arguments, const_cast<void*>(operation),
                      const_cast<NodeTask*>(root_.data())};
  cuda::launch(static_cast<cudaKernel_t>(control_),
               {.blocks = preparing_blocks_ + 1, .threads = 256}, stream, pointers);
}

void TaskScheduler::launch(const void* operation, const Stream& stream) const {
  check_last();
  queue(operation, stream);
}

void TaskScheduler::run(const void* operation) const {
  queue(operation, device_.stream());
  const int failure = read_value(&memory_->state.data()->failure, device_);
  if (failure != 0) refuse(failure);
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
