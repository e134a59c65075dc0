// The interface that a solver needs of a preconditioner M^-1. It acts from the left on entries, in
// the operator's basis, and is linear over the coefficients that the solver uses.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "heddle/detail/workspace.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

/// When an enqueued solve on a GPU renews its preconditioner: at each launch of its graph, or when
/// `enqueue` or `prepare_enqueue` is called outside a capture and the matrix has new values. The
/// latter waits for the stream, and throws `Error` (singular) where the preconditioner cannot be
/// made; a graph that is captured or launched later keeps the inverses.
enum class Refresh { each_launch, each_call };

namespace cuda {
class RowPreconditioner;
}

/// Returns true if a solve lets its preconditioner continue, after `iterations` iterations of an
/// application.
using InnerWatch = std::function<bool(long long iterations)>;

/// The fields that a preconditioner was made for.
struct FieldShape {
  Index rows = 0;
  int components = 1;
  std::shared_ptr<const Basis> basis = nullptr;       // null: the user's order
  std::optional<VectorLayout> layout = std::nullopt;  // none: any layout
  std::optional<int> gpu = std::nullopt;              // CUDA's number, -1 the CPU; none: anywhere
};

template <class S>
class HEDDLE_EXPORT Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// A solver refuses a preconditioner whose fields are not its operator's. None: it takes any
  /// field, and `apply` must check.
  virtual std::optional<FieldShape> shape() const { return std::nullopt; }

  /// z = M^-1 r; r and z do not overlap.
  virtual void apply(const FieldView<const S>& r, const FieldView<S>& z,
                     const Stream& stream) const = 0;

  /// Called at the start of every solve: everything that depends on the matrix's values is renewed
  /// if they changed. May throw, e.g. for a number that is not finite.
  virtual void refresh() {}

  /// Set at the start of every solve by a method that takes varying preconditioners, and removed
  /// (null) at its end. A preconditioner that iterates calls it after each iteration, and ends if
  /// the answer is false: the solve has no time left, or was cancelled.
  virtual void set_watch(const InnerWatch* watch) { (void)watch; }

  /// Memory that it has yet to allocate on the operator's device: a solver counts it before it
  /// allocates anything itself.
  virtual Workspace workspace() const { return {}; }

  /// True if M^-1 is the same map in every application of a solve.
  virtual bool is_constant() const { return true; }
  /// False if M^-1 is not Hermitian though the operator is.
  virtual bool is_hermitian() const { return true; }
  /// False if M^-1 is not complex symmetric though the operator is.
  virtual bool is_symmetric() const { return true; }

  /// True if `apply` only queues work on the stream that it is given, which need not be the
  /// device's, and the same work each time: kernels, copies and fills, on memory that stays in
  /// place though `refresh` may change its contents. It allocates nothing, waits for nothing, and
  /// uses no number on the host that may change. Then loops that live on a GPU record it in their
  /// graph; otherwise the host drives them.
  virtual bool is_capturable() const { return false; }

  /// Bytes that one application moves beyond r and z, for models.
  virtual long long bytes_of_application() const { return 0; }

  /// True if `queue_refresh` does the work of `refresh` in stream order, on a stream like that of
  /// `apply`: each enqueued solve then begins with it, and does not call `refresh`.
  virtual bool refreshes_in_graph() const { return false; }
  /// True if a caller may queue it for a step of its own, though solves do not begin with it.
  virtual bool can_queue_refresh() const { return refreshes_in_graph(); }
  /// Lowers `*singular_row`, on the device, to the first row, in the user's order, for which M^-1
  /// does not exist: the solve then ends as a breakdown.
  virtual void queue_refresh(Index* singular_row, const Stream& stream) {
    (void)singular_row, (void)stream;
  }

  /// For a capturable preconditioner on a GPU that acts by rows: the kernel text with which loops
  /// that live there merge an update and the preconditioner into one kernel. Null for any other.
  virtual const cuda::RowPreconditioner* rows_on_gpu() const { return nullptr; }

  /// True if a row of z depends on that row of r alone: `apply_rows` then does part of the work,
  /// and solvers on a CPU call it in their own pass over r.
  virtual bool acts_by_rows() const { return false; }
  /// z = M^-1 r in the rows [begin, end) of the operator's basis, by one thread of several.
  virtual void apply_rows(const FieldView<const S>& r, const FieldView<S>& z, Index begin,
                          Index end) const {
    (void)r, (void)z, (void)begin, (void)end;
  }
};

namespace detail {

/// Throws `Error` (size_mismatch) that names `what`, unless `field` has the rows, components and
/// basis that `what` was made for.
template <class S>
void check_operand(const FieldView<S>& field, Index rows, int components, const Basis& basis,
                   const char* what) {
  field.check();
  if (field.size != rows || field.components != components) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + " of " + std::to_string(rows) + " rows of " +
                    std::to_string(components) + " components is used with a field of " +
                    std::to_string(field.size) + " of " + std::to_string(field.components));
  }
  if (field.basis ? !same_basis(*field.basis, basis) : !basis.is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": the field is in another basis; `permute` takes it there");
  }
}

}  // namespace detail

}  // namespace heddle
