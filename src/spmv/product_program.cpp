#include "product_program.hpp"

#include <algorithm>
#include <bit>
#include <sstream>

#include "entry_program.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

void check_plan_for_gpu(const Plan& plan) {
  constexpr int warp = 32;
  const auto T = static_cast<unsigned>(plan.layout.threads_per_row);
  if (T > warp || !std::has_single_bit(T)) {
    throw Error(ErrorKind::bad_plan,
                "plan: threads-per-row=" + std::to_string(T) +
                    " is not a power of two up to 32, and on a GPU a row stays within its warp");
  }
}

std::string plan_text(const ProductProgram& program) {
  const Plan& plan = program.plan;
  std::ostringstream text;
  const int schedule = plan.schedule.kind == ScheduleKind::full    ? 0
                       : plan.schedule.kind == ScheduleKind::fixed ? 1
                                                                   : 2;
  text << "#include \"heddle/kernels/"
       << (program.several_fields ? "product_of_fields.cuh" : "product.cuh") << "\"\n";
  // C = 1 has no inner order except AoS and SoA.
  const bool pieces = plan.layout.inner == InnerLayout::aosoa_component ||
                      plan.layout.inner == InnerLayout::aosoa_16;
  const auto inner = pieces && program.lanes == 1 ? InnerLayout::aos : plan.layout.inner;
  text << "struct Plan {\n"
       << "  using entry = " << program.entry.type << ";\n"
       << "  using scalar = " << (program.shape.scalar_bytes == 4 ? "float" : "double") << ";\n"
       << "  static constexpr int lanes = "
       << (plan.layout.lanes == Layout::all_rows && program.lanes != 1 ? 0 : program.lanes)
       << ", threads = " << (plan.layout.threshold != 0 ? 0 : plan.layout.threads_per_row)
       << ", inner = " << static_cast<int>(inner) << ", unroll = " << plan.gpu.unroll
       << ", load = " << static_cast<int>(plan.gpu.load) << ", block = " << plan.gpu.block_size
       << ", epilogue = " << static_cast<int>(program.epilogue) << ", ring = " << program.ring
       << ", schedule = " << schedule << ";\n"
       << "  static constexpr bool soa = "
       << (plan.layout.vector == VectorLayout::soa ? "true" : "false")
       << ", in_loop = " << (program.in_loop ? "true" : "false")
       << ", short_columns = " << (plan.layout.column_bits == 16 ? "true" : "false") << ";\n"
       << "};\n"
       << entry_assertions(program.shape);
  return text.str();
}

Plan with_plain_schedule(const Plan& plan) {
  Plan plain = plan;
  plain.schedule = {.kind = ScheduleKind::full};
  plain.gpu = {};
  return plain;
}

Plan plan_of_product(const Plan& plan, device::Epilogue epilogue) {
  return epilogue == device::store_residual ? with_plain_schedule(plan) : plan;
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int max_blocks(int threads, int architecture) {
  struct Multiprocessor {
    int threads, blocks;
  };
  const Multiprocessor holds = [&]() -> Multiprocessor {
    switch (architecture) {
      case 75:
        return {1024, 16};
      case 86:
      case 87:
      case 88:
        return {1536, 16};
      case 89:
      case 110:
      case 120:
      case 121:
        return {1536, 24};
      default:
        return {2048, 32};
    }
  }();
  return std::min(holds.threads / threads, holds.blocks);
}

KernelSource product_source(const ProductProgram& program, int architecture) {
  const Plan& plan = program.plan;
  const int blocks = std::min(plan.gpu.blocks, max_blocks(plan.gpu.block_size, architecture));
  std::string bounds = "Plan::block" + (blocks > 0 ? ", " + std::to_string(blocks) : "");
  std::string arguments = "ArgumentsOf", kernel = "product";
  if (program.several_fields) {
    bounds = "heddle::device::threads_of_fields, 2";
    arguments = "FieldsArgumentsOf";
    kernel = "product_of_fields";
  }
  const std::string text =
      plan_text(program) + "extern \"C\" __global__ void __launch_bounds__(" + bounds +
      ")\nheddle_product(const __grid_constant__ heddle::device::" + arguments +
      "<Plan> arguments) {\n  heddle::device::" + kernel + "<Plan>(arguments);\n}\n";
  return program_over(program.entry, "product of " + program.entry.type, text);
}

}  // namespace heddle::cuda
