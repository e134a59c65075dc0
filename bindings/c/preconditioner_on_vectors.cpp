// Preconditioners of heddle.h that a caller's own loop applies.
#include <memory>
#include <string>
#include <utility>

#include "base/stream_order.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "runtime/adjoint_preconditioner.hpp"
#include "solve_calls.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

template <class S>
using SharedOperator = std::shared_ptr<const LinearOperator<S>>;

Stream stream_of(const heddle_preconditioner& M, void* given) {
  const Stream own = M.of->device().stream();
  auto* const caller = static_cast<CUstream_st*>(given);
  if (caller != nullptr && !own.on_gpu()) {
    throw Error(ErrorKind::usage,
                "a stream belongs to a GPU, but the preconditioner is on the CPU");
  }
  if (caller != nullptr) check_stream(caller, own.gpu);
  return on_stream_of(caller, own);
}

void refuse_ranks(const heddle_preconditioner& M) {
  if (M.of->ranks == nullptr) return;
  throw Error(ErrorKind::unsupported,
              "a preconditioner whose rows ranks share is applied by their solvers alone");
}

/// Calls `f(matrix, made)`.
template <class F>
void with_parts(heddle_preconditioner& M, const F& f) {
  refuse_ranks(M);
  const AtWork here(M.parts.at_work.get(), "preconditioner");
  M.of->matrix.visit([&]<class S>(const SharedOperator<S>& matrix) {
    f(matrix, std::get<SharedPreconditioner<S>>(M.parts.made));
  });
}

/// The wrapper in `held`, which the first call makes of `make()`.
template <class S, class Make>
UserOrderPreconditioner<S>& kept_in(InEither<OnVectors>& held, const SharedOperator<S>& matrix,
                                    const Stream& stream, const Make& make) {
  if (auto* const known = std::get_if<OnVectors<S>>(&held); known != nullptr && *known) {
    return **known;
  }
  if (is_being_captured(stream)) {
    throw Error(ErrorKind::usage, "apply the preconditioner once before the capture");
  }
  return *held.emplace<OnVectors<S>>(
      std::make_unique<UserOrderPreconditioner<S>>(OperatorReference<S>(matrix), make()));
}

template <class S>
void apply(const UserOrderPreconditioner<S>& M, const heddle_preconditioner& handle,
           const heddle_view* r, const heddle_view* z, int components, const Stream& stream) {
  const NamedEntry& entry = handle.of->entry;
  M.apply(field_of<const S>(r, entry, components, stream, "r"),
          field_of<S>(z, entry, components, stream, "z"), stream);
}

}  // namespace

heddle_status heddle_preconditioner_apply(heddle_preconditioner* M, const heddle_view* r,
                                          const heddle_view* z, void* stream) {
  return guarded_by(M, [&] {
    const Stream on = stream_of(*M, stream);
    with_parts(*M, [&]<class S>(const SharedOperator<S>& matrix, const auto& made) {
      const auto& wrapper = kept_in(M->on_vectors, matrix, on, [&] { return made; });
      apply<S>(wrapper, *M, r, z, matrix->row_components(), on);
    });
  });
}

heddle_status heddle_preconditioner_apply_adjoint(heddle_preconditioner* M, const heddle_view* r,
                                                  const heddle_view* z, void* stream) {
  return guarded_by(M, [&] {
    const Stream on = stream_of(*M, stream);
    with_parts(*M, [&]<class S>(const SharedOperator<S>& matrix, const auto& made) {
      const auto& wrapper = kept_in(M->adjoint_on_vectors, matrix, on, [&] {
        if (!M->parts.choice) {
          throw Error(ErrorKind::unsupported, "a preconditioner by callback has no adjoint");
        }
        return adjoint_of<S>(made, OperatorReference<S>(matrix), *M->parts.choice);
      });
      apply<S>(wrapper, *M, r, z, matrix->row_components(), on);
    });
  });
}

heddle_status heddle_preconditioner_update(heddle_preconditioner* M, void* stream) {
  return guarded_by(M, [&] {
    const Stream on = stream_of(*M, stream);
    with_parts(*M, [&]<class S>(const SharedOperator<S>& matrix, const auto& made) {
      kept_in(M->on_vectors, matrix, on, [&] { return made; }).update(on);
      auto* const adjoint = std::get_if<OnVectors<S>>(&M->adjoint_on_vectors);
      if (adjoint == nullptr || !*adjoint || M->parts.choice->is_own_adjoint()) return;
      (*adjoint)->update(on);
    });
  });
}
