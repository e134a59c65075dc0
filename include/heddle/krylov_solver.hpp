// The common part of the Krylov solvers: bringing a system into the operator's basis, workspace
// that is allocated once, stopping, the true residual, and the report. The method of a solver is a
// listing, see methods/.
#pragma once

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/host_method.hpp"
#include "heddle/detail/workspace.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"
#include "heddle/system_solver.hpp"

namespace heddle {

template <class S>
class SolverPreconditioner;
class RefinedSolver;

namespace detail {
template <class S>
class HostSolve;
template <class S>
struct Spectrum;
}  // namespace detail
namespace device {
struct LoopState;
struct LoopWatch;
}  // namespace device
namespace cuda {
template <class S>
class EnqueuedSolve;
template <class S>
struct SolveTarget;
template <class S>
struct LoopPreconditioner;
template <class S>
class Projection;
}  // namespace cuda

/// A solver object serves one thread at a time. It keeps a handle of an `Operator<E>`, anything
/// that it was given to own, and a reference to any other operator, which must outlive it.
template <class S>
class HEDDLE_EXPORT KrylovSolver : public SystemSolver<S> {
 public:
  ~KrylovSolver() override = default;

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
  /// methods that keep a basis, and where solving together is no faster: under `loop=persistent`,
  /// and for two systems on a GPU.
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
  FieldView<S> residual() { return places_.front().residual; }

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
  /// previous one, or, if memory ran out for another loop, the new one with a `stepped` loop.
  void set_null_space(const std::vector<FieldView<const S>>& vectors) override;

  /// Relative residuals of the recurrence, from iteration 0, if the options ask for them. `system`
  /// is the index of a system of the last solve.
  const std::vector<double>& history(std::size_t system = 0) const override {
    return histories_.at(system);
  }

  /// Bytes that it has allocated since it was made: fields, sums, and the needs of its loop. Added
  /// to these, where applicable, are b and x if a solve cannot use the caller's, a null space,
  /// everything that `enqueue` prepares, the preconditioner's `workspace`, and the loop over the
  /// matrix itself if a copy in floats fails; the last two were known to fit.
  long long memory() const { return memory_; }

  const LinearOperator<S>& matrix() const { return matrix_; }
  /// The bytes that one iteration moves, as modelled; 0 if the operator does not report them.
  /// `systems` systems share the passes over the matrix.
  long long bytes_per_iteration(std::size_t systems = 1) const;

  /// The interval of the last solve, or `prepare_enqueue`, see `Report::interval`.
  const std::optional<SpectralInterval>& interval() const { return steps_.interval; }

  const SolverOptions& options() const override { return options_; }
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
  friend class detail::HostSolve<S>;
  friend class SolverPreconditioner<S>;
  friend class RefinedSolver;

  /// The fields that a solver has for each system that it solves side by side with others.
  static constexpr int max_side_by_side = Reduction<S>::width;
  struct Place {
    FieldView<S> residual;
    FieldView<S> kept;      // an earlier iterate, as good as the recurrence says
    FieldView<S> verified;  // the iterate of the least true residual so far: at first the guess
    detail::LoopVectors<S> vectors;
    std::optional<FieldView<S>> own_b, own_x;
  };
  Place make_place();
  /// Makes `count` places, and loops for them.
  void make_places(std::size_t count);
  void solve_all(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                 std::span<Report> reports);
  void solve_side_by_side(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                          std::size_t first, std::span<Report> reports);

  /// The allocations of the loop over `matrix`, in the form that suits it, besides the method's
  /// vectors.
  Workspace workspace_of_loop(const LinearOperator<S>& matrix, std::size_t systems = 1) const;
  std::unique_ptr<detail::MethodLoop<S>> make_loop(const LinearOperator<S>& matrix,
                                                   std::size_t systems);
  /// The loop over `matrix`, which is `matrix_`, its `iterated()` or that of `in_floats_`; made if
  /// it does not exist yet.
  detail::MethodLoop<S>& loop_over(const LinearOperator<S>& matrix, std::size_t systems = 1);
  /// Passes over a field that an iteration makes besides products and preconditioner, and the
  /// number of these two in an iteration.
  struct Cost {
    int passes;
    int products;
  };
  Cost cost() const;
  /// The parts of the preconditioner and the null space that a loop on a GPU needs.
  cuda::LoopPreconditioner<S> preconditioner_of_loop();
  /// The form of the loop over `matrix`, which may be another than its plan's.
  LoopForm form_of_loop(const LinearOperator<S>& matrix) const;

