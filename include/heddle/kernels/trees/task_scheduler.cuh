// Scheduling on the GPU itself (Derler et al. 2017, section 4.2). Tasks wait in queues by kind. A
// controller, one warp, watches them and launches kernels: for inner nodes as soon as some wait,
// for leaves if they fill enough blocks of threads or if no more will come. It ends when the queues
// are empty and no running block can fill them. So threads of a block have equal work, each kind
// has the registers that it needs, and the host never waits.
//
// A child need not begin while its parent runs. Blocks only ever wait for a task that a running
// block is writing, and a controller that sees no progress launches its successor after all kernels
// that it has launched, and ends.
#pragma once

#include "heddle/kernels/trees/pair_task.hpp"
#include "heddle/kernels/trees/scheduler_arguments.hpp"
#include "heddle/kernels/trees/tree_operation.hpp"

namespace heddle::device {

inline constexpr int scheduler_block = 256;
inline constexpr unsigned all_lanes = 0xffffffffu;
static_assert(task_kinds <= max_queues && task_kinds <= 32);

template <class T>
__device__ __forceinline__ T read_now(const T& from) {
  return *const_cast<const volatile T*>(&from);
}

/// `Lanes` of kernels/trees/tree_operation.hpp: adjacent threads of a block.
template <int lanes, int slots>
struct TaskLanes {
  static constexpr int count = lanes;
  static constexpr int of_warp = lanes < 32 ? lanes : 32;

  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % lanes; }
  __device__ __forceinline__ static int warp_lane() {
    return static_cast<int>(threadIdx.x) % of_warp;
  }
  /// The same for all, whose blocks meet in `BlockPush`.
  __device__ __forceinline__ static constexpr int turns(int) { return slots / lanes; }
  /// Those that join their sums.
  __device__ __forceinline__ static unsigned mask() {
    return (all_lanes >> (32 - of_warp)) << threadIdx.x % 32 / of_warp * of_warp;
  }
  template <class Task>
  __device__ __forceinline__ static SlotRange part(const Task& task, int of_node) {
    const int begin = task.part() * slots;
    return {begin, min(of_node, begin + slots)};
  }
  template <class T, int n>
  __device__ __forceinline__ static bool join(int key, T (&value)[n]) {
    const int before = __shfl_up_sync(mask(), key, 1, of_warp);
    const bool is_first = warp_lane() == 0 || before != key;
    const unsigned firsts = __ballot_sync(mask(), is_first) >> (threadIdx.x % 32 - warp_lane());
    if (firsts == all_lanes >> (32 - of_warp)) return true;
    // The lanes after this one that have its key.
    const unsigned after = firsts >> warp_lane() >> 1;
    const int same = after != 0 ? __ffs(after) - 1 : of_warp - 1 - warp_lane();
#pragma unroll
    for (int distance = 1; distance < of_warp; distance *= 2) {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const T more = __shfl_down_sync(mask(), value[k], distance, of_warp);
        if (distance <= same) value[k] += more;
      }
    }
    return is_first;
  }
  template <class T, int n>
  __device__ __forceinline__ static void sum(T (&value)[n]) {
#pragma unroll
    for (int distance = of_warp / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        value[k] += __shfl_xor_sync(mask(), value[k], distance);
      }
    }
  }
  template <class S, int n>
  __device__ __forceinline__ static void add(S* to, int row, const S (&value)[n]) {
    if constexpr (n > 1 && n <= 8 && of_warp % n == 0) {
      // Lanes exchange their components: an instruction adds to whole rows.
      const int own = warp_lane() % n;
#pragma unroll
      for (int from = 0; from < n; ++from) {
        const int of = __shfl_sync(mask(), row, warp_lane() - own + from, of_warp);
        S component = 0;
#pragma unroll
        for (int k = 0; k < n; ++k) {
          const S other = __shfl_sync(mask(), value[k], warp_lane() - own + from, of_warp);
          if (k == own) component = other;
        }
        if (of >= 0) atomicAdd(to + of * n + own, component);
      }
    } else {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        if (row >= 0) atomicAdd(to + row * n + k, value[k]);
      }
    }
  }
};

// A task is written and read in words of 128 bits, each of which is there or not, so that neither
// side needs a fence, which would empty the first cache.

__device__ __forceinline__ void write_task(NodeTask* to, const NodeTask& task) {
  const unsigned long long place =
      static_cast<unsigned long long>(static_cast<unsigned>(task.column)) << 32 |
      static_cast<unsigned>(task.row);
  asm volatile(
      "{ .reg .b128 task; mov.b128 task, {%1, %2}; st.relaxed.gpu.global.b128 [%0], task; }" ::"l"(
          to),
      "l"(task.bits), "l"(place)
      : "memory");
}
__device__ __forceinline__ NodeTask read_task(const NodeTask* from) {
  unsigned long long bits, place;
  asm volatile(
      "{ .reg .b128 task; ld.relaxed.gpu.global.b128 task, [%2]; mov.b128 {%0, %1}, task; }"
      : "=l"(bits), "=l"(place)
      : "l"(from)
      : "memory");
  return {bits, static_cast<Index>(place), static_cast<Index>(place >> 32)};
}
__device__ __forceinline__ void write_task(PairTask* to, const PairTask& task) {
  write_task(&to->a, task.a);
  write_task(&to->b, task.b);
}
__device__ __forceinline__ PairTask read_task(const PairTask* from) {
  return {read_task(&from->a), read_task(&from->b)};
}

