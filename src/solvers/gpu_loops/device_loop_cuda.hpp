// A method that lives on a GPU: its listing as kernels, which a graph repeats or the host launches
// one by one.
#pragma once

#include <memory>
#include <vector>

#include "heddle/detail/loop_parts.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/detail/workspace.hpp"
#include "heddle/linear_operator.hpp"
#include "loop_preconditioner.hpp"

namespace heddle::cuda {

/// The parts of a loop.
template <class S>
struct DeviceLoopParts {
  detail::MethodProgram program;
  const LinearOperator<S>* matrix = nullptr;
  LoopPreconditioner<S> preconditioner;
  std::vector<detail::LoopVectors<S>> systems;  // side by side; one for a method with a basis
  LoopForm form = LoopForm::graph;              // stepped, graph or replay
  Device device;
};

template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_device_loop(DeviceLoopParts<S> parts);

/// The memory that the loop will allocate for `systems` systems. `joins`: its preconditioner acts
/// by rows; `max_basis`: vectors of its basis, or 0.
template <class S>
Workspace workspace_of_device_loop(const detail::MethodProgram& program,
                                   const LinearOperator<S>& matrix, bool joins, int max_basis,
                                   std::size_t systems);

}  // namespace heddle::cuda
