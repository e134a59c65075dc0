#include "assembly_passes.hpp"

#include "heddle/for_each_on.hpp"
#ifdef __CUDACC__
#include "heddle/cuda_call.hpp"
#endif

namespace heddle::bench {

#ifdef __CUDACC__
namespace {

constexpr int pairs_of_block = 128;

template <class E>
__global__ void __launch_bounds__(pairs_of_block) write_side_by_side(const WriteElements<E> pass) {
  constexpr int K = E::components;
  __shared__ double entries[pairs_of_block * K];
  const Offset first = Offset(blockIdx.x) * pairs_of_block;
  const int pairs = static_cast<int>(min(Offset(pairs_of_block), 16 * pass.count - first));
  const auto place = [&](Offset pair) {
    return pass.numbering.place(pair / 16, int(pair / 4 % 4), int(pair % 4));
  };
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < pairs) {
    const Offset pair = first + thread;
    const E entry = pass.kernel.entry(pair / 16, int(pair / 4 % 4), int(pair % 4));
    for (int k = 0; k < K; ++k) {
      (K == 1 ? pass.to[place(pair)] : entries[thread * K + k]) = entry.component[k];
    }
  }
  if constexpr (K > 1) {
    __syncthreads();
    for (int i = thread; i < pairs * K; i += pairs_of_block) {
      pass.to[place(first + i / K) + i % K] = entries[i];
    }
  }
}

}  // namespace
#endif

template <class E>
void write(const WriteElements<E>& pass, const Stream& stream) {
#ifdef __CUDACC__
  if (stream.on_gpu() && pass.numbering.order != ElementOrder::planes) {
    const cuda::OnGpu here(stream);
    const auto blocks =
        static_cast<unsigned>((16 * pass.count + pairs_of_block - 1) / pairs_of_block);
    write_side_by_side<<<blocks, pairs_of_block, 0, stream.queue>>>(pass);
    return cuda::check(cudaGetLastError(), "the launch of a kernel");
  }
#endif
  run(pass, stream);
}

template <class P>
void run(const P& pass, const Stream& stream) {
  for_each_on(stream, pass);
}
template <class E>
void assemble(Assembly<E>& assembly, const MeshKernel<E>& kernel) {
  assemble_with(assembly, kernel);
}
template <class E>
void assemble(const Assembly<E>& assembly, const MeshKernel<E>& kernel,
              const FieldView<double>& field) {
  assemble_vector_with(assembly, kernel, field);
}

#define HEDDLE_ASSEMBLY_PASSES(...)                                                    \
  template void run(const WriteVectors<__VA_ARGS__>&, const Stream&);                  \
  template void write(const WriteElements<__VA_ARGS__>&, const Stream&);               \
  template void run(const AddElements<__VA_ARGS__>&, const Stream&);                   \
  template void run(const AddAtomically<__VA_ARGS__>&, const Stream&);                 \
  template void assemble(Assembly<__VA_ARGS__>&, const MeshKernel<__VA_ARGS__>&);      \
  template void assemble(const Assembly<__VA_ARGS__>&, const MeshKernel<__VA_ARGS__>&, \
                         const FieldView<double>&);
HEDDLE_ASSEMBLY_PASSES(real<double>)
HEDDLE_ASSEMBLY_PASSES(block<double, 3, 3>)
#undef HEDDLE_ASSEMBLY_PASSES

}  // namespace heddle::bench