/// Takes a task out of its queue; the block that put it there may still be writing it. All lanes of
/// a task read it before the first clears its place.
template <int lanes, class Task>
__device__ __forceinline__ Task take_task(Task* at) {
  Task task{};
  if (at != nullptr) {
    do {
      task = read_task(at);
    } while (!task.is_there());
  }
  if constexpr (lanes > 32) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  if (at != nullptr && threadIdx.x % lanes == 0) write_task(at, Task{});
  return task;
}

/// Room in the queues for the tasks of a block of threads.
struct QueuePlaces {
  unsigned count[task_kinds];
  unsigned first[task_kinds];
};

template <class Operation>
using ArgumentsOf = SchedulerArguments<typename Operation::Task>;

/// Puts the tasks of a block's threads into their queues, with one addition to a queue's counter
/// for all of them. All threads of the block call it.
template <class Operation>
struct BlockPush {
  using Task = typename Operation::Task;

  const ArgumentsOf<Operation>& scheduler;
  const Operation& operation;
  QueuePlaces& places;  // shared by the block

  __device__ __forceinline__ void operator()(const Task& task) const {
    int kind = 0, parts = 0;
    if (task.is_there()) {
      const TaskWork work = operation.work_of(task);
      const int slots = task_shape(work.kind).slots;
      kind = static_cast<int>(work.kind);
      parts = (work.slots + slots - 1) / slots;
    }
    if (threadIdx.x < task_kinds) places.count[threadIdx.x] = 0;
    __syncthreads();
    const unsigned own = parts > 0 ? atomicAdd(&places.count[kind], unsigned(parts)) : 0;
    __syncthreads();
    if (threadIdx.x < task_kinds && places.count[threadIdx.x] > 0) {
      places.first[threadIdx.x] =
          atomicAdd(&scheduler.state->queues[threadIdx.x].queued, places.count[threadIdx.x]);
    }
    __syncthreads();
    if (parts == 0) return;
    Task* const to = scheduler.queues[kind] + places.first[kind] + own;
    for (int part = 0; part < parts; ++part) write_task(to + part, task.with_part(part));
  }
};

/// Works on tasks [first, first + count) of a queue.
template <class Operation, int kind>
__global__ void __launch_bounds__(scheduler_block, Operation::blocks_of_multiprocessor)
    run_tasks(const __grid_constant__ ArgumentsOf<Operation> scheduler,
              const __grid_constant__ Operation operation, unsigned first, unsigned count) {
  constexpr TaskShape shape = task_shape(TaskKind(kind));
  using Lanes = TaskLanes<shape.lanes, shape.slots>;
  const unsigned own = blockIdx.x * (scheduler_block / shape.lanes) + threadIdx.x / shape.lanes;
  auto* const at = own < count ? scheduler.queues[kind] + first + own : nullptr;
  const auto task = take_task<shape.lanes>(at);
  if constexpr (is_leaf(TaskKind(kind))) {
    if (task.is_there()) operation.template leaf<TaskKind(kind)>(task, Lanes());
  } else {
    __shared__ QueuePlaces places;
    operation.expand(task, Lanes(), BlockPush<Operation>{scheduler, operation, places});
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicSub(&scheduler.state->growing, 1);
    }
  }
}

template <class Operation>
using TaskKernel = void (*)(ArgumentsOf<Operation>, Operation, unsigned first, unsigned count);

template <class Operation>
__device__ __forceinline__ TaskKernel<Operation> task_kernel(int kind) {
  switch (kind) {
    case 0:
      return run_tasks<Operation, 0>;
    case 1:
      return run_tasks<Operation, 1>;
    case 2:
      return run_tasks<Operation, 2>;
    case 3:
      return run_tasks<Operation, 3>;
    case 4:
      return run_tasks<Operation, 4>;
    case 5:
      return run_tasks<Operation, 5>;
    default:
      return run_tasks<Operation, 6>;
  }
}