  /// The operator that this solve's iterations multiply by: `matrix_.iterated()`, the matrix of
  /// `in_floats_`, or `matrix_` itself once the former have not sufficed.
  const LinearOperator<S>& iterated() const { return *iterated_; }
  /// True if the matrix has a copy in floats to continue with, that of `in_floats_`.
  bool take_floats();
  /// Room for the basis of a method that keeps one.
  detail::BasisRoom make_basis();
  bool has_narrow_basis() const;
  /// The number of scalars of a field, on all ranks that share its rows.
  long long all_scalars() const {
    return all_rows(matrix_.rows(), stream_) * matrix_.row_components();
  }
  long long basis_bytes() const;
  /// A zero field in the operator's basis and layout, kept for the solver's life.
  FieldView<S> make_work();
  /// z = M^-1 r, or r itself without a preconditioner; projected if there is a null space.
  FieldView<const S> precondition(const FieldView<const S>& r, const FieldView<S>& z);
  void project(const FieldView<S>& field);
  /// True if a solve of `systems` systems may begin from `image_of_guess_`.
  bool has_image_of_guess(std::size_t systems) const {
    return systems == 1 && image_of_guess_.data != nullptr && null_space_.vectors.empty() &&
           options_.baseline == Baseline::right_hand_side;
  }
  /// A vector of the method that holds nothing between two of its iterations; without data if there
  /// is none.
  FieldView<S> spare(const Place& place) const;

  bool fits_in_place(const FieldView<const S>& field) const;
  FieldView<S>& own(std::optional<FieldView<S>>& field);
  /// Checks the arguments of `enqueue`, and makes `enqueued_` if it does not exist.
  cuda::SolveTarget<S> target_of(const FieldView<const S>& b, const FieldView<S>& x,
                                 DeviceReport* report);
  /// True if a loop on a GPU holds work other than its own kernels: a matrix-free operator, a
  /// preconditioner of the user's own, or a projection.
  bool has_foreign_work() const;
  /// The value for a device::LoopLimits; the time that foreign work takes is unknown.
  long long unwatched_iterations(long long bytes_of_iteration) const;
  void apply_foreign_work_once();
  /// True if the matrix is Hermitian, or symmetric, as the method needs it, to about half the
  /// digits of S. Tested by two products once per solver: Re <y, A x> = Re <x, A y>, which is the
  /// test of the real expansion, or y^T A x = x^T A y for real x and y. Also true if it cannot be
  /// tested.
  bool suits_method();
  /// False if a step is given.
  bool needs_hermitian() const { return method_.info.needs_hermitian && !options_.omega; }
  bool needs_estimate() const;
  /// Computes the values given to runs, from the newest values of matrix and preconditioner; only
  /// for methods that take an interval.
  void refresh_steps();
  detail::Spectrum<S> estimate_spectrum();
  /// Copies the steps to the device, for `enqueue`.
  void copy_steps();
  /// Waits for the enqueued work, which a change of the solver makes obsolete.
  void forget_enqueued();

  const OperatorReference<S> operator_;
  const LinearOperator<S>& matrix_;                    // *operator_
  std::shared_ptr<Preconditioner<S>> preconditioner_;  // null for none
  SolverOptions options_;
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  detail::MethodOver<S> method_;
  Ring ring_;      // ring of the null space's coefficients
  int max_basis_;  // vectors of the method's basis; 0 if it keeps none
  long long memory_ = 0;
  const LinearOperator<S>* iterated_;
  std::future<void> compiling_;  // compiles a kernel that the first solve needs
  std::shared_ptr<const Basis> basis_;
  std::vector<Array<S>> storage_;
  std::vector<Array<float>> narrow_storage_;  // storage of bases
  const InnerWatch* outer_ = nullptr;         // the watch of the solve that this one preconditions
  struct NullSpace {
    std::vector<Array<S>> storage;
    std::vector<FieldView<S>> vectors;                // orthonormal
    std::shared_ptr<cuda::Projection<S>> projection;  // for graphs; null without vectors
  };
  NullSpace null_space_;
  /// For methods that take an interval.
  struct Steps {
    std::optional<SpectralInterval> interval;
    std::optional<double> omega;
    std::array<sum_t<S>, device::max_given> given{};  // passed to runs
    std::optional<long long> generation;  // generation of the values that were estimated
    Array<double> on_device;              // `given`, for `enqueue`; empty for other methods
    std::array<double, device::max_given> copied{};  // the values that are there
  };
  Steps steps_;
  bool is_applied_ = false;  // true once foreign work was applied
  std::optional<bool> suits_method_;
  bool is_complex_symmetric_ = false;  // found if it is not Hermitian
  std::vector<Place> places_;          // the first always exists
  FieldView<const S> image_of_guess_;
  /// Loops over a copy that is `matrix_.iterated()`, and over `matrix_`; made once they are needed.
  struct Loops {
    std::unique_ptr<detail::MethodLoop<S>> on_copy, on_matrix;
  };
  Loops of_one_, of_all_;  // for the first place, and for all places
  std::vector<std::vector<double>> histories_{1};
  std::shared_ptr<cuda::EnqueuedSolve<S>>
      enqueued_;                              // null before the first, and after other options
  std::shared_ptr<device::LoopWatch> watch_;  // shared by all of them
  std::atomic<device::LoopWatch*> watched_{nullptr};  // the same for `cancel`
  /// `iterated_in_floats`, and loops over it, for one system and for all; made once they are
  /// needed.
  struct InFloats {
    std::shared_ptr<const LinearOperator<S>> matrix;
    std::unique_ptr<detail::MethodLoop<S>> of_one, of_all;
  };
  InFloats in_floats_;
};

}  // namespace heddle
