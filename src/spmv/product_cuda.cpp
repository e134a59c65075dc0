#include "heddle/product_cuda.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <sstream>
#include <tuple>
#include <utility>

#include "../base/cuda_call.hpp"
#include "heddle/error.hpp"
#include "kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Blocks of a grid that stays, rather than one that covers the matrix.
unsigned resident_blocks(cudaKernel_t kernel, const Plan& plan, const Stream& stream) {
  int of_multiprocessor = plan.blocks;
  if (of_multiprocessor == 0) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &of_multiprocessor, reinterpret_cast<const void*>(kernel), plan.threads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  return static_cast<unsigned>(std::max(1, of_multiprocessor) * multiprocessors(stream));
}

}  // namespace

void check_plan_for_gpu(const Plan& plan) {
  constexpr int warp = 32;
  const auto T = static_cast<unsigned>(plan.threads_per_row);
  if (T > warp || !std::has_single_bit(T)) {
    throw Error(ErrorKind::bad_plan, "plan: T=" + std::to_string(T) +
                                         " threads a row are no power of two up to 32, and a row "
                                         "does not leave its warp on a GPU");
  }
}

namespace {

struct Loaded {
  cudaKernel_t product = nullptr;
  cudaKernel_t finish = nullptr;  // of the action, where there is one
};

}  // namespace

struct Product::Kernels {
  /// Epilogue, ring and action.
  using Key = std::tuple<device::Epilogue, int, std::string>;
  static Key key_of(const Call& call) {
    return {call.epilogue, call.ring, call.action != nullptr ? call.action : ""};
  }

  std::mutex mutex;
  std::map<Key, Loaded> loaded;
  std::map<CUstream_st*, Array<unsigned>> tickets;  // of dynamic schedules, one a stream
};

Product::Product(EntryText text, EntryText exact, const EntryShape& shape,
                 std::shared_ptr<const SlicedPattern> pattern, const Plan& plan, const void* values,
                 const Device& device)
    : text_(std::move(text)),
      exact_(std::move(exact)),
      shape_(shape),
      pattern_(std::move(pattern)),
      plan_(plan),
      values_(values),
      device_(device),
      kernels_(std::make_unique<Kernels>()) {
  check_plan_for_gpu(plan);
}

Product::~Product() = default;

EntryText Product::text_of(device::Epilogue epilogue) const {
  return epilogue == device::store_residual ? exact_ : text_;
}

std::string Product::plan_text(device::Epilogue epilogue, const char* action,
                               const char* action_header, int ring) const {
  std::ostringstream text;
  const int schedule = plan_.schedule == ScheduleKind::full    ? 0
                       : plan_.schedule == ScheduleKind::fixed ? 1
                                                               : 2;
  text << "#include \"heddle/kernels/product.cuh\"\n";
  if (action_header != nullptr) text << "#include \"" << action_header << "\"\n";
  // C = 1 has no inner order but AoS and SoA.
  const bool pieces =
      plan_.inner == InnerLayout::aosoa_component || plan_.inner == InnerLayout::aosoa_16;
  const auto inner = pieces && pattern_->C == 1 ? InnerLayout::aos : plan_.inner;
  text << "struct Plan {\n"
       << "  using entry = " << text_of(epilogue).type << ";\n"
       << "  using scalar = " << (shape_.scalar_bytes == 4 ? "float" : "double") << ";\n"
       << "  using action = " << (action != nullptr ? action : "heddle::device::KeepSums") << ";\n"
       << "  static constexpr int lanes = "
       << (plan_.lanes == Plan::all_rows && pattern_->C != 1 ? 0 : pattern_->C)
       << ", threads = " << (plan_.threshold != 0 ? 0 : plan_.threads_per_row)
       << ", inner = " << static_cast<int>(inner) << ", unroll = " << plan_.unroll
       << ", load = " << static_cast<int>(plan_.load) << ", block = " << plan_.threads
       << ", epilogue = " << static_cast<int>(epilogue)
       << ", ring = " << (ring != 0 ? ring : shape_.ring) << ", schedule = " << schedule << ";\n"
       << "  static constexpr bool soa = " << (plan_.vector == VectorLayout::soa ? "true" : "false")
       << ", finish_apart = " << (action != nullptr ? "true" : "false") << ";\n"
       << "};\n"
       << entry_assertions(shape_);
  return text.str();
}

device::Matrix<char> Product::matrix() const {
  const SlicedPattern& A = *pattern_;
  const auto given = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
  return {static_cast<const char*>(values_),
          A.column.data(),
          A.offset.data(),
          given(A.row_length),
          given(A.first_row),
          given(A.threads),
          given(A.target),
          A.slots,
          A.rows,
          A.slices(),
          A.C};
}

