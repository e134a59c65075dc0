// The set-up of a multigrid's levels on a GPU, and their new values there.
#pragma once

#include <memory>
#include <span>

#include "hierarchy_setup.hpp"

namespace heddle::cuda {
template <class S>
class LevelValues;
}

namespace heddle::detail {

template <class S>
class HierarchyOnGpu {
 public:
  /// `setup` must outlive it.
  explicit HierarchyOnGpu(HierarchySetup<S>& setup) : setup_(setup) {}

  /// False, without levels, if the CPU has to compute everything, or to report what is wrong.
  template <class T>
  bool set_up(const SlicedOperator<T>& source, std::span<const FieldView<const T>> candidates);
  /// False if the CPU has to compute all new values, or to report what is wrong.
  bool refresh();
  /// Takes the estimates of values that the CPU computed, which a captured `queue` cannot.
  void take_reach();
  /// True if `queue` needs nothing of the host: the last values left the coarsest level to the GPU.
  bool can_queue() const;
  /// Queues all new values on the matrix's stream, which may be captured.
  void queue();
  /// Bytes in which the GPU computes new values; 0 if the CPU does.
  long long bytes() const;

 private:
  template <class T>
  bool read_candidates(const SlicedOperator<T>& source,
                       std::span<const FieldView<const T>> candidates);
  bool make_levels();
  bool extend(Level<S>& level, double strength);
  void solve_coarsest();
  void bring_to_host();

  HierarchySetup<S>& setup_;
  std::shared_ptr<cuda::LevelValues<S>> values_;  // if the GPU computes new values
  bool solves_coarsest_ = false;                  // on the GPU, as the last values were solved
};

}  // namespace heddle::detail
