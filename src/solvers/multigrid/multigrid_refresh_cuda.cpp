// New values of a hierarchy on a GPU.
#include <chrono>

#include "coarse_inverse.hpp"
#include "level_values_cuda.hpp"

namespace heddle::detail {

/// Bytes in which the GPU computes new values; 0 if the CPU does.
template <class S>
long long Hierarchy<S>::bytes_of_refresh() const {
  return on_gpu_ ? on_gpu_->bytes() : 0;
}

/// Brings what a set-up has left on the GPU to the CPU, which computes new values with it.
template <class S>
void Hierarchy<S>::bring_to_host() {
  if (!levels_.front()->matrix.pattern.offsets.empty()) return;
  read_pattern();
  on_gpu_->bring_patterns();
  on_gpu_->bring_reach();
  remembers_reach_ = true;
}

/// False if the CPU has to compute everything, or to report what is wrong.
template <class S>
bool Hierarchy<S>::refresh_on_gpu() {
  const auto begin = std::chrono::steady_clock::now();
  is_refreshed_on_gpu_ = false;
  if (!on_gpu_) return false;
  on_gpu_->queue(rounding_);
  const bool is_symmetric = is_hermitian();
  if (!on_gpu_->are_good()) {
    bring_to_host();
    on_gpu_->forget_reach();
    return false;
  }
  if (!is_symmetric) check_hermitian();
  if (on_gpu_->brings_coarsest()) solve(*levels_.back());
  is_refreshed_on_gpu_ = true;
  generation_ = of_source([](const auto& source) { return source.generation(); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
  return true;
}

#define HEDDLE_MULTIGRID_REFRESH(S)                          \
  template void Hierarchy<S>::bring_to_host();               \
  template long long Hierarchy<S>::bytes_of_refresh() const; \
  template bool Hierarchy<S>::refresh_on_gpu();
HEDDLE_MULTIGRID_REFRESH(float)
HEDDLE_MULTIGRID_REFRESH(double)
#undef HEDDLE_MULTIGRID_REFRESH

}  // namespace heddle::detail
