#include "plan_kernels.hpp"

#include <algorithm>
#include <utility>

#include "heddle/runtime/any_solver.hpp"
#include "operator_trials.hpp"
#include "solvers/gpu_loops/persistent_program.hpp"
#include "solvers/gpu_loops/step_program.hpp"
#include "solvers/krylov/method_programs.hpp"
#include "solvers/krylov/method_rows.hpp"
#include "solvers/preconditioners/diagonal_program.hpp"
#include "spmv/product_program.hpp"

namespace heddle::cuda {

namespace {

/// An entry in the form in which programs name it.
struct EntryPrograms {
  EntryText text;
  EntryText exact;  // computes in double
  EntryShape shape;
  int arithmetic_bytes;  // size of the scalar for arithmetic

  template <class S>
  explicit EntryPrograms(const heddle::detail::EntryTable<S>& entry)
      : text(entry.text),
        exact(entry.exact),
        shape(entry.sizes),
        arithmetic_bytes(entry.arithmetic.scalar_bytes) {}
};

/// The matrix as given, and the one that iterations multiply by.
std::pair<EntryPrograms, EntryPrograms> programs_of(const AnyMatrix& matrix, StoredScalar stored) {
  return std::visit(
      [&](const auto& entry) {
        const auto& copy = entry->copy(stored);
        return std::pair(EntryPrograms(*entry), EntryPrograms(copy ? *copy : *entry));
      },
      heddle::detail::entry_table_of(matrix));
}

/// Shares rows out like `PersistentLoop`, except with even slices.
KernelSource persistent_guess(const ProductProgram& product, PersistentMethod method,
                              const AnyMatrix& matrix, const MemoryUse& use,
                              const DeviceProperties& gpu) {
  const PersistentNeeds needs = needs_of(method, true, product.ring);
  const long long row_bytes =
      static_cast<long long>(product.shape.result_components) * product.shape.scalar_bytes;
  const Offset slices = std::max<Offset>(
      1, (Offset(matrix.rows()) * product.plan.layout.threads_per_row + product.lanes - 1) /
             product.lanes);
  const Offset blocks = std::max<Offset>(1, std::min<Offset>(gpu.multiprocessors, slices));
  const Offset lanes = (slices + blocks - 1) / blocks * product.lanes;
  const long long rows = lanes / product.plan.layout.threads_per_row;
  const long long slot_bytes =
      static_cast<long long>(product.shape.components) * product.shape.stored_bytes +
      static_cast<long long>(sizeof(Index));
  const bool fits =
      needs.vectors * row_bytes * rows + (use.slots + blocks - 1) / blocks * slot_bytes <=
      gpu.shared_memory_of_block - persistent_static_shared;
  constexpr long long wide_row = 64, half = 512;
  const bool wide = method == PersistentMethod::bicgstab && row_bytes >= wide_row;
  return persistent_source({product, wide || lanes <= half ? 512 : 1024, true,
                            fits && may_lie_in_shared_memory(product.plan), method});
}

/// The ring of the method's coefficients.
Ring ring_of(const MethodInfo& method, const Plan& plan, int components) {
  const bool is_real = plan.loop.recurrence == Recurrence::real && !method.needs_symmetric;
  return is_real || components == 1 ? Ring::real
         : components == 2          ? Ring::complex
                                    : Ring::quaternion;
}

}  // namespace

std::vector<KernelSource> kernels_of_plan(const AnyMatrix& matrix, const Plan& plan,
                                          const MemoryUse& use, Objective objective,
                                          const DeviceProperties& gpu) {
  const auto [given, iterated] = programs_of(matrix, plan.layout.stored);
  const Index lanes =
      plan.layout.lanes == Layout::all_rows ? std::max<Index>(1, matrix.rows()) : plan.layout.lanes;
  const auto program = [&](const EntryPrograms& entry, device::Epilogue epilogue) {
    return ProductProgram{epilogue == device::store_residual ? entry.exact : entry.text,
                          entry.shape,
                          plan_of_product(plan, epilogue),
                          lanes,
                          epilogue,
                          entry.shape.ring,
                          false};
  };
  std::vector<KernelSource> kernels;
  const auto add_product = [&](const ProductProgram& product) {
    kernels.push_back(product_source(product, gpu.architecture));
  };
  if (objective.is_product()) {
    add_product(program(iterated, device::store_scaled));
    return kernels;
  }

  const MethodInfo& method = *objective.method;
  const bool jacobi = is_timed_with_jacobi(method);
  const ProductProgram own = program(given, device::store_scaled);
  if (jacobi) kernels.push_back(diagonal_source(own, given.arithmetic_bytes));
  add_product(program(given, device::store_residual));
  const bool once = plan.loop.form != LoopForm::stepped && plan.loop.single_reduction;
  const bool on_copy = iterated.text.type != given.text.type && !is_exact(plan.layout.stored);
  const auto steps = program_of_method(
      method_rows::row_of_loop(method, on_copy ? plan.layout.stored : StoredScalar::own, once),
      ring_of(method, plan, own.shape.ring), jacobi);
  const LoopProduct multiplies = product_of_loop(steps);
  ProductProgram in_loop = program(iterated, multiplies.epilogue);
  if (multiplies.ring != 0) in_loop.ring = multiplies.ring;
  if (plan.loop.form == LoopForm::persistent && method.has_one_kernel) {
    in_loop.epilogue = device::store_and_dot;
    kernels.push_back(persistent_guess(in_loop, persistent_method(method), matrix, use, gpu));
    return kernels;
  }
  in_loop.in_loop = true;
  add_product(in_loop);
  const bool contiguous = plan.layout.vector == VectorLayout::aos || steps.ring == Ring::real;
  const int parts = device::parts_of_group(plan.gpu.block_size);
  for (auto& [name, source] :
       step_programs(steps, {given.shape.scalar_bytes, contiguous, jacobi, parts})) {
    kernels.push_back(std::move(source));
  }
  if (jacobi && steps.ring == Ring::real && !method.restarts) {
    kernels.push_back(
        preconditioned_step_source(diagonal_rows(own.entry, plan.layout.vector), steps, parts));
  }
  return kernels;
}

}  // namespace heddle::cuda
