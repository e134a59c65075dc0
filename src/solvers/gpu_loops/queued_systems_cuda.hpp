// The systems that a loop on a GPU queues work for, side by side, and the arguments of their
// kernels.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "heddle/detail/loop_parts.hpp"
#include "heddle/kernels/step_arguments.hpp"
#include "heddle/methods/listing.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

/// Progress of the queueing. `stride`: doubles from the sums of a system to those of the next.
template <class S>
struct QueuedSystems {
  using Vectors = std::array<FieldView<S>, methods::max_vectors>;
  std::array<Vectors, device::max_operands> v;
  std::size_t count = 0;
  Offset stride = 0;
  device::LoopState* states = nullptr;
  int side = 0;          // side of the states that was written last
  int turn = 0;          // turn of places: parity of the iteration's number
  bool is_first = true;  // the next kernel has none before it that it could overlap

  /// `vectors`: those of the places.
  void begin(std::span<const detail::RunOf<S>> systems,
             const std::vector<detail::LoopVectors<S>>& vectors, device::LoopState* of_systems,
             Offset doubles) {
    *this = {};
    for (const detail::RunOf<S>& system : systems) {
      const std::vector<FieldView<S>>& work = vectors[static_cast<std::size_t>(system.place)].work;
      Vectors& own = v[count++];
      own[0] = system.x;
      own[1] = system.r;
      std::copy(work.begin(), work.end(), own.begin() + 2);
    }
    states = of_systems;
    stride = doubles;
  }

  FieldView<S>& field(int k, std::size_t system = 0) {
    return v[system][static_cast<std::size_t>(k)];
  }
  template <class T>
  T* of_system(T* sums, std::size_t system) const {
    return sums == nullptr ? nullptr : sums + static_cast<Offset>(system) * stride;
  }

  /// Arguments of a system, from those of the first one.
  device::StepArguments of_system(device::StepArguments arguments, std::size_t system) const {
    arguments.state = states + system;
    arguments.partials = of_system(arguments.partials, system);
    for (device::PartialSums& sums : arguments.before) {
      sums.partials = of_system(sums.partials, system);
    }
    for (std::size_t k = 0; k < v[system].size(); ++k) arguments.vector[k] = v[system][k].data;
    return arguments;
  }
  /// Operands of the product at step i, whose sums for the first system go to `partials`.
  device::ProductOperands operands_of(const methods::Facts& facts, int i, double* partials,
                                      std::size_t system) {
    const methods::StepFacts& step = facts.step[i];
    device::ProductOperands operands{};
    operands.x = field(step.in, system).data;
    operands.y = field(step.out, system).data;
    if (step.sums > 0) {
      const methods::SumFacts& sum = facts.sum[step.first_sum];
      operands.with = field(sum.left == step.out ? sum.right : sum.left, system).data;
    }
    operands.partials = of_system(partials, system);
    operands.state = states + system;
    return operands;
  }

  /// Launches with `arguments(k)` for each system. If sums of ranks are joined, every block joins
  /// them, so there are no more blocks than run at once.
  template <class Arguments, class OfSystem>
  void launch(cudaKernel_t kernel, LaunchShape shape, const OfSystem& arguments,
              const Stream& stream) const {
    device::OfSystems<Arguments, device::max_operands> all;
    for (std::size_t k = 0; k < count; ++k) all.of[k] = arguments(k);
    void* pointers[] = {&all};
    shape.systems = static_cast<unsigned>(count);
    shape.resident = joins_ranks(all.of[0]);
    cuda::launch(kernel, shape, stream, pointers);
  }

 private:
  static bool joins_ranks(const device::StepArguments& a) { return a.ranks.group_at != nullptr; }
  static bool joins_ranks(const device::PreconditionedStepArguments& a) {
    return joins_ranks(a.step);
  }
};

}  // namespace heddle::cuda
