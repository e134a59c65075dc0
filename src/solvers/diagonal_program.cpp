#include "diagonal_program.hpp"

#include <string>

#include "../spmv/entry_program.hpp"

namespace heddle::cuda {

namespace {

/// The plan of the diagonal's kernels, and their types.
std::string preamble(const ProductProgram& product, int scalar_bytes) {
  return plan_text(product) +
         "#include \"heddle/kernels/diagonal.cuh\"\n"
         "struct DiagonalPlan : Plan {\n"
         "  static constexpr int block = " +
         std::to_string(threads_of_diagonal) +
         ";\n"
         "  static constexpr double epsilon = " +
         (scalar_bytes == 4 ? "1.2e-7" : "2.3e-16") +
         ";\n};\n"
         "using Stored = heddle::stored_scalar_t<Plan::entry>;\n"
         "using Inverse = heddle::stored_scalar_t<heddle::arithmetic_t<Plan::entry>>;\n";
}

/// A kernel `name` that calls `function<DiagonalPlan>` with its arguments.
std::string kernel(const char* name, const char* arguments, const char* function) {
  return "extern \"C\" __global__ void __launch_bounds__(DiagonalPlan::block) " +
         std::string(name) + "(\n    const __grid_constant__ heddle::device::" + arguments +
         " a) {\n  heddle::device::" + function + "<DiagonalPlan>(a);\n}\n";
}

}  // namespace

KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes) {
  // It looks for the diagonal in the product's layout, whatever the product's schedule.
  ProductProgram reader = product;
  reader.plan = with_plain_schedule(product.plan);
  const std::string text =
      preamble(reader, scalar_bytes) +
      kernel("heddle_invert", "InvertArguments<Stored, Inverse>", "invert_diagonal") +
      kernel("heddle_apply", "DiagonalArgumentsOf<DiagonalPlan>", "apply_diagonal") +
      kernel("heddle_update", "DiagonalArgumentsOf<DiagonalPlan>", "update_with_diagonal");
  return program_over(product.entry, "diagonal of " + product.entry.type, text);
}

KernelSource diagonal_step_source(const ProductProgram& product, int scalar_bytes,
                                  bool one_reduction) {
  // It reads vectors and inverses only.
  ProductProgram reader = product;
  reader.plan = Plan{.vector = product.plan.vector};
  reader.lanes = reader.plan.lanes;
  const std::string text = preamble(reader, scalar_bytes) +
                           kernel("heddle_step", "DiagonalStepArgumentsOf<DiagonalPlan>",
                                  one_reduction ? "one_reduction_step" : "two_reductions_step");
  return program_over(product.entry, "diagonal step of " + product.entry.type, text);
}

}  // namespace heddle::cuda
