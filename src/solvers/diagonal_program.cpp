#include "diagonal_program.hpp"

#include <string>

#include "spmv/entry_program.hpp"

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

/// A kernel `name` that calls `function<parameters>` with its arguments.
std::string kernel(const char* name, const char* arguments, const char* function,
                   const std::string& parameters = "DiagonalPlan") {
  return "extern \"C\" __global__ void __launch_bounds__(DiagonalPlan::block) " +
         std::string(name) + "(\n    const __grid_constant__ heddle::device::" + arguments +
         " a) {\n  heddle::device::" + function + "<" + parameters + ">(a);\n}\n";
}

}  // namespace

KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes) {
  // It looks for the diagonal in the product's layout, whatever the product's schedule.
  ProductProgram reader = product;
  reader.plan = with_plain_schedule(product.plan);
  const std::string text =
      preamble(reader, scalar_bytes) +
      kernel("heddle_invert", "InvertArguments<Stored, Inverse>", "invert_diagonal") +
      kernel("heddle_apply", "DiagonalArgumentsOf<DiagonalPlan>", "apply_diagonal");
  return program_over(product.entry, "diagonal of " + product.entry.type, text);
}

KernelSource preconditioned_step_source(const ProductProgram& product, int scalar_bytes,
                                        const detail::MethodProgram& method, int parts_of_product) {
  // It reads vectors and inverses only.
  ProductProgram reader = product;
  reader.plan = Plan{.vector = product.plan.vector};
  reader.lanes = reader.plan.lanes;
  std::string text = preamble(reader, scalar_bytes) +
                     "#include \"heddle/kernels/preconditioned_step.cuh\"\n" +
                     method_definition(method, parts_of_product);
  for (const bool start : {true, false}) {
    const methods::Facts& facts = start ? method.start : method.iteration;
    for (int i = 0; i < facts.steps; ++i) {
      if (!joins_next(method, facts, i)) continue;
      text += kernel(("heddle_" + name_of_step(start, i)).c_str(),
                     "PreconditionedStepArgumentsOf<DiagonalPlan>", "update_and_precondition",
                     std::string("DiagonalPlan, Method, ") + (start ? "true, " : "false, ") +
                         std::to_string(i));
    }
  }
  KernelSource source =
      program_over(product.entry, "preconditioned steps of " + product.entry.type, text);
  add_header_of(method, source);
  return source;
}

}  // namespace heddle::cuda
