// What a solver asks of a preconditioner M^-1. It acts from the left on entries, in the operator's
// basis, and is linear over the coefficients that the solver uses.
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
/// `enqueue` or `prepare_enqueue` is called outside a capture and the matrix has new values. That
/// waits for the stream, and throws `Error` (singular) for a diagonal without inverse; a graph that
/// is captured or launched later keeps the inverses.
enum class Refresh { each_launch, each_call };

namespace cuda {
class RowPreconditioner;
}

/// Whether a solve lets its preconditioner go on, after so many iterations of an application.
using InnerWatch = std::function<bool(long long iterations)>;

/// The fields that a preconditioner was made for.
struct FieldShape {
  Index rows = 0;
  int components = 1;
  std::shared_ptr<const Basis> basis = nullptr;       // null: the user's order
  std::optional<VectorLayout> layout = std::nullopt;  // none: of any layout
  std::optional<int> gpu = std::nullopt;              // CUDA's number, -1 the CPU; none: anywhere
};

template <class S>
class HEDDLE_EXPORT Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// A solver refuses one whose fields are not its operator's; none: it takes any, and `apply` has
  /// to know.
  virtual std::optional<FieldShape> shape() const { return std::nullopt; }

  /// z = M^-1 r; r and z do not overlap.
  virtual void apply(const FieldView<const S>& r, const FieldView<S>& z,
                     const Stream& stream) const = 0;

  /// Called at the start of every solve: what depends on the matrix's values is renewed if they
  /// changed. May throw, e.g. for a singular diagonal entry.
  virtual void refresh() {}

  /// Given at the start of every solve by a method that takes varying preconditioners, and taken
  /// away (null) at its end. One that iterates asks it after each iteration, and ends where the
  /// answer is false: the solve has no time left, or was cancelled.
  virtual void set_watch(const InnerWatch* watch) { (void)watch; }

  /// Memory that it has yet to allocate on the operator's device: a solver counts it before it
  /// allocates anything itself.
  virtual Workspace workspace() const { return {}; }

  /// Whether M^-1 is the same map in every application of a solve.
  virtual bool is_constant() const { return true; }
  /// False where M^-1 is not Hermitian though the operator is.
  virtual bool is_hermitian() const { return true; }
  /// False where M^-1 is not complex symmetric though the operator is.
  virtual bool is_symmetric() const { return true; }

  /// Whether `apply` only queues work on the stream that it is given, which need not be the
  /// device's, and the same each time: kernels, copies and fills, on memory that stays where it is
  /// though `refresh` may change what is in it. It allocates nothing, waits for nothing, and uses
  /// no number of the host that may change. Then loops that live on a GPU record it in their graph;
  /// otherwise the host drives them.
  virtual bool is_capturable() const { return false; }

  /// Bytes that one application moves beyond r and z, for models.
  virtual long long bytes_of_application() const { return 0; }

  /// Whether `queue_refresh` does the work of `refresh` in stream order, on a stream as `apply`
  /// gets it: each enqueued solve then begins with that, and nobody calls `refresh` for it.
  virtual bool refreshes_in_graph() const { return false; }
  /// Lowers `*singular_row`, on the device, to the first row, in the user's order, that leaves no
  /// M^-1: the solve then ends as a breakdown.
  virtual void queue_refresh(Index* singular_row, const Stream& stream) {
    (void)singular_row, (void)stream;
  }

  /// Of one that is capturable, on a GPU, and acts by rows: the kernel text with which loops that
  /// live there make an update and it one kernel. Null for any other.
  virtual const cuda::RowPreconditioner* rows_on_gpu() const { return nullptr; }

  /// Whether a row of z depends on that row of r alone: `apply_rows` then does part of the work,
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
/// basis that it was made for.
template <class S>
void check_operand(const FieldView<S>& field, Index rows, int components, const Basis& basis,
                   const char* what) {
  field.check();
  if (field.size != rows || field.components != components) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + " of " + std::to_string(rows) + " rows of " +
                    std::to_string(components) + " components meets a field of " +
                    std::to_string(field.size) + " of " + std::to_string(field.components));
  }
  if (field.basis ? !same_basis(*field.basis, basis) : !basis.is_natural()) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + ": the field is in another basis; `permute` takes it there");
  }
}

}  // namespace detail

}  // namespace heddle
