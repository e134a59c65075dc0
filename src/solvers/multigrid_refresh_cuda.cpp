// New values of a hierarchy on a GPU.
#include <chrono>

#include "coarse_inverse.hpp"
#include "level_values_cuda.hpp"

namespace heddle::detail {

/// Of what the GPU computes new values in; 0 where the CPU does.
template <class S>
long long Hierarchy<S>::bytes_of_refresh() const {
  const bool is_polynomial =
      options_.smoother == Smoother::chebyshev || options_.smoother == Smoother::jacobi;
  if (!matrix_.device().on_gpu() || !fits_gpu_ || options_.estimates_again || !is_polynomial ||
      matrix_.rows() == 0) {
    return 0;
  }
  const long long bytes = cuda::LevelValues<S>::bytes(rows_, levels_);
  if (on_gpu_) return bytes;
  // A solver has yet to make its fields.
  constexpr long long part_left = 8;
  const long long available = matrix_.device().available_memory();
  return bytes <= available - available / part_left ? bytes : 0;
}

/// False where the CPU has to compute all, or to say what is wrong.
template <class S>
bool Hierarchy<S>::refresh_on_gpu() {
  const auto begin = std::chrono::steady_clock::now();
  is_refreshed_on_gpu_ = false;
  if (!on_gpu_) {
    if (bytes_of_refresh() == 0) return false;
    try {
      on_gpu_ = std::make_shared<cuda::LevelValues<S>>(matrix_, rows_, levels_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      fits_gpu_ = false;
      return false;
    }
  }
  remember_reach();
  on_gpu_->queue(rounding_);
  const bool is_symmetric = is_hermitian();
  if (!on_gpu_->are_good()) {
    on_gpu_->forget_reach();
    return false;
  }
  if (!is_symmetric) check_hermitian();
  if (on_gpu_->brings_coarsest()) solve(*levels_.back());
  is_refreshed_on_gpu_ = true;
  generation_ = matrix_.generation();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  setup_seconds_ = seconds.count();
  return true;
}

#define HEDDLE_MULTIGRID_REFRESH(S)                          \
  template long long Hierarchy<S>::bytes_of_refresh() const; \
  template bool Hierarchy<S>::refresh_on_gpu();
HEDDLE_MULTIGRID_REFRESH(float)
HEDDLE_MULTIGRID_REFRESH(double)
#undef HEDDLE_MULTIGRID_REFRESH

}  // namespace heddle::detail
