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
  const Product* product;         // the step walks in its layout
  const RowPreconditioner* rows;  // for its rows if they are smoothed; else null
  int level;                      // the finer of the levels that the step works on
  bool multiplies;                // true if it multiplies by `product`
};

/// Lists the cycle of docs/guide/multigrid.md. r and z of the finest level are left to `fill_in`.
class CycleSteps {
 public:
  CycleSteps(std::span<const CycleLevel> levels, const Device& device);

  const std::vector<PlacedStep>& steps() const { return steps_; }
  long long bytes_besides_products() const { return traffic_; }

 private:
  /// The residual that a smoother begins with: r - A x, r alone if x is null, or r from a product.
  struct Start {
    const void* x;
    const void* with;
    PlacedStep* by;  // a step whose v is r, to be completed; null: a separate step
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
