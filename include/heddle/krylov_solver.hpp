// The common part of the Krylov solvers: bringing a system into the operator's basis, workspace
// that is allocated once, stopping, the true residual, and the report. The method of a solver is a
// listing, see methods/.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"
#include "heddle/system_solver.hpp"

namespace heddle {

namespace detail {
template <class S>
struct KrylovParts;
template <class S>
struct MethodOver;
}  // namespace detail

/// A solver object serves one thread at a time. It keeps a handle of an `Operator<E>`, anything
/// that it was given to own, and a reference to any other operator, which must outlive it.
template <class S>
class HEDDLE_EXPORT KrylovSolver : public SystemSolver<S> {
 public:
  ~KrylovSolver() override;

  /// Solves A x = b from the guess in x; b is not modified, and shares no memory with x. Fields may
  /// be in the user's order or in the operator's basis; for an operator on a GPU they may be in the
  /// GPU's memory or the host's. Throws `Error` for fields that do not fit and for anything that
  /// the preconditioner refuses; events during the iterations are reported as the status. If a
  /// limit or the caller ended the solve, x is then the last iterate, unless the options ask for
  /// the best. The best is whichever has the smallest true residual among the last iterate, one
  /// kept at an earlier tenfold drop of the residual, one that a restart began from, and the guess;
  /// loops that live on a GPU keep none at tenfold drops. If the recurrence failed, x is the best
  /// in any case. The residual is that of the returned x; if its scalars overflow, x is zero
  /// (`out_of_range`). The second and later solves allocate nothing.
  Report solve(const FieldView<const S>& b, const FieldView<S>& x) override;

  /// Solves several systems with this matrix, each from its own guess, `systems_at_once` side by
  /// side: products read the matrix once for all of these. Each system ends independently, with the
  /// x and the report that it would have alone, except for times; the bytes of an iteration count
  /// its share of the matrix. No x shares memory with another field. Room for the systems beyond
  /// the first, as much for each as it needs alone, is allocated by the first solve that needs it;
  /// `Error` (memory) is thrown before that solve begins.
  std::vector<Report> solve(std::span<const FieldView<const S>> b,
                            std::span<const FieldView<S>> x) override;

  /// The number out of `systems` systems that `solve` takes together: up to 8. It is one for
  /// methods that keep a basis, if ranks share the rows, and where solving together is no faster:
  /// under `loop=persistent`, and for two systems on a GPU.
  std::size_t systems_at_once(std::size_t systems) const;

  /// The same solve in stream order, for an operator on a GPU under `loop=graph` or `persistent`,
  /// or one that only queues work (`LinearOperator::is_capturable`). It is queued as one graph,
  /// without waiting and, except for the first call, without allocating. b and x lie in the GPU's
  /// memory, `report` there or in pinned memory of the host; all three, and this object, are in use
  /// until the stream has completed the solve. The device makes every decision, in the same way as
  /// `solve`. While the solver's stream is being captured, the solve becomes part of the caller's
  /// graph, with the current options, after a `prepare_enqueue`. That graph may be launched any
  /// number of times, but never concurrently with another solve of this object or of its
  /// preconditioner. A preconditioner that `refreshes_in_graph`, as Jacobi does, takes the values
  /// that the matrix has at that time; any other is refreshed by the call or `prepare_enqueue`, not
  /// by each launch. Throws `Error`: unsupported for any other operator or loop, an observer, or a
  /// preconditioner that does more than queue work (`Preconditioner::is_capturable`); usage for
  /// fields in the host's memory, and for a capture that was not prepared. `loop=replay` acts as
  /// `graph` here, since no host is there to launch it again.
  void enqueue(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report);

  /// Allocates, compiles and captures everything that `enqueue` needs for these arguments, and
  /// keeps it until they or the options change.
  void prepare_enqueue(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report);

  /// Sets A x of the guesses to come, if the caller knows it, so that a solve begins without a
  /// product: for a guess that is a sum of earlier solutions, A x is the sum of their b -
  /// `residual()`. A solve reads the field as it is at that time; without data, no solve reads it.
  /// It has the operator's basis, layout and memory, and remains the caller's. If it is not A x,
  /// that costs iterations: no solve converges by it alone, and none returns the guess in place of
  /// an iterate. It is used by `solve` for one system, and by `enqueue` if the loop is a graph and
  /// b also has that basis and layout; it is not used for systems with a null space, nor with a
  /// tolerance relative to |r0|. Waits for an enqueued solve, like `set_options`. If ranks share
  /// the rows it is collective, and no solve reads the image unless every rank with rows has set
  /// it. Throws `Error`: size_mismatch, or usage for another basis, layout or memory.
  void set_image_of_guess(const FieldView<const S>& image);

  /// b - A x of the last solve, which had one system, in the operator's basis, layout and memory;
  /// after `enqueue`, in stream order. Between solves the field is the caller's.
  FieldView<S> residual();

  /// Callable from any thread: the running enqueued solve ends within 16 iterations as `cancelled`;
  /// if none runs, the next one does. Has no effect before the first call of `prepare_enqueue` or
  /// `enqueue`.
  void cancel();

  /// Like `history()`, for the last enqueued solve; waits for the solver's stream.
  std::vector<double> enqueued_history() const;

  /// Vectors v with A v = 0 and v* A = 0, in the user's order: the system is solved in the space
  /// orthogonal to them (over the coefficients of the operator's ring), and b is projected into it.
  /// Waits for an enqueued solve, and releases the graph that was prepared for the next; a caller's
  /// graph that holds a solve must not be launched any more. If it throws, the null space is the
  /// previous one, or, if memory ran out for another loop, the new one: the next solve makes the
  /// loop.
  void set_null_space(const std::vector<FieldView<const S>>& vectors) override;

  /// Relative residuals of the recurrence, from iteration 0, if the options ask for them. `system`
  /// is the index of a system of the last solve.
  const std::vector<double>& history(std::size_t system = 0) const override;

  /// Bytes that it has allocated since it was made: fields, sums, and the needs of its loop. Added
  /// to these, where applicable, are b and x if a solve cannot use the caller's, a null space,
  /// everything that `enqueue` prepares, the preconditioner's `workspace`, and the loop over the
  /// matrix itself if a copy in floats fails; the last two were known to fit.
  long long memory() const;

  const LinearOperator<S>& matrix() const;
  /// The bytes that one iteration moves, as modelled; 0 if the operator does not report them.
  /// `systems` systems share the passes over the matrix.
  long long bytes_per_iteration(std::size_t systems = 1) const;

  /// The interval of the last solve, or `prepare_enqueue`, see `Report::interval`.
  const std::optional<SpectralInterval>& interval() const;

  const SolverOptions& options() const override;
  /// Waits for an enqueued solve, and releases the graph that was prepared for the next unless
  /// these options differ only in the observer.
  void set_options(SolverOptions options) override;

 protected:
  /// Throws `Error`: memory, before anything is allocated, if the needs exceed the device's
  /// available memory; size_mismatch or usage for a preconditioner of other fields than the
  /// operator's; and unsupported for one that varies, or is not Hermitian although the method needs
  /// that.
  KrylovSolver(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
               SolverOptions options, detail::MethodOver<S> method);

 private:
  friend struct detail::KrylovParts<S>;  // hands them to the rest of the library
  std::unique_ptr<detail::KrylovParts<S>> parts_;
};

}  // namespace heddle
