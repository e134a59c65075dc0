// Passes that the suite `assembly` runs over elements, compiled for CPU and GPU from one file; E is
// a real number or a 3x3 block, in double.
#pragma once

#include "heddle/assembly.hpp"
#include "problems/mesh_elements.hpp"

namespace heddle::bench {

/// Writes the matrix of each element into an array, with a thread for each element.
template <class E>
struct WriteElements {
  Offset count;
  MeshKernel<E> kernel;
  heddle::detail::ElementNumbering numbering;
  double* to;

  HEDDLE_INLINE void operator()(Offset e) const {
    double gradient[12];  // read once, since the output might alias the gradients
    for (int i = 0; i < 12; ++i) gradient[i] = kernel.gradient[12 * e + i];
    const double volume = kernel.volume[e];
    const MeshKernel<E> own{gradient, &volume};
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const E entry = own.entry(0, a, b);
        double* const at = to + numbering.place(e, a, b);
        for (int k = 0; k < E::components; ++k) at[k * numbering.stride()] = entry.component[k];
      }
    }
  }
};

/// Like `WriteElements`, for vectors.
template <class E>
struct WriteVectors {
  Offset count;
  MeshKernel<E> kernel;
  heddle::detail::ElementNumbering numbering;
  double* to;

  HEDDLE_INLINE void operator()(Offset e) const {
    for (int a = 0; a < 4; ++a) {
      const auto value = kernel.vector(e, a);
      double* const at = to + numbering.place(e, a);
      for (int k = 0; k < numbering.components; ++k) {
        at[k * numbering.stride()] = value.component[k];
      }
    }
  }
};

/// Adds the matrix of each element to the stored matrix, as is common elsewhere: for elements of
/// which no two share a node, or one after the other.
template <class E>
struct AddElements {
  Offset count;
  const Index* element;  // null for all elements in order
  MeshKernel<E> kernel;
  const unsigned* slot;  // slot of each (e, a, b)
  EntryWriter<E> matrix;
  double* stored;

  HEDDLE_INLINE void operator()(Offset i) const {
    const Offset e = element != nullptr ? element[i] : i;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const E entry = kernel.entry(e, a, b);
        const Offset at = slot[4 * (4 * e + a) + b];
        for (int k = 0; k < E::components; ++k) stored[matrix.index(at, k)] += entry.component[k];
      }
    }
  }
};

/// Same as `AddElements`, with atomic additions on a GPU and a thread for each number of an
/// element: half the time of a thread per element for 3x3 blocks.
template <class E>
struct AddAtomically {
  Offset count;
  MeshKernel<E> kernel;
  const unsigned* slot;
  EntryWriter<E> matrix;
  double* stored;

  HEDDLE_INLINE void operator()(Offset i) const {
    const Offset pair = i / E::components;
    const auto k = static_cast<int>(i - pair * E::components), a = static_cast<int>(pair / 4 % 4);
    const Offset at = matrix.index(slot[pair], k);
    const double value = kernel.component(pair / 16, a, static_cast<int>(pair % 4), k);
#ifdef __CUDA_ARCH__
    atomicAdd(stored + at, value);
#else
    stored[at] += value;
#endif
  }
};

/// Runs `for_each_on`.
template <class P>
void run(const P& pass, const Stream& stream);
/// Runs `WriteElements`. On a GPU, except for planes, a thread computes the entry of a pair of
/// corners, and a block writes its threads' entries side by side: a thread that writes a whole
/// element touches a sector of memory with each number.
template <class E>
void write(const WriteElements<E>& pass, const Stream& stream);
/// Run `assemble_with` and `assemble_vector_with`.
template <class E>
void assemble(Assembly<E>& assembly, const MeshKernel<E>& kernel);
template <class E>
void assemble(const Assembly<E>& assembly, const MeshKernel<E>& kernel,
              const FieldView<double>& field);

}  // namespace heddle::bench