/// Begins an operation: queues the root's children.
template <class Operation>
__device__ __forceinline__ void begin_tasks(const ArgumentsOf<Operation>& scheduler,
                                            const Operation& operation,
                                            const typename Operation::Task& root) {
  __shared__ QueuePlaces places;
  if (threadIdx.x < max_queues) scheduler.state->queues[threadIdx.x] = {};
  if (threadIdx.x == 0) {
    scheduler.state->growing = scheduler.state->controllers = scheduler.state->rounds = 0;
    __threadfence();
  }
  if (!root.is_there()) return;
  const BlockPush<Operation> push{scheduler, operation, places};
  constexpr int slots = task_shape(TaskKind::many_children).slots;
  const int parts = (operation.work_of(root).slots + slots - 1) / slots;
  // Some parts take no longer than the launch of a kernel.
  constexpr int few_parts = 4;
  if (root.level() == 0 || parts > few_parts) {
    typename Operation::Task first{};
    if (threadIdx.x == 0) first = operation.begin(root);
    push(first);
  } else {
    for (int part = 0; part < parts; ++part) {
      operation.expand(root.with_part(part), TaskLanes<scheduler_block, slots>(), push);
    }
  }
  __threadfence();
  __syncthreads();
}

template <class Operation>
__device__ __forceinline__ void refuse_all(const Operation& operation, unsigned first,
                                           unsigned step) {
  for (Offset i = first; i < operation.items(); i += step) operation.refuse(i);
}

/// Block 0 is the controller; the others prepare the operation. `give_way` launches a successor,
/// which is alone.
template <class Operation, class GiveWay>
__device__ __forceinline__ void control_tasks(const ArgumentsOf<Operation>& scheduler,
                                              const Operation& operation,
                                              const typename Operation::Task& root,
                                              const GiveWay& give_way) {
  if (blockIdx.x > 0) {
    const Offset step = Offset(gridDim.x - 1) * blockDim.x;
    for (Offset i = Offset(blockIdx.x - 1) * blockDim.x + threadIdx.x; i < operation.items();
         i += step) {
      operation.prepare(i);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&scheduler.state->prepared, 1);
    }
    return;
  }
  if (!scheduler.continues) {
    const bool failed = read_now(scheduler.state->failed) != 0;
    if (!failed) begin_tasks(scheduler, operation, root);
    if (threadIdx.x == 0) {
      while (read_now(scheduler.state->prepared) != gridDim.x - 1) {
      }
      scheduler.state->prepared = 0;
      __threadfence();
    }
    __syncthreads();
    // Tasks of the operation that failed are still in the queues.
    if (failed) return refuse_all(operation, threadIdx.x, blockDim.x);
  }
  if (threadIdx.x >= 32) return;
  SchedulerState& state = *scheduler.state;
  const int kind = static_cast<int>(threadIdx.x);
  const bool watches = kind < task_kinds;
  QueueCounters& queue = state.queues[watches ? kind : 0];
  const bool grows = watches && !is_leaf(TaskKind(kind));
  const TaskKernel<Operation> kernel = task_kernel<Operation>(kind);
  const unsigned per_block = scheduler_block / task_shape(TaskKind(watches ? kind : 0)).lanes;
  unsigned launched = watches ? queue.launched : 0, launches = 0, pending = 0, rounds = 0, last = 0;
  long long since = clock64();
  cudaError_t failure = cudaSuccess;
  bool gives_way = false;
  for (;;) {
    ++rounds;
    // Blocks that are done have queued their children: read in this order, nothing is missed.
    __syncwarp();
    const unsigned growing = __shfl_sync(all_lanes, read_now(state.growing), 0);
    __syncwarp();
    __threadfence();
    const unsigned queued = watches ? read_now(queue.queued) : 0;
    const unsigned waiting = queued - launched;
    const unsigned blocks = (waiting + per_block - 1) / per_block;
    const bool wants = waiting > 0 && (grows || growing == 0 || blocks >= scheduler.limits.batch);
    const unsigned wanting = __ballot_sync(all_lanes, wants);
    if (growing == 0 && wanting == 0) break;
    pending += __popc(wanting);
    gives_way = pending > scheduler.limits.launches;
    if (gives_way) break;
    if (wants) {
      if (grows) atomicAdd(&state.growing, blocks);
      // Lanes that launch together take as long as one: the kernel is an operand, not a branch.
      kernel<<<blocks, scheduler_block, 0, cudaStreamFireAndForget>>>(scheduler, operation,
                                                                      launched, waiting);
      failure = cudaGetLastError();
      launched = queued;
      ++launches;
    }
    if (__any_sync(all_lanes, failure != cudaSuccess)) break;
    const unsigned progress = __reduce_add_sync(all_lanes, queued) + growing;
    if (wanting != 0 || progress != last) {
      last = progress;
      since = clock64();
    }
    gives_way = __any_sync(all_lanes, clock64() - since > scheduler.limits.patience);
    if (gives_way) break;
  }
  if (watches) {
    queue.launched = launched;
    queue.launches += launches;
  }
  __syncwarp();
  if (gives_way && kind == 0) failure = give_way();
  if (kind == 0) {
    state.controllers += 1;
    state.rounds += rounds;
  }
  const unsigned failed = __ballot_sync(all_lanes, failure != cudaSuccess);
  if (failed == 0) return;
  refuse_all(operation, threadIdx.x, 32);
  if (failure != cudaSuccess) {
    state.failed = 1;
    *scheduler.failure = static_cast<int>(failure);
  }
}

}  // namespace heddle::device
