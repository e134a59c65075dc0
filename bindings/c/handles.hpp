// Contents of the objects of heddle.h.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "guard.hpp"
#include "heddle.h"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/tuning/profile.hpp"
#include "heddle/user_order_preconditioner.hpp"
#include "named_entry.hpp"

namespace heddle::c {

/// A template over S in either precision.
template <template <class> class T>
using InEither = std::variant<T<float>, T<double>>;
template <class S>
using SharedPreconditioner = std::shared_ptr<Preconditioner<S>>;

template <class S>
using OnVectors = std::unique_ptr<UserOrderPreconditioner<S>>;

class RanksInReach;

struct OperatorParts {
  std::shared_ptr<std::pmr::memory_resource> memory;  // the caller's, or null; it outlives the rest
  AnyLinearOperator matrix;
  NamedEntry entry;                                        // `matrix`'s
  std::optional<AnyOperator> stored;                       // in sliced storage
  std::shared_ptr<const OperatorParts> made_of = nullptr;  // set for an adjoint or a shifted one
  double shift = 0;                                        // total relative to the original matrix
  /// For a tree: makes an edited one that shares its nodes.
  std::function<std::shared_ptr<OperatorParts>(const heddle_edits&)> edited = {};
  /// For an operator whose rows several ranks share; else null and empty.
  std::shared_ptr<RanksInReach> ranks = nullptr;
  std::function<void(const heddle_view&)> update = {};
  std::function<void(std::int64_t*)> rows_of_rank = {};
  std::optional<std::int64_t> rows_of_all = std::nullopt;  // total of all ranks

  Device device() const {
    return matrix.visit([](const auto& A) { return A->device(); });
  }
  Precision precision() const {
    return matrix.visit([]<class S>(const std::shared_ptr<const LinearOperator<S>>&) {
      return sizeof(S) == sizeof(float) ? Precision::single_precision : Precision::double_precision;
    });
  }
};

/// Set while one thread is at work.
using WorkFlag = std::shared_ptr<std::atomic_flag>;

struct PreconditionerParts {
  InEither<SharedPreconditioner> made;
  std::optional<ComposedChoice> choice = std::nullopt;  // set if made from its text
  WorkFlag at_work = std::make_shared<std::atomic_flag>();
};

}  // namespace heddle::c

struct heddle_context {
  heddle::c::SharedMessages messages = std::make_shared<heddle::c::Messages>();
  heddle::c::Definitions definitions;
};

struct heddle_settings {
  heddle::c::SharedMessages messages;
  heddle::Settings named = {};
  // Pointers, which have no text; null or empty unless they were given.
  heddle_observer observer = nullptr;
  void* observer_user = nullptr;
  heddle_tune_observer tune_observer = nullptr;
  void* tune_observer_user = nullptr;
  void* stream = nullptr;
  std::optional<heddle_allocator> allocator = std::nullopt;
  const double* coordinates = nullptr;
  std::vector<heddle_view> candidates = {};
};

struct heddle_matrix {
  heddle::c::SharedMessages messages;
  heddle::AnyMatrix matrix;
  heddle::c::NamedEntry entry;  // `matrix`'s
};

struct heddle_operator {
  heddle::c::SharedMessages messages;
  std::shared_ptr<heddle::c::OperatorParts> parts;
};

struct heddle_preconditioner {
  heddle::c::SharedMessages messages;
  std::shared_ptr<const heddle::c::OperatorParts> of;
  heddle::c::PreconditionerParts parts;
  /// For calls outside of solvers; made at the first of them.
  heddle::c::InEither<heddle::c::OnVectors> on_vectors = {}, adjoint_on_vectors = {};
};

struct heddle_profile {
  heddle::c::SharedMessages messages;
  heddle::Profile profile;
  std::string source;  // for messages
};

struct heddle_solver {
  heddle::c::SharedMessages messages;
  std::shared_ptr<const heddle::c::OperatorParts> of;
  std::shared_ptr<const heddle::c::OperatorParts> preconditioner_of;  // null for none
  heddle::c::WorkFlag preconditioner_at_work;                         // null for none
  heddle::AnySolver solver;
  /// The caller's observer, which the solver uses except while it enqueues; null for none.
  std::function<bool(const heddle::SolveProgress&)> observer;
  std::vector<heddle::Report> last = {};  // for each system of the last solve
  /// Report of enqueued solves for which the caller passes none, in pinned memory. Its status is
  /// below 0 until such a solve has ended, and again after a `solve`. Null before the first one.
  std::shared_ptr<heddle::DeviceReport> own_report = nullptr;
  bool was_enqueued = false;  // or an attempt was made, and the GPU may be at work
  bool has_enqueued = false;  // a solve was enqueued
  /// The history of the last enqueued solve that was waited for.
  std::optional<std::vector<double>> enqueued_history = std::nullopt;
  mutable std::atomic_flag at_work = ATOMIC_FLAG_INIT;
};

struct heddle_least_squares {
  heddle::c::SharedMessages messages;
  std::shared_ptr<const heddle::c::OperatorParts> of;
  heddle::AnyLeastSquares solver;
  std::atomic_flag at_work = ATOMIC_FLAG_INIT;
};
