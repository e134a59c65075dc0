#include "diagonal_program.hpp"

#include <string>

#include "../spmv/entry_program.hpp"

namespace heddle::cuda {

KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes) {
  const std::string block = std::to_string(threads_of_diagonal);
  const std::string kernel = "extern \"C\" __global__ void __launch_bounds__(" + block + ") ";
  const std::string text =
      plan_text(product) +
      "#include \"heddle/kernels/diagonal.cuh\"\n"
      "struct DiagonalPlan : Plan {\n"
      "  static constexpr int block = " +
      block +
      ";\n"
      "  static constexpr double epsilon = " +
      (scalar_bytes == 4 ? "1.2e-7" : "2.3e-16") +
      ";\n};\n"
      "using Stored = heddle::stored_scalar_t<Plan::entry>;\n"
      "using Inverse = heddle::stored_scalar_t<heddle::arithmetic_t<Plan::entry>>;\n" +
      kernel +
      "heddle_invert(\n"
      "    const __grid_constant__ heddle::device::InvertArguments<Stored, Inverse> a) {\n"
      "  heddle::device::invert_diagonal<DiagonalPlan>(a);\n"
      "}\n" +
      kernel +
      "heddle_apply(\n"
      "    const __grid_constant__ heddle::device::DiagonalArgumentsOf<DiagonalPlan> a) {\n"
      "  heddle::device::apply_diagonal<DiagonalPlan>(a);\n"
      "}\n" +
      kernel +
      "heddle_update(\n"
      "    const __grid_constant__ heddle::device::DiagonalArgumentsOf<DiagonalPlan> a) {\n"
      "  heddle::device::update_with_diagonal<DiagonalPlan>(a);\n"
      "}\n";
  return program_over(product.entry, "diagonal of " + product.entry.type, text);
}

}  // namespace heddle::cuda
