#include "assembly_passes.hpp"

#include "heddle/for_each_on.hpp"

namespace heddle::bench {

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
  template void run(const WriteMatrices<__VA_ARGS__>&, const Stream&);                 \
  template void run(const WriteVectors<__VA_ARGS__>&, const Stream&);                  \
  template void run(const ScatterAdd<__VA_ARGS__>&, const Stream&);                    \
  template void assemble(Assembly<__VA_ARGS__>&, const MeshKernel<__VA_ARGS__>&);      \
  template void assemble(const Assembly<__VA_ARGS__>&, const MeshKernel<__VA_ARGS__>&, \
                         const FieldView<double>&);
HEDDLE_ASSEMBLY_PASSES(real<double>)
HEDDLE_ASSEMBLY_PASSES(block<double, 3, 3>)
#undef HEDDLE_ASSEMBLY_PASSES

}  // namespace heddle::bench
