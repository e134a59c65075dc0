// The walks of a GPU's threads over fields; see kernels/chunks.hpp.
#pragma once

#include <algorithm>
#include <type_traits>

#include "heddle/detail/reduction.hpp"
#include "heddle/field.hpp"
#include "heddle/kernels/chunks.hpp"

namespace heddle::cuda {

/// True if a coefficient of the ring multiplies elements that follow one another: planes of real
/// numbers are one array.
template <Ring R, class S>
bool is_contiguous(const FieldView<S>& field) {
  return R == Ring::real || field.is_aos();
}

/// Number of chunks whose threads fill any current GPU.
inline constexpr Offset chunks_to_fill = Offset(1) << 18;

/// `max_steps`: the most chunks that a thread takes once there are more than `chunks_of_step`;
/// below that it takes one. The shape depends only on the field's, and so do the bits of sums.
template <Ring R, class S>
Walk walk_over(const FieldView<S>& field, int max_steps, Offset chunks_of_step = chunks_to_fill) {
  using Values = ChunkValues<R, std::remove_const_t<S>>;
  const bool contiguous = is_contiguous<R>(field);
  Walk walk;
  if (contiguous) {
    walk.elements = field.scalars() / ring_size(R);
  } else {
    walk.elements = field.size;
    walk.component_stride = field.component_stride;
    walk.plane_stride = ring_size(R) * field.component_stride;
    walk.planes = static_cast<unsigned>(field.components / ring_size(R));
  }
  const int elements = contiguous ? Values::elements : 1;
  const Offset chunks = (walk.elements + elements - 1) / elements;
  while (walk.steps < max_steps && chunks * walk.planes > chunks_of_step * walk.steps) {
    ++walk.steps;
  }
  const Offset chunks_of_block = Offset(threads_of_block) * walk.steps;
  const Offset blocks = (chunks + chunks_of_block - 1) / chunks_of_block;
  walk.blocks_of_plane = blocks > 0 ? static_cast<unsigned>(blocks) : 1;
  return walk;
}

/// Walks over the groups of 256 rows of a field of type aos, one block each, for `GroupedChunk`.
template <Ring R, class S>
Walk walk_over_groups(const FieldView<S>& field) {
  using Values = ChunkValues<R, std::remove_const_t<S>>;
  const Offset elements_of_row = field.components / ring_size(R);
  const Index groups = std::max<Index>(1, groups_of(field.size));
  Walk walk;
  walk.planes = static_cast<unsigned>(groups);
  walk.plane_stride = Offset(rows_of_group) * field.components;
  walk.elements = rows_of_group * elements_of_row;
  walk.elements_of_last = (field.size - Offset(groups - 1) * rows_of_group) * elements_of_row;
  const Offset chunks = (walk.elements + Values::elements - 1) / Values::elements;
  walk.steps = static_cast<int>((chunks + threads_of_block - 1) / threads_of_block);
  return walk;
}

}  // namespace heddle::cuda
