#include <string>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "heddle/error.hpp"
#include "spmv/kernel_library_cuda.hpp"
#include "tree_program.hpp"
#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

/// A capture may contain neither allocations nor the loading of kernels.
[[noreturn]] void refuse_capture() {
  throw Error(ErrorKind::usage,
              "a graph can hold a product of a tree on a GPU only after the first of its kind "
              "outside the graph");
}

}  // namespace

TreeProduct::TreeProduct(TreeEntry entry, std::shared_ptr<const TreeOnGpu> matrix,
                         const Device& device)
    : entry_(std::move(entry)), matrix_(std::move(matrix)), device_(device) {
  if (entry_.text.type.empty()) {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
  static_cast<void>(warps_of(program_of(device::store_residual)));
}

TreeProduct::~TreeProduct() {
  for (const auto& [stream, workspace] : workspaces_) matrix_->add_workspace(-workspace.bytes());
  if (of_graphs_) matrix_->add_workspace(-of_graphs_->bytes());
}

std::shared_ptr<const TreeProduct> TreeProduct::handle() const {
  return std::make_shared<TreeProduct>(entry_, matrix_, device_);
}

Offset TreeProduct::partials() const {
  const detail::Tree& tree = matrix_->matrix().tree();
  const bool is_transposed = entry_.form != detail::TreeForm::direct;
  return tree.leaf.blocks_of(is_transposed ? tree.columns : tree.rows);
}

void check_tree_operand(const void* data, bool is_aos, const char* name, const Stream& stream) {
  if (!is_aos) {
    throw Error(ErrorKind::size_mismatch,
                std::string(name) +
                    " is not AoS, which a tree needs; `permute` copies it into a field that is");
  }
  check_kernel_operand(data, name, stream);
}

TreeProduct::Workspace TreeProduct::make_workspace() const {
  const bool is_transposed = entry_.form != detail::TreeForm::direct;
  const TreePieces& pieces = matrix_->schedule(is_transposed).cut;
  const auto scalars =
      static_cast<std::size_t>(pieces.places) * static_cast<std::size_t>(entry_.row_components);
  Workspace workspace{Array<double>(scalars << matrix_->matrix().tree().leaf.log2_size, device_),
                      Array<unsigned>(static_cast<std::size_t>(pieces.counters), device_)};
  matrix_->add_workspace(workspace.bytes());
  device_.synchronize();  // a launch may be on another stream
  return workspace;
}

const TreeProduct::Workspace& TreeProduct::workspace_on(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  if (is_being_captured(stream)) {
    if (!of_graphs_) refuse_capture();
    return *of_graphs_;
  }
  if (!of_graphs_) of_graphs_ = make_workspace();
  auto found = workspaces_.find(stream.queue);
  if (found == workspaces_.end()) found = workspaces_.emplace(stream.queue, make_workspace()).first;
  return found->second;
}

TreeProgram TreeProduct::program_of(device::Epilogue epilogue) const {
  const detail::Tree& tree = matrix_->matrix().tree();
  // Quaternions and larger rows of y need few warps if many blocks of threads run.
  constexpr Offset many_blocks = 1024;
  constexpr int large_row = 4;
  const bool is_large = entry_.row_components >= large_row && partials() >= many_blocks;
  const int warps = tree.launch.warps > 0 ? tree.launch.warps : is_large ? 2 : 0;
  return tree_program(entry_, tree.leaf.log2_size, run_of(tree), epilogue, warps);
}

TreeLaunch TreeProduct::launch_in_full() const {
  const detail::Tree& tree = matrix_->matrix().tree();
  return {run_of(tree), warps_of(program_of(device::store_scaled)), entries_of_piece(tree)};
}

TreeProduct::Loaded TreeProduct::load(device::Epilogue epilogue, const Stream& stream) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kernels_.find(epilogue); found != kernels_.end()) return found->second;
  }
  if (is_being_captured(stream)) refuse_capture();
  const TreeProgram program = program_of(epilogue);
  const Loaded loaded{
      load_kernel(tree_source(program, architecture(stream)), "heddle_tree_product", stream),
      32 * warps_of(program)};
  const std::lock_guard lock(mutex_);
  kernels_.emplace(epilogue, loaded);
  return loaded;
}

template <class T>
void TreeProduct::launch_with(const Call& call, const Stream& stream) const {
  const detail::Tree& tree = matrix_->matrix().tree();
  const bool is_transposed = entry_.form != detail::TreeForm::direct;
  const Workspace& workspace = workspace_on(stream);
  const TreeSchedule& schedule = matrix_->schedule(is_transposed);
  device::TreeArguments<char, T> arguments{};
  arguments.leaves = schedule.cut.leaves.data();
  arguments.pieces = schedule.cut.pieces.data();
  arguments.x = static_cast<const char*>(call.x);
  arguments.y = static_cast<char*>(call.y);
  arguments.with = static_cast<const char*>(call.with);
  arguments.alpha = static_cast<T>(call.alpha);
  arguments.beta = static_cast<T>(call.beta);
  arguments.sums = {call.sums.partials, call.sums.finished};
  arguments.results = call.sums.results;
  arguments.partials = reinterpret_cast<T*>(const_cast<double*>(workspace.partials.data()));
  arguments.arrived = const_cast<unsigned*>(workspace.arrived.data());
  arguments.rows = is_transposed ? tree.columns : tree.rows;
  arguments.columns = is_transposed ? tree.rows : tree.columns;
  arguments.blocks = static_cast<unsigned>(partials());
  const Loaded loaded = load(call.epilogue, stream);
  const LaunchShape shape{.blocks = static_cast<unsigned>(schedule.cut.pieces.size()),
                          .threads = static_cast<unsigned>(loaded.threads)};
  void* pointers[] = {&arguments};
  cuda::launch(static_cast<cudaKernel_t>(loaded.kernel), shape, stream, pointers);
}

void TreeProduct::launch(const Call& call, const Stream& stream) const {
  if (partials() == 0) return;
  // `DeviceSums::results` is null if ranks share the rows.
  if (call.sums.partials != nullptr && call.sums.results == nullptr) {
    throw Error(ErrorKind::usage, "a reduction that joins ranks is used with a matrix of one rank");
  }
  const OnGpu here(stream);
  const bool in_double = entry_.shape.scalar_bytes == 8 || call.epilogue == device::store_residual;
  if (in_double) {
    launch_with<double>(call, stream);
  } else {
    launch_with<float>(call, stream);
  }
}

}  // namespace heddle::cuda