namespace {

/// Blocks that the lanes of all slices make.
unsigned blocks_of(const SlicedPattern& A, int threads) {
  const Offset lanes = Offset(A.slices()) * A.C;
  return static_cast<unsigned>((lanes + threads - 1) / threads);
}

}  // namespace

Offset Product::partials() const {
  return Offset(blocks_of(*pattern_, plan_.threads)) *
         std::max(1, plan_.threads / device::threads_of_group);
}

namespace {

template <class T>
void launch_with(const Product::Call& call, const device::Matrix<char>& matrix,
                 const SlicedPattern& A, const Plan& plan, unsigned* ticket, const Loaded& kernel,
                 const Stream& stream) {
  device::ProductArguments<char, char, T> arguments{};
  arguments.A = matrix;
  arguments.x = static_cast<const char*>(call.x);
  arguments.x_component_stride = A.columns;
  arguments.y = static_cast<char*>(call.y);
  arguments.with = static_cast<const char*>(call.with);
  arguments.y_component_stride = A.rows;
  arguments.alpha = static_cast<T>(call.alpha);
  arguments.beta = static_cast<T>(call.beta);
  arguments.sums = {call.sums.partials, call.sums.finished};
  arguments.results = call.sums.results;
  arguments.state = call.state;
  arguments.ticket = ticket;
  arguments.blocks = blocks_of(A, plan.threads);
  arguments.chunk = plan.chunk;
  LaunchShape shape;
  shape.threads = static_cast<unsigned>(plan.threads);
  shape.blocks = plan.schedule == ScheduleKind::full
                     ? arguments.blocks
                     : std::min(arguments.blocks, resident_blocks(kernel.product, plan, stream));
  shape.dependent = call.dependent;
  void* pointers[] = {&arguments};
  launch(kernel.product, shape, stream, pointers);
  if (kernel.finish == nullptr) return;
  LaunchShape one_block;
  one_block.threads = 1024;  // finish_threads of reduce.cuh
  one_block.dependent = call.dependent;
  launch(kernel.finish, one_block, stream, pointers);
}

}  // namespace

void Product::prepare(const Call& call) const {
  const Kernels::Key key = Kernels::key_of(call);
  {
    const std::lock_guard lock(kernels_->mutex);
    if (kernels_->loaded.contains(key)) return;
  }
  const std::string text =
      plan_text(call.epilogue, call.action, call.action_header, call.ring) +
      "extern \"C\" __global__ void __launch_bounds__(Plan::block)\n"
      "heddle_product(const __grid_constant__ heddle::device::ArgumentsOf<Plan> arguments) {\n"
      "  heddle::device::product<Plan>(arguments);\n"
      "}\n" +
      (call.action == nullptr
           ? ""
           : "extern \"C\" __global__ void __launch_bounds__(heddle::device::finish_threads)\n"
             "heddle_finish(const __grid_constant__ heddle::device::ArgumentsOf<Plan> a) {\n"
             "  heddle::device::finish_product<Plan>(a);\n"
             "}\n");
  const EntryText entry = text_of(call.epilogue);
  const KernelSource source = program_over(entry, "product of " + entry.type, text);
  Loaded loaded;
  loaded.product = load_kernel(source, "heddle_product", device_.stream());
  if (call.action != nullptr)
    loaded.finish = load_kernel(source, "heddle_finish", device_.stream());
  const std::lock_guard lock(kernels_->mutex);
  kernels_->loaded.emplace(key, loaded);
}

void Product::launch(const Call& call, const Stream& stream) const {
  if (pattern_->rows == 0) return;
  const OnGpu here(stream);
  prepare(call);
  Loaded kernel;
  unsigned* ticket = nullptr;
  {
    const std::lock_guard lock(kernels_->mutex);
    kernel = kernels_->loaded.at(Kernels::key_of(call));
    if (plan_.schedule == ScheduleKind::dynamic) {
      Array<unsigned>& own = kernels_->tickets[stream.queue];
      if (own.empty()) own = Array<unsigned>(2, device_);
      ticket = own.data();
    }
  }
  const bool in_double = shape_.scalar_bytes == 8 || call.epilogue == device::store_residual;
  if (in_double) {
    launch_with<double>(call, matrix(), *pattern_, plan_, ticket, kernel, stream);
  } else {
    launch_with<float>(call, matrix(), *pattern_, plan_, ticket, kernel, stream);
  }
}

}  // namespace heddle::cuda
