// What the kernels of a method's steps are given.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/chunks.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "heddle/kernels/rank_arguments.hpp"
#include "heddle/methods/listing.hpp"

namespace heddle::device {

/// Threads of a block: as two of those in chunks.hpp, since every block adds the sums of the
/// kernels before for itself.
inline constexpr int threads_of_step = 2 * cuda::threads_of_block;
/// Blocks that a multiprocessor has the registers for, at least, whatever the step.
inline constexpr int resident_blocks_of_step = 2;

struct StepArguments {
  cuda::Walk walk;
  LoopState* state;
  int side;                          // that was written last
  PartialSums before[most_sources];  // that the decision adds, in the listing's order
  SumsOfRanks ranks;                 // where they are to be joined with those of other ranks
  double* partials;                  // where the step leaves its own
  void* vector[methods::most_vectors];
};

/// What a kernel over several systems is given: blocks (., k) work on the k-th one.
template <class Arguments, int most>
struct OfSystems {
  Arguments of[most];
};

/// Where the blocks of one cooperative launch leave partial sums for one another.
struct Meeting {
  Packet* packets;            // of each sum `most_groups`, one for each group of threads
  unsigned long long* round;  // of the last meeting
};
inline constexpr int most_groups = 1024;

/// Of two updates with a decision between them.
struct JoinedArguments {
  StepArguments step;
  Meeting meeting;
};

/// Of an update and the preconditioner behind it, see rows.cuh.
struct PreconditionedStepArguments {
  StepArguments step;
  const void* data;
  Index rows;
};

}  // namespace heddle::device
