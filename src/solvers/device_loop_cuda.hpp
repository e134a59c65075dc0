// A method that lives on a GPU: its listing as kernels, which a graph repeats or the host launches
// one by one.
#pragma once

#include <memory>
#include <vector>

#include "heddle/detail/basis_room.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/detail/run.hpp"
#include "heddle/detail/workspace.hpp"
#include "heddle/linear_operator.hpp"
#include "loop_preconditioner.hpp"

namespace heddle::cuda {

/// What a loop is made of.
template <class S>
struct DeviceLoopParts {
  detail::MethodProgram program;
  const LinearOperator<S>* matrix = nullptr;
  LoopPreconditioner<S> preconditioner;
  std::vector<FieldView<S>> work;   // the method's vectors behind x and r
  detail::BasisRoom<S> basis;       // of a method that keeps one
  LoopForm form = LoopForm::graph;  // stepped, graph or replay
  Device device;
};

template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_device_loop(DeviceLoopParts<S> parts);

/// What that will allocate; `joins`: its preconditioner acts by rows; `most_basis`: vectors of its
/// basis, or 0.
template <class S>
Workspace workspace_of_device_loop(const detail::MethodProgram& program,
                                   const LinearOperator<S>& matrix, bool joins, int most_basis);

}  // namespace heddle::cuda
