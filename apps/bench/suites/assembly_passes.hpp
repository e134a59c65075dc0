// What the suite `assembly` runs over elements, compiled for CPU and GPU in one file; E is a real
// number or a 3x3 block, in double.
#pragma once

#include "heddle/assembly.hpp"
#include "problems/mesh_elements.hpp"

namespace heddle::bench {

/// Writes the matrix of each element into an array.
template <class E>
struct WriteMatrices {
  Offset count;
  MeshKernel<E> kernel;
  heddle::detail::ElementNumbering numbering;
  double* to;

  HEDDLE_INLINE void operator()(Offset e) const {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const E entry = kernel.entry(e, a, b);
        double* const at = to + numbering.place(e, a, b);
        for (int k = 0; k < E::components; ++k) at[k * numbering.stride()] = entry.component[k];
      }
    }
  }
};

/// The same of vectors.
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

/// Adds the matrix of each element to what is stored, as elsewhere: by atomic additions on a GPU
/// where elements meet, else for elements of which no two meet, or one after the other.
template <class E>
struct ScatterAdd {
  Offset count;
  const Index* element;  // null for all in their order
  bool atomic;
  MeshKernel<E> kernel;
  const unsigned* slot;  // of each (e, a, b)
  EntryWriter<E> matrix;
  double* stored;

  HEDDLE_INLINE void add_to(double* to, double value) const {
#ifdef __CUDA_ARCH__
    if (atomic) {
      atomicAdd(to, value);
      return;
    }
#endif
    *to += value;
  }
  HEDDLE_INLINE void operator()(Offset i) const {
    const Offset e = element != nullptr ? element[i] : i;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const E entry = kernel.entry(e, a, b);
        const Offset at = slot[4 * (4 * e + a) + b];
        for (int k = 0; k < E::components; ++k) {
          add_to(stored + matrix.index(at, k), entry.component[k]);
        }
      }
    }
  }
};

/// `for_each_on`.
template <class P>
void run(const P& pass, const Stream& stream);
/// `assemble_with` and `assemble_vector_with`.
template <class E>
void assemble(Assembly<E>& assembly, const MeshKernel<E>& kernel);
template <class E>
void assemble(const Assembly<E>& assembly, const MeshKernel<E>& kernel,
              const FieldView<double>& field);

}  // namespace heddle::bench
