// The shapes of the kernels of a method's steps.
#pragma once

#include <algorithm>

#include "fields/chunks.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/row_arguments.hpp"
#include "heddle/kernels/step_arguments.hpp"
#include "heddle/linear_operator.hpp"
#include "queued_product_cuda.hpp"
#include "step_places_cuda.hpp"
#include "step_program.hpp"

namespace heddle::cuda {

/// Steps that take many registers fill a GPU with half as many threads.
inline Offset filling_of(const detail::MethodProgram& program) {
  constexpr int many = 6;
  return program.vectors - (program.preconditioned ? 1 : 0) >= many ? chunks_to_fill / 2
                                                                    : chunks_to_fill;
}

/// Maximum number of chunks that a thread takes. All blocks are resident at once if that takes few
/// chunks per thread: a second wave would add the sums of the kernel before once more.
inline constexpr int max_steps_of_walk = 16;

/// Number of a walk's blocks that one block of a kernel takes.
inline constexpr unsigned blocks_of_step = device::threads_of_step / threads_of_block;

/// True if ranks share the rows: sums are then those of groups of 256 rows, which the ranks join.
template <class S>
bool has_ranks(const LinearOperator<S>& matrix) {
  return matrix.device().stream().share != nullptr;
}

/// Number of blocks of kernels with a thread for each row; not 0, since a rank without rows decides
/// too.
inline unsigned blocks_over_rows(Index rows) {
  return device::blocks_of_rows(std::max<Index>(1, rows));
}

/// Maximum number of blocks for a product's sums over groups of rows: each then takes several
/// groups.
inline constexpr unsigned max_blocks_over_groups =
    static_cast<unsigned>(chunks_to_fill / device::threads_of_step);

/// The shape of kernels over a field, whose layout is the one that `GroupedChunk` needs if its
/// partial sums are to be those of groups of rows.
template <class S>
struct StepShape {
  StepShape(const detail::MethodProgram& program, const FieldView<S>& field,
            bool over_groups = false)
      : by_groups(over_groups) {
    const Offset filling = filling_of(program);
    const auto over = [&]<Ring R>() {
      is_contiguous = cuda::is_contiguous<R>(field);
      walk =
          by_groups ? walk_over_groups<R>(field) : walk_over<R>(field, max_steps_of_walk, filling);
    };
    if (program.ring == Ring::real) over.template operator()<Ring::real>();
    if (program.ring == Ring::complex) over.template operator()<Ring::complex>();
    if (program.ring == Ring::quaternion) over.template operator()<Ring::quaternion>();
    blocks = (walk.blocks() + blocks_of_step - 1) / blocks_of_step;
  }
  unsigned partials() const { return blocks * device::partials_of_block(device::threads_of_step); }

  Walk walk;
  bool by_groups = false;
  bool is_contiguous = true;
  unsigned blocks = 1;
};

/// Two updates in one launch whose blocks are all resident at once.
struct JoinedUpdates {
  int first = 0, second = 0;  // steps of the iteration
  int chunks_of_thread = 0;   // 0: no such launch
  Walk walk;
  unsigned blocks = 0;
};

/// Number of packets through which the blocks meet.
inline constexpr std::size_t packets_of_meeting =
    std::size_t{device::max_groups} * Reduction<double>::width;

/// Takes as few chunks per thread as suffice, if registers can hold them.
inline JoinedUpdates joined_updates(const detail::MethodProgram& program, const Walk& walk,
                                    int multiprocessors) {
  constexpr int max_chunks = 10;
  JoinedUpdates joined;
  for (int i = 0; i < program.iteration.steps && joined.second == 0; ++i) {
    joined.first = i;
    joined.second = update_after(program, program.iteration, i);
  }
  if (joined.second == 0) return joined;
  const auto resident = static_cast<unsigned>(multiprocessors * device::resident_blocks_of_step);
  const unsigned max_blocks = std::min(
      resident, unsigned{device::max_groups} / device::partials_of_block(device::threads_of_step));
  const unsigned chunks = static_cast<unsigned>(walk.steps) * walk.blocks();
  const unsigned chunks_of_launch = max_blocks * blocks_of_step;
  const unsigned of_thread = (chunks + chunks_of_launch - 1) / chunks_of_launch;
  if (of_thread > max_chunks) return joined;
  joined.chunks_of_thread = static_cast<int>(of_thread);
  joined.walk = walk;
  joined.walk.steps = joined.chunks_of_thread;
  joined.walk.blocks_of_plane = (chunks + of_thread - 1) / of_thread;
  joined.blocks = (joined.walk.blocks_of_plane + blocks_of_step - 1) / blocks_of_step;
  return joined;
}

template <class S>
PartialCounts counts_of(const detail::MethodProgram& program, const QueuedProduct<S>& product,
                        bool joins, std::size_t systems, bool by_groups) {
  return {product.partials(static_cast<int>(systems)),
          Offset(StepShape<S>(program, product.shape(), by_groups).partials()),
          joins ? blocks_over_rows(product.shape().size) : 0};
}

}  // namespace heddle::cuda
