// Arguments of the kernels of a method's steps.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/chunks.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "heddle/kernels/rank_arguments.hpp"
#include "heddle/methods/listing.hpp"

namespace heddle::device {

/// Threads per block: twice those in chunks.hpp, since every block adds the sums of earlier kernels
/// for itself.
inline constexpr int threads_of_step = 2 * cuda::threads_of_block;
/// Number of blocks for which a multiprocessor has enough registers, at least, whatever the step.
inline constexpr int resident_blocks_of_step = 2;

struct StepArguments {
  cuda::Walk walk;
  LoopState* state;
  int side;                         // the one written last
  PartialSums before[max_sources];  // sums that the decision adds, in the listing's order
  SumsOfRanks ranks;                // where sums are joined with those of other ranks
  double* partials;                 // where the step leaves its own sums
  void* vector[methods::max_vectors];
};

/// Arguments of a kernel over several systems: blocks (., k) work on the k-th one.
template <class Arguments, int most>
struct OfSystems {
  Arguments of[most];
};

/// Where the blocks of one cooperative launch leave partial sums for one another.
struct Meeting {
  Packet* packets;            // `max_groups` per sum, one for each group of threads
  unsigned long long* round;  // round of the last meeting
};
inline constexpr int max_groups = 1024;

/// Arguments of two updates with a decision between them.
struct JoinedArguments {
  StepArguments step;
  Meeting meeting;
};

/// Arguments of an update and the preconditioner after it, see rows.cuh.
struct PreconditionedStepArguments {
  StepArguments step;
  const void* data;
  Index rows;
};

}  // namespace heddle::device
