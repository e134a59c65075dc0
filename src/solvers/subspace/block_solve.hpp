// The loop that a solver of several right-hand sides owns, whatever its ring.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"

namespace heddle::detail {

template <class S>
struct BlockSystem {
  OperatorReference<S> matrix;
  std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  SolverOptions options;
};

/// See `BlockConjugateGradient`, which owns it.
template <class S>
class BlockSolve {
 public:
  explicit BlockSolve(BlockSystem<S> system) : system_(std::move(system)) {}
  virtual ~BlockSolve() = default;

  /// Number of columns that there is room for.
  virtual int columns() const = 0;
  /// Makes room for `columns` columns, in place of the previous room.
  virtual void reserve(int columns) = 0;
  /// Solves for at most as many columns as there is room for.
  virtual std::vector<Report> solve(std::span<const FieldView<const S>> b,
                                    std::span<const FieldView<S>> x) = 0;

  const BlockSystem<S>& system() const { return system_; }
  void set_options(SolverOptions options) { system_.options = std::move(options); }

  std::vector<std::vector<double>> history;  // for each column
  long long memory = 0;

 private:
  BlockSystem<S> system_;
};

}  // namespace heddle::detail
