#include <mutex>
#include <vector>

#include "base/cuda_call.hpp"
#include "vector_operations_cuda.hpp"

namespace heddle::cuda {

namespace {

struct Kept {
  std::mutex mutex;
  std::vector<double*> sums;
};
/// Never destroyed, because the driver may be gone before the program's last objects.
Kept& kept() {
  static Kept* const kept = new Kept;
  return *kept;
}

}  // namespace

double* take_pinned_sums() {
  {
    const std::lock_guard lock(kept().mutex);
    auto& sums = kept().sums;
    if (!sums.empty()) {
      double* const taken = sums.back();
      sums.pop_back();
      return taken;
    }
  }
  void* data = nullptr;
  check(cudaHostAlloc(&data, detail::pinned_sums * sizeof(double),
                      cudaHostAllocMapped | cudaHostAllocPortable),
        "cudaHostAlloc");
  return static_cast<double*>(data);
}

void give_back_pinned_sums(double* sums) {
  if (sums == nullptr) return;
  const std::lock_guard lock(kept().mutex);
  kept().sums.push_back(sums);
}

}  // namespace heddle::cuda
