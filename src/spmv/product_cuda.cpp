#include "heddle/detail/product_cuda.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "heddle/error.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "kernel_library_cuda.hpp"
#include "product_program.hpp"

namespace heddle::cuda {

namespace {

/// Blocks of a persistent grid, as opposed to one that covers the matrix.
unsigned resident_blocks(cudaKernel_t kernel, const Plan& plan, const Stream& stream) {
  int of_multiprocessor =
      std::min(plan.gpu.blocks, max_blocks(plan.gpu.block_size, architecture(stream)));
  if (of_multiprocessor == 0) {
    of_multiprocessor = cuda::resident_blocks(kernel, plan.gpu.block_size, 0, stream);
  }
  return static_cast<unsigned>(std::max(1, of_multiprocessor) * multiprocessors(stream));
}

struct Loaded {
  cudaKernel_t product = nullptr;
  unsigned* ticket = nullptr;  // counter of a dynamic schedule, on the stream of a launch
};

/// Number of blocks that cover the lanes of all slices.
unsigned blocks_of(const SlicedPattern& A, int threads) {
  const Offset lanes = Offset(A.slices()) * A.C;
  return static_cast<unsigned>((lanes + threads - 1) / threads);
}

/// Lanes of a block of a kernel in a loop.
int lanes_of_block(const Plan& plan, int max_systems) {
  return max_systems > 1 ? device::lanes_of_fields : plan.gpu.block_size;
}

template <class T>
void launch_with(const Product::Call& call, const device::Matrix<char>& matrix,
                 const SlicedPattern& A, const Plan& plan, const Loaded& kernel,
                 const Stream& stream) {
  device::ProductsArguments<char, char, T> of_all{};
  device::ProductArguments<char, char, T>& arguments = of_all.all;
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
  arguments.ticket = kernel.ticket;
  arguments.blocks = blocks_of(A, lanes_of_block(plan, call.max_systems));
  arguments.kept = static_cast<unsigned>(plan.gpu.l2_percent);
  arguments.chunk = plan.schedule.chunk;
  of_all.count = static_cast<int>(call.systems.size());
  std::copy(call.systems.begin(), call.systems.end(), of_all.of);
  if (call.in_loop && call.max_systems == 1) {
    const device::ProductOperands& only = call.systems.front();
    arguments.x = static_cast<const char*>(only.x);
    arguments.y = static_cast<char*>(only.y);
    arguments.with = static_cast<const char*>(only.with);
    arguments.sums.partials = only.partials;
    arguments.state = only.state;
  }
  LaunchShape shape;
  shape.threads =
      static_cast<unsigned>(call.max_systems > 1 ? device::threads_of_fields : plan.gpu.block_size);
  shape.blocks = plan.schedule.kind == ScheduleKind::full || call.max_systems > 1
                     ? arguments.blocks
                     : std::min(arguments.blocks, resident_blocks(kernel.product, plan, stream));
  shape.overlapped = call.overlapped;
  // A kernel for one field takes only the first of the arguments.
  void* pointers[] = {&of_all};
  launch(kernel.product, shape, stream, pointers);
}

}  // namespace

struct Product::Kernels {
  using Key = std::tuple<device::Epilogue, int, bool, bool>;
  static Key key_of(const Call& call) {
    return {call.epilogue, call.ring, call.in_loop, call.max_systems > 1};
  }

  std::mutex mutex;
  std::map<Key, Loaded> loaded;
  std::map<CUstream_st*, Array<unsigned>> tickets;  // counters of dynamic schedules, one per stream

  /// The place where a launch counts what its blocks have taken. No other launch counts there at
  /// the same time.
  unsigned* ticket_for(const Call& call, const Stream& stream, const Device& device) {
    // A graph is replayed on streams other than the one that captured it, and has its own.
    if (call.ticket != nullptr) return call.ticket;
    Array<unsigned>& own = tickets[stream.queue];
    if (own.empty()) {
      own = Array<unsigned>(2, device);
      if (stream.queue != device.stream().queue) device.synchronize();
    }
    return own.data();
  }
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

ProductProgram Product::program(device::Epilogue epilogue, int ring, bool in_loop) const {
  Plan plan = plan_of_product(plan_, epilogue);
  if (pattern_->short_column.empty()) plan.layout.column_bits = 32;
  return {epilogue == device::store_residual ? exact_ : text_,
          shape_,
          plan,
          pattern_->C,
          epilogue,
          ring != 0 ? ring : shape_.ring,
          in_loop};
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
          A.C,
          given(A.short_column),
          given(A.column_base)};
}

Offset Product::partials_of(int threads) const {
  return Offset(blocks_of(*pattern_, threads)) * device::partials_of_block(threads);
}

Offset Product::partials(int max_systems) const {
  return std::max(partials_of(lanes_of_block(plan_, max_systems)),
                  partials_of(plan_of_product(plan_, device::store_residual).gpu.block_size));
}

device::PartialSums Product::partial_sums(const double* partials_of_launch, int max_systems) const {
  const int lanes = lanes_of_block(plan_, max_systems);
  return {partials_of_launch, static_cast<unsigned>(partials_of(lanes)),
          device::parts_of_group(lanes)};
}

void Product::check_operand(const void* data, bool is_laid_out, const char* name) const {
  if (!is_laid_out) {
    throw Error(ErrorKind::size_mismatch,
                std::string(name) +
                    " is not laid out as the plan says; `permute` copies it into a "
                    "field that is");
  }
  check_kernel_operand(data, name, device_.stream());
}

void Product::prepare(const Call& call) const {
  const Kernels::Key key = Kernels::key_of(call);
  {
    const std::lock_guard lock(kernels_->mutex);
    if (kernels_->loaded.contains(key)) return;
  }
  ProductProgram text = program(call.epilogue, call.ring, call.in_loop);
  text.several_fields = call.max_systems > 1;
  const KernelSource source = product_source(text, architecture(device_.stream()));
  Loaded loaded;
  loaded.product = load_kernel(source, "heddle_product", device_.stream());
  const std::lock_guard lock(kernels_->mutex);
  kernels_->loaded.emplace(key, loaded);
}

void Product::launch(const Call& call, const Stream& stream) const {
  if (pattern_->rows == 0) return;
  const OnGpu here(stream);
  prepare(call);
  const Plan plan = plan_of_product(plan_, call.epilogue);
  Loaded kernel;
  {
    const std::lock_guard lock(kernels_->mutex);
    kernel = kernels_->loaded.at(Kernels::key_of(call));
    if (plan.schedule.kind == ScheduleKind::dynamic) {
      kernel.ticket = kernels_->ticket_for(call, stream, device_);
    }
  }
  const bool in_double = shape_.scalar_bytes == 8 || call.epilogue == device::store_residual;
  if (in_double) {
    launch_with<double>(call, matrix(), *pattern_, plan, kernel, stream);
  } else {
    launch_with<float>(call, matrix(), *pattern_, plan, kernel, stream);
  }
}

}  // namespace heddle::cuda
