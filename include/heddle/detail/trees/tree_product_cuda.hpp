// Products of a tree on a GPU: its pools and schedules lie there, and a program is written for
// exactly one entry, size of nodes and form, and compiled when it is first needed.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"
#include "heddle/kernels/trees/tree_form.hpp"

namespace heddle::cuda {

struct TreeSchedule;
struct TreeProgram;

/// `Product::check_operand` for products of trees on the stream's GPU.
HEDDLE_EXPORT void check_tree_operand(const void* data, bool is_aos, const char* name,
                                      const Stream& stream);

/// A tree in a GPU's memory. Pools are shared with other trees there.
class HEDDLE_EXPORT TreeOnGpu {
 public:
  TreeOnGpu(std::shared_ptr<const detail::ScheduledTree> matrix, const Device& device);
  ~TreeOnGpu();
  TreeOnGpu(const TreeOnGpu&) = delete;
  TreeOnGpu& operator=(const TreeOnGpu&) = delete;

  /// By block rows for A x, or by block columns; the GPU makes it at the first request.
  const TreeSchedule& schedule(bool by_columns) const;
  /// Bytes of a schedule, 0 before it is requested.
  long long bytes_of_schedule(bool by_columns) const;
  /// Bytes in which products of this tree keep sums on the GPU, as long as they are not given back.
  long long bytes_of_workspaces() const { return workspaces_; }
  void add_workspace(long long bytes) const { workspaces_ += bytes; }

  const detail::ScheduledTree& matrix() const { return *matrix_; }
  const Device& device() const { return device_; }
  /// Addresses of the pools on the GPU.
  std::span<const unsigned long long> addresses() const { return addresses_; }

 private:
  std::shared_ptr<const detail::ScheduledTree> matrix_;
  Device device_;
  std::vector<std::shared_ptr<const Array<std::byte>>> pools_;
  std::vector<unsigned long long> addresses_;  // one for each pool
  mutable std::mutex making_;
  mutable std::array<std::shared_ptr<const TreeSchedule>, 2> schedules_;
  mutable std::atomic<long long> workspaces_ = 0;
};

/// An entry and a form, for code that does not know their types.
struct HEDDLE_EXPORT TreeEntry {
  EntryText text;   // for products
  EntryText exact;  // for residuals: the same entry computing in double
  EntryShape shape;
  detail::TreeForm form = detail::TreeForm::direct;
  int row_components = 1;  // in y, in this form
};

/// May be used from several threads at once. Work that it queues on one stream uses that stream's
/// memory; all graphs that hold its products share theirs, and do not run at the same time.
class HEDDLE_EXPORT TreeProduct {
 public:
  /// Throws `Error` (unsupported) for entries without text, or whose sums over a block of y exceed
  /// the memory of a multiprocessor.
  TreeProduct(TreeEntry entry, std::shared_ptr<const TreeOnGpu> matrix, const Device& device);
  ~TreeProduct();
  /// The same product, for another user, with memory of its own.
  std::shared_ptr<const TreeProduct> handle() const;

  struct Call {
    device::Epilogue epilogue = device::store_scaled;  // or store_and_dot, store_residual
    const void* x = nullptr;                           // AoS, as `check_tree_operand` requires
    void* y = nullptr;
    const void* with = nullptr;  // the epilogue's operand
    double alpha = 1;
    double beta = 0;
    DeviceSums sums = {};  // with room for `partials()`
  };
  void launch(const Call& call, const Stream& stream) const;

  /// The tree's own launch, completed by the rule.
  TreeLaunch launch_in_full() const;
  /// The partial sums that a launch leaves.
  Offset partials() const;

  const std::shared_ptr<const TreeOnGpu>& matrix() const { return matrix_; }

 private:
  /// Where the pieces of a block of y leave their sums, and counters that are 0 between launches.
  struct Workspace {
    Array<double> partials;
    Array<unsigned> arrived;

    long long bytes() const {
      return static_cast<long long>(partials.size() * sizeof(double) +
                                    arrived.size() * sizeof(unsigned));
    }
  };
  struct Loaded {
    void* kernel;
    int threads;  // in a block
  };

  Workspace make_workspace() const;
  const Workspace& workspace_on(const Stream& stream) const;
  TreeProgram program_of(device::Epilogue epilogue) const;
  Loaded load(device::Epilogue epilogue, const Stream& stream) const;
  template <class T>
  void launch_with(const Call& call, const Stream& stream) const;

  TreeEntry entry_;
  std::shared_ptr<const TreeOnGpu> matrix_;
  Device device_;
  mutable std::mutex mutex_;
  mutable std::map<device::Epilogue, Loaded> kernels_;
  mutable std::map<CUstream_st*, Workspace> workspaces_;
  mutable std::optional<Workspace> of_graphs_;
};

}  // namespace heddle::cuda
