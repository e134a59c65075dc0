// State of the scheduler of tree operations in a GPU's memory: plain structs that the host fills
// in.
#pragma once

namespace heddle::device {

inline constexpr int max_queues = 8;

/// Counters of one queue, in a cache line to themselves. `queued` counts the tasks that were put
/// there since the operation began; the controller has launched blocks for the first `launched`.
struct QueueCounters {
  unsigned queued;
  unsigned launched;
  unsigned launches;  // kernels
  unsigned unused[29];
};

/// `growing` counts the blocks, launched and not done, that may queue tasks; `prepared` those that
/// have prepared the operation, and is 0 between operations.
struct SchedulerState {
  QueueCounters queues[max_queues];
  unsigned growing;
  unsigned unused[31];
  unsigned prepared;
  unsigned failed;       // until the host has cleared the queues
  unsigned controllers;  // launches of the controller
  unsigned rounds;       // of its loop
  int failure;           // of an operation that the host waits for
};

/// When a controller launches, and when it stops.
struct SchedulerLimits {
  unsigned batch;      // blocks that the leaves of a queue fill before they are launched
  unsigned launches;   // kernels that may be pending at once
  long long patience;  // clock cycles without progress after which the controller gives way
};

template <class Task>
struct SchedulerArguments {
  Task* queues[max_queues];  // each with room for all its tasks
  SchedulerState* state;
  int* failure;  // an error of the device's runtime, in the host's memory or in the state
  SchedulerLimits limits;
  bool continues;  // launched by the controller before it
};

}  // namespace heddle::device
