// The steps of a V-cycle on a GPU, in their order, and the fields between them.
#pragma once

#include <span>
#include <vector>

#include "cycle_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/kernels/cycle_arguments.hpp"

namespace heddle::cuda {

struct PlacedStep {
  device::CycleStep step;
  const Product* product;         // in whose layout it walks
  const RowPreconditioner* rows;  // of its rows, where they are smoothed; else null
  int level;                      // the finer one of the levels that it works on
  bool multiplies;                // by `product`
};

/// Lists what docs/guide/multigrid.md calls a cycle. r and z of the finest level wait for
/// `fill_in`.
class CycleSteps {
 public:
  CycleSteps(std::span<const CycleLevel> levels, const Device& device);

  const std::vector<PlacedStep>& steps() const { return steps_; }
  long long bytes_beside_products() const { return traffic_; }

 private:
  /// What a smoother begins with: r - A x, or r alone where x is null, or r that a product yields.
  struct Start {
    const void* x;
    const void* with;
    PlacedStep* by;  // a step whose v is r, to be completed; null: a step of its own
  };

  struct Listed;

  void* field(int level);
  PlacedStep& add(int level, const Product& product, const void* x, const void* with, void* y,
                  double sign);
  void smooth_in(PlacedStep& step, const CycleLevel& level, int power);
  void smooth(int l, const Start& start, const void* base, void* out);
  void cycle(int l, const void* r, void* out, PlacedStep* restricted);

  std::vector<CycleLevel> levels_;
  Device device_;
  std::vector<PlacedStep> steps_;
  std::vector<Array<char>> fields_;
  long long traffic_ = 0;
};

}  // namespace heddle::cuda
