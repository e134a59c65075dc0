#include "diagonal_program.hpp"

#include <string>

#include "spmv/entry_program.hpp"

namespace heddle::cuda {

namespace {

/// A kernel `name` that calls `function` with its arguments.
std::string kernel(const char* name, const char* arguments, const std::string& function) {
  return "extern \"C\" __global__ void __launch_bounds__(heddle::device::threads_of_rows) " +
         std::string(name) + "(\n    const __grid_constant__ heddle::device::" + arguments +
         " a) {\n  heddle::device::" + function + "(a);\n}\n";
}

}  // namespace

EntryText diagonal_rows(const EntryText& entry, VectorLayout layout) {
  EntryText rows = entry;
  rows.type = "heddle::device::DiagonalRows<" + entry.type +
              (layout == VectorLayout::soa ? ", true>" : ", false>");
  rows.headers.emplace_back("heddle/kernels/diagonal.cuh");
  return rows;
}

KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes) {
  // The kernel looks for the diagonal in the product's layout, whatever the product's schedule.
  ProductProgram reader = product;
  reader.plan = with_plain_schedule(product.plan);
  const EntryText rows = diagonal_rows(product.entry, product.plan.layout.vector);
  const std::string text =
      plan_text(reader) +
      "struct DiagonalPlan : Plan {\n"
      "  static constexpr int block = heddle::device::threads_of_rows;\n"
      "  static constexpr double epsilon = " +
      (scalar_bytes == 4 ? "1.2e-7" : "2.3e-16") +
      ";\n};\n"
      "using Stored = heddle::stored_scalar_t<Plan::entry>;\n"
      "using Inverse = heddle::stored_scalar_t<heddle::arithmetic_t<Plan::entry>>;\n" +
      kernel("heddle_invert", "InvertArguments<Stored, Inverse>", "invert_diagonal<DiagonalPlan>") +
      kernel("heddle_apply", "RowArguments", "apply_rows<" + rows.type + ">");
  return program_over(rows, "diagonal of " + product.entry.type, text);
}

}  // namespace heddle::cuda
