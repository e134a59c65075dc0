// What stands behind the objects of heddle.h.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <variant>

#include "guard.hpp"
#include "heddle.h"
#include "heddle/krylov_solver.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::c {

/// One that S chooses, of either precision.
template <template <class> class T>
using InEither = std::variant<T<float>, T<double>>;
template <class S>
using SharedPreconditioner = std::shared_ptr<Preconditioner<S>>;
template <class S>
using OwnedSolver = std::unique_ptr<KrylovSolver<S>>;

struct OperatorParts {
  AnyLinearOperator matrix;
  std::optional<AnyOperator> stored;  // in sliced storage
  std::shared_ptr<const OperatorParts> adjoint_of = nullptr;

  EntryKind kind() const { return matrix.entry().kind(); }
  bool on_gpu() const {
    return matrix.visit([](const auto& A) { return A->device().on_gpu(); });
  }
};

/// At work in one thread.
using WorkFlag = std::shared_ptr<std::atomic_flag>;

struct PreconditionerParts {
  InEither<SharedPreconditioner> made;
  WorkFlag at_work = std::make_shared<std::atomic_flag>();
};

}  // namespace heddle::c

struct heddle_context {
  heddle::c::SharedMessages messages = std::make_shared<heddle::c::Messages>();
};

struct heddle_matrix {
  heddle::c::SharedMessages messages;
  heddle::AnyMatrix matrix;
};

struct heddle_operator {
  heddle::c::SharedMessages messages;
  std::shared_ptr<heddle::c::OperatorParts> parts;
};

struct heddle_preconditioner {
  heddle::c::SharedMessages messages;
  std::shared_ptr<const heddle::c::OperatorParts> of;
  heddle::c::PreconditionerParts parts;
};

struct heddle_solver {
  heddle::c::SharedMessages messages;
  std::shared_ptr<const heddle::c::OperatorParts> of;
  heddle::c::WorkFlag preconditioner_at_work;  // null for none
  heddle::c::InEither<heddle::c::OwnedSolver> solver;
  std::optional<heddle::Report> last = std::nullopt;
  mutable std::atomic_flag at_work = ATOMIC_FLAG_INIT;
};
