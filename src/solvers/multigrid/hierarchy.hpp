// The levels of a multigrid and their cycle.
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "heddle/config.hpp"
#include "hierarchy_cuda.hpp"
#include "hierarchy_setup.hpp"

namespace heddle::detail {

/// The levels as a preconditioner of the matrix, whose fields have scalars S.
template <class S>
class Levels {
 public:
  Levels() = default;
  Levels(const Levels&) = delete;
  Levels& operator=(const Levels&) = delete;
  virtual ~Levels() = default;

  virtual void refresh() = 0;
  /// True if `queue_refresh` queues the new values on the matrix's stream, without the host.
  virtual bool can_queue_refresh() const { return false; }
  virtual void queue_refresh() {}
  virtual const Preconditioner<S>& cycle() const = 0;
  virtual const SlicedOperator<S>& matrix() const = 0;
  virtual MultigridReport report() const = 0;
};

template <class S>
class Hierarchy final : public Levels<S> {
 public:
  Hierarchy(const SlicedOperator<S>& matrix, const MultigridOptions& options,
            std::span<const FieldView<const S>> candidates)
      : Hierarchy(matrix, matrix, options, candidates) {}
  /// `source`: the original that `matrix` copies, on the same pattern, or `matrix` itself. Levels
  /// are computed from its values, which the caller brings to the copy before each `refresh`.
  template <class T>
  Hierarchy(const SlicedOperator<S>& matrix, const SlicedOperator<T>& source,
            const MultigridOptions& options, std::span<const FieldView<const T>> candidates)
      : setup_({matrix, source}, options, candidates.size()) {
    auto begin = std::chrono::steady_clock::now();
    if constexpr (has_cuda) is_refreshed_on_gpu_ = on_gpu_.set_up(source, candidates);
    if (!is_refreshed_on_gpu_) {
      UnsetArray<double> tiles = read_candidates(
          source, candidates, setup_.operators().entries().candidates(), setup_.host().stream());
      begin = std::chrono::steady_clock::now();
      setup_.compute(&tiles);
    }
    finish(begin);
    cycle_ = make_cycle();
  }

  /// Refreshes on the GPU where possible and where that leaves no doubt; else on the CPU, which
  /// words any refusal.
  void refresh() override;
  bool can_queue_refresh() const override {
    if constexpr (has_cuda) return on_gpu_.can_queue();
    return false;
  }
  void queue_refresh() override {
    if constexpr (has_cuda) on_gpu_.queue();
  }
  const Preconditioner<S>& cycle() const override { return *cycle_; }
  const SlicedOperator<S>& matrix() const override { return setup_.finest().matrix(); }
  MultigridReport report() const override;
  const LevelList<S>& levels() const { return setup_.levels(); }

 private:
  std::shared_ptr<Preconditioner<S>> make_cycle();
  void finish(std::chrono::steady_clock::time_point begin);

  HierarchySetup<S> setup_;
  std::shared_ptr<Preconditioner<S>> cycle_;
  HierarchyOnGpu<S> on_gpu_{setup_};
  bool is_refreshed_on_gpu_ = false;
  long long generation_ = -1;
  double setup_seconds_ = 0;
};

}  // namespace heddle::detail
