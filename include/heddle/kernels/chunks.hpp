// Division of a field among the threads of a GPU: a thread takes chunks, each of 16 contiguous
// bytes or of one element whose components lie apart. Index arithmetic only, for both host and
// device, so that a test without a GPU can also walk over every field.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::cuda {

inline constexpr int threads_of_block = 256;

/// A launch over the elements of a field, which lie in planes: one plane if they are contiguous,
/// else (SoA over complex numbers or quaternions) one for each element of a row; or one for each
/// group of 256 rows, whose partial sums are then those of the group.
struct Walk {
  Offset elements = 0;          // elements of a plane
  Offset component_stride = 1;  // in scalars, between the components of an element
  Offset plane_stride = 0;      // in scalars
  unsigned planes = 1;
  unsigned blocks_of_plane = 1;
  int steps = 1;                // chunks that a thread takes, a block's width apart
  Offset elements_of_last = 0;  // elements of the last plane, where planes are groups of rows

  HEDDLE_HD unsigned blocks() const { return planes * blocks_of_plane; }

  HEDDLE_HD Offset chunk(unsigned block_of_plane, int step, int thread) const {
    return (Offset(block_of_plane) * steps + step) * threads_of_block + thread;
  }
};

template <Ring R, class S>
struct ChunkValues {
  static constexpr int bytes_of_element = ring_size(R) * static_cast<int>(sizeof(S));
  static constexpr int elements = bytes_of_element < 16 ? 16 / bytes_of_element : 1;

  Coefficient<R, S> at[elements];
};

/// Contiguous elements; accesses have 16 bytes if all data are `aligned` to that. Data may have
/// another scalar type than the values, in accesses of at most as many scalars.
template <Ring R, class S, bool aligned>
struct ContiguousChunk {
  using Values = ChunkValues<R, S>;
  static constexpr bool by_groups = false;
  static constexpr int elements = Values::elements;
  static constexpr int scalars = elements * ring_size(R);
  template <class D>
  static constexpr int scalars_of_access =
      scalars * static_cast<int>(sizeof(D)) < 16 ? scalars : 16 / static_cast<int>(sizeof(D));
  template <class D>
  struct alignas(scalars_of_access<D> * sizeof(D)) Access {
    D scalar[scalars_of_access<D>];
  };

  Offset first;  // scalar
  int count;     // number of its elements that the field has

  HEDDLE_HD ContiguousChunk(const Walk& walk, unsigned, Offset chunk)
      : first(chunk * scalars),
        count(walk.elements - chunk * elements < elements
                  ? static_cast<int>(walk.elements - chunk * elements)
                  : elements) {}

  /// Elements that the field does not have are zero.
  template <class D>
  HEDDLE_HD Values load(const D* data) const {
    constexpr int width = scalars_of_access<D>;
    Values values;
    if (aligned && count == elements) {
      const Access<D>* from = reinterpret_cast<const Access<D>*>(data + first);
      for (int i = 0; i < scalars / width; ++i) {
        const Access<D> access = from[i];
        for (int k = 0; k < width; ++k) scalar(values, i * width + k) = S(access.scalar[k]);
      }
    } else {
      for (int i = 0; i < scalars; ++i) {
        scalar(values, i) = i < count * ring_size(R) ? S(data[first + i]) : S(0);
      }
    }
    return values;
  }
  template <class D>
  HEDDLE_HD void store(D* data, const Values& values) const {
    constexpr int width = scalars_of_access<D>;
    if (aligned && count == elements) {
      Access<D>* to = reinterpret_cast<Access<D>*>(data + first);
      for (int i = 0; i < scalars / width; ++i) {
        Access<D> access;
        for (int k = 0; k < width; ++k) access.scalar[k] = D(scalar(values, i * width + k));
        to[i] = access;
      }
    } else {
      for (int i = 0; i < scalars; ++i) {
        if (i < count * ring_size(R)) data[first + i] = D(scalar(values, i));
      }
    }
  }

 private:
  template <class V>
  HEDDLE_HD static auto& scalar(V& values, int i) {
    return values.at[i / ring_size(R)].component[i % ring_size(R)];
  }
};

/// Same, for a walk whose planes are groups of rows; the last group may have fewer elements.
template <Ring R, class S, bool aligned>
struct GroupedChunk : ContiguousChunk<R, S, aligned> {
  using Base = ContiguousChunk<R, S, aligned>;
  static constexpr bool by_groups = true;

  HEDDLE_HD GroupedChunk(const Walk& walk, unsigned plane, Offset chunk)
      : Base(walk, plane, chunk) {
    const Offset own = plane + 1 < walk.planes ? walk.elements : walk.elements_of_last;
    const Offset left = own - chunk * Base::elements;
    this->count = left >= Base::elements ? Base::elements : left > 0 ? static_cast<int>(left) : 0;
    this->first += plane * walk.plane_stride;
  }
};

/// One element whose components lie in planes: neighbouring threads access neighbouring scalars.
template <Ring R, class S>
struct PlanarChunk {
  struct Values {
    Coefficient<R, S> at[1];
  };
  static constexpr bool by_groups = false;
  static constexpr int elements = 1;
  static constexpr int count = 1;

  Offset first;
  Offset component_stride;

  HEDDLE_HD PlanarChunk(const Walk& walk, unsigned plane, Offset chunk)
      : first(plane * walk.plane_stride + chunk), component_stride(walk.component_stride) {}

  template <class D>
  HEDDLE_HD Values load(const D* data) const {
    Values values;
    for (int c = 0; c < ring_size(R); ++c) {
      values.at[0].component[c] = S(data[first + c * component_stride]);
    }
    return values;
  }
  template <class D>
  HEDDLE_HD void store(D* data, const Values& values) const {
    for (int c = 0; c < ring_size(R); ++c) {
      data[first + c * component_stride] = D(values.at[0].component[c]);
    }
  }
};

/// One thread's part of an operation: calls `operation(chunk, sums)` for its chunks.
template <class Chunk, class Operation>
HEDDLE_HD void visit_chunks(const Walk& walk, unsigned block, int thread,
                            const Operation& operation, double* sums) {
  const unsigned plane = block / walk.blocks_of_plane;
  const unsigned block_of_plane = block % walk.blocks_of_plane;
  for (int step = 0; step < walk.steps; ++step) {
    const Offset chunk = walk.chunk(block_of_plane, step, thread);
    if (chunk * Chunk::elements < walk.elements) operation(Chunk(walk, plane, chunk), sums);
  }
}

}  // namespace heddle::cuda
