#include "persistent_program.hpp"

#include <string>

#include "heddle/error.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "spmv/entry_program.hpp"

namespace heddle::cuda {

void check_plan_for_persistent_loop(const Plan& plan, bool is_scattered) {
  if (plan.layout.lanes == Layout::all_rows || is_scattered) {
    throw Error(ErrorKind::bad_plan,
                "plan: loop=persistent needs slices of 1 to 64 lanes and basis=permuted");
  }
}

PersistentNeeds needs_of(PersistentMethod method, bool jacobi, int ring) {
  if (method == PersistentMethod::bicgstab) {
    return {device::bicgstab_vectors(jacobi), 3,
            device::sums_of_first(ring) + device::sums_of_second(ring), 2};
  }
  return {device::conjugate_gradient_vectors(jacobi), 1, 4, 1};
}

KernelSource persistent_source(const PersistentProgram& program) {
  const EntryText& entry = program.product.entry;
  const bool is_bicgstab = program.method == PersistentMethod::bicgstab;
  const std::string name = is_bicgstab ? "bicgstab" : "conjugate_gradient";
  // The loop distributes rows itself.
  ProductProgram product = program.product;
  product.plan = with_plain_schedule(program.product.plan);
  product.plan.gpu.unroll = program.product.plan.gpu.unroll;
  const std::string text =
      plan_text(product) + "#include \"heddle/kernels/" + name +
      "_persistent.cuh\"\n"
      "struct PersistentPlan : Plan {\n"
      "  using inverse = heddle::arithmetic_t<Plan::entry>;\n"
      "  static constexpr int persistent_block = " +
      std::to_string(program.threads) +
      ";\n"
      "  static constexpr bool jacobi = " +
      (program.jacobi ? "true" : "false") +
      ", in_shared = " + (program.in_shared ? "true" : "false") +
      ";\n};\n"
      "extern \"C\" __global__ void __launch_bounds__(PersistentPlan::persistent_block)\n"
      "heddle_solve(\n"
      "    const __grid_constant__ heddle::device::PersistentArgumentsOf<PersistentPlan> a) {\n"
      "  heddle::device::" +
      name +
      "<PersistentPlan>(a);\n"
      "}\n";
  return program_over(entry, (is_bicgstab ? "BiCGStab of " : "conjugate gradient of ") + entry.type,
                      text);
}

}  // namespace heddle::cuda
