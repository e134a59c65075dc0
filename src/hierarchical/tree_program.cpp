#include "tree_program.hpp"

#include <algorithm>
#include <string>

#include "heddle/error.hpp"
#include "spmv/entry_program.hpp"
#include "spmv/product_program.hpp"

namespace heddle::cuda {

namespace {

/// Shared memory that every GPU gives a block of threads, less what sums of the epilogue take.
constexpr int max_shared_bytes = (48 << 10) - 512;

/// Blocks of threads that a multiprocessor should hold, which bounds the registers of a thread: an
/// entry, a row of x and a row of y lie in them.
int blocks_of_multiprocessor(const TreeProgram& program, int warps, int architecture) {
  const EntryShape& shape = program.shape;
  const int bytes = (shape.components + shape.vector_components + shape.result_components) *
                    std::max(shape.stored_bytes, shape.scalar_bytes) * program.run;
  const int threads = bytes <= 24 ? 2048 : bytes <= 128 ? 1024 : bytes <= 256 ? 640 : 384;
  return std::clamp(threads / (32 * warps), 1, max_blocks(32 * warps, architecture));
}

const char* name_of(detail::TreeForm form) {
  return form == detail::TreeForm::direct    ? "direct"
         : form == detail::TreeForm::adjoint ? "adjoint"
                                             : "transpose";
}

std::string plan_text(const TreeProgram& program, int warps) {
  return "struct Plan {\n"
         "  using entry = " +
         program.entry.type +
         ";\n  using scalar = " + (program.shape.scalar_bytes == 4 ? "float" : "double") +
         ";\n  static constexpr auto form = heddle::detail::TreeForm::" + name_of(program.form) +
         ";\n  static constexpr int log2_size = " + std::to_string(program.log2_size) +
         ", run = " + std::to_string(program.run) + ", warps = " + std::to_string(warps) +
         ", epilogue = " + std::to_string(static_cast<int>(program.epilogue)) +
         ", ring = 1;\n  static constexpr bool soa = false;\n};\n" +
         entry_assertions(program.shape);
}

}  // namespace

TreeProgram tree_program(const TreeEntry& entry, int log2_size, int run, device::Epilogue epilogue,
                         int warps) {
  const bool is_exact = epilogue == device::store_residual;
  return {is_exact ? entry.exact : entry.text,
          entry.shape,
          entry.form,
          log2_size,
          entry.row_components * (is_exact ? int{sizeof(double)} : entry.shape.scalar_bytes),
          epilogue,
          run,
          warps};
}

int warps_of(const TreeProgram& program) {
  // Same as `WarpSums` of kernels/trees/tree_sums.cuh, and 32 leaves.
  const bool is_small = program.sum_bytes <= int{sizeof(double)};
  const int of_row = program.sum_bytes + (is_small ? program.run * int{sizeof(unsigned)} : 0);
  const int of_warp = (of_row << program.log2_size) + 32 * 32;
  int warps = program.warps > 0 ? program.warps : is_small ? 2 : 4;
  while (warps > 1 && warps * of_warp > max_shared_bytes) warps /= 2;
  if (of_warp > max_shared_bytes) {
    throw Error(ErrorKind::unsupported,
                "nodes of " + std::to_string(1 << program.log2_size) +
                    " rows of entries this large exceed a GPU's shared memory; use smaller nodes");
  }
  return warps;
}

KernelSource tree_source(const TreeProgram& program, int architecture) {
  const int warps = warps_of(program);
  const std::string text =
      "#include \"heddle/kernels/trees/tree_product.cuh\"\n" + plan_text(program, warps) +
      "extern \"C\" __global__ void __launch_bounds__(32 * Plan::warps, " +
      std::to_string(blocks_of_multiprocessor(program, warps, architecture)) +
      ")\nheddle_tree_product(const __grid_constant__ heddle::device::OfTree<Plan>::Arguments "
      "arguments) {\n  heddle::device::tree_product<Plan>(arguments);\n}\n";
  return program_over(program.entry,
                      std::string(name_of(program.form)) + " tree product of " + program.entry.type,
                      text);
}

KernelSource scheduler_source(const EntryText& operation, std::size_t operation_bytes) {
  const std::string text =
      "#include \"heddle/kernels/trees/task_scheduler.cuh\"\nusing Operation = " + operation.type +
      ";\nstatic_assert(sizeof(Operation) == " + std::to_string(operation_bytes) +
      R"(, "heddle operation: other bytes on the host than on the GPU");
using Arguments = heddle::device::ArgumentsOf<Operation>;
extern "C" __global__ void __launch_bounds__(heddle::device::scheduler_block)
heddle_control_tasks(const __grid_constant__ Arguments scheduler,
                     const __grid_constant__ Operation operation, Operation::Task root) {
  heddle::device::control_tasks(scheduler, operation, root, [&] {
    Arguments next = scheduler;
    next.continues = true;
    heddle_control_tasks<<<1, heddle::device::scheduler_block, 0, cudaStreamTailLaunch>>>(
        next, operation, root);
    return cudaGetLastError();
  });
}
)";
  KernelSource source = program_over(operation, "scheduler of " + operation.type, text);
  source.options.emplace_back(launches_kernels);
  return source;
}

}  // namespace heddle::cuda
