#include "pass_program.hpp"

#include <string>

#include "entry_program.hpp"

namespace heddle::cuda {

namespace {

/// A kernel that has the functor as its only argument. A header may read differently for the host
/// and the GPU, so the sizes are compared.
KernelSource program_around(const CompiledFunctor& functor, const std::string& bounds,
                            const std::string& name, const std::string& body) {
  const std::string bytes = std::to_string(functor.bytes);
  const std::string text = "using HeddlePass = " + functor.text.type +
                           ";\nstatic_assert(sizeof(HeddlePass) == " + bytes +
                           ",\n  \"heddle kernel: bytes on the host: " + bytes +
                           ", different on the GPU\");\nextern \"C\" __global__ void "
                           "__launch_bounds__(" +
                           bounds + ")\n" + name +
                           "(const __grid_constant__ HeddlePass functor) {\n" + body + "}\n";
  return program_over(functor.text, "kernel " + functor.text.type, text);
}

}  // namespace

KernelSource pass_source(const CompiledFunctor& pass, int min_blocks) {
  const std::string threads = std::to_string(detail::threads_of_pass);
  return program_around(pass, threads + ", " + std::to_string(min_blocks), "heddle_pass",
                        "  const long long i = (long long)blockIdx.x * " + threads +
                            " + threadIdx.x;\n"
                            "  if (i < (long long)functor.count) functor(i);\n");
}

KernelSource tiles_source(const CompiledFunctor& tile_sums) {
  return program_around(tile_sums, "heddle::detail::AssemblyTiles::threads", "heddle_tiles",
                        "  heddle::detail::sum_tile(functor);\n");
}

}  // namespace heddle::cuda
