// What the Krylov solvers share: bringing a system into the operator's basis, workspace that is
// allocated once, stopping, the true residual, and the report. Its method is a listing, see
// methods/.
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

/// A solver object serves one thread at a time. It keeps a handle of an `Operator<E>`, what it was
/// given to own, and a reference to any other operator, which must outlive it.
template <class S>
class HEDDLE_EXPORT KrylovSolver : public SystemSolver<S> {
 public:
  ~KrylovSolver() override = default;

  /// Solves A x = b from the guess in x; b is not modified, and shares no memory with x. Fields may
  /// be in the user's order or in the operator's basis, for an operator on a GPU in the GPU's
  /// memory or the host's. Throws `Error` for fields that do not fit and for what the
  /// preconditioner refuses; what happens while iterating is the report's status. Where a limit
  /// ended it or a caller, x is then the last iterate, unless the options ask for the best. That is
  /// the last one, one kept at an earlier tenfold drop of the residual, one that a restart began
  /// from, or the guess, whichever has the smallest true residual; loops that live on a GPU keep
  /// none at tenfold drops. Where the recurrence failed x is the best in any case. The residual is
  /// that of the x that is returned; where its scalars overflow, that is zero (`out_of_range`). The
  /// second and later solves allocate nothing.
  Report solve(const FieldView<const S>& b, const FieldView<S>& x) override;

  /// Several systems with this matrix, from a guess each, `systems_at_once` side by side: products
  /// read the matrix once for all of these. Each ends for itself, with the x and the report that it
  /// has alone, but for times; the bytes of an iteration count its share of the matrix. No x shares
  /// memory with another field. Room for the systems beyond the first, as much as each of them has
  /// alone, comes with the first solve that needs it, or `Error` (memory) before that begins.
  std::vector<Report> solve(std::span<const FieldView<const S>> b,
                            std::span<const FieldView<S>> x) override;

  /// How many of so many systems `solve` takes side by side: up to 8. One for methods that keep a
  /// basis, and where side by side is no faster: under `loop=persistent`, and two on a GPU.
  std::size_t systems_at_once(std::size_t systems) const;

  /// The same solve in stream order, for an operator on a GPU under `loop=graph` or `persistent`,
  /// or one that only queues work (`LinearOperator::is_capturable`): queued as one graph, without
  /// waiting and, but for the first call, without allocating. b and x lie in the GPU's memory,
  /// `report` there or in pinned memory of the host; all three, and this object, are used until the
  /// stream has come so far. Every decision is the device's and as that of `solve`. While the
  /// solver's stream is being captured, the solve becomes part of the caller's graph, with the
  /// options of now, after a `prepare_enqueue`. That graph may be launched any number of times, but
  /// never beside another solve of this object or of its preconditioner's. A preconditioner that
  /// `refreshes_in_graph`, as Jacobi does, takes the values that the matrix has by then; any other
  /// is refreshed by the call or `prepare_enqueue`, not by each launch. Throws `Error`: unsupported
  /// for any other operator or loop, an observer, or a preconditioner that does more than queue
  /// work (`Preconditioner::is_capturable`); usage for fields in the host's memory, and for a
  /// capture that was not prepared. `loop=replay` is `graph` here: no host is there to launch it
  /// again.
  void enqueue(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report);

  /// Allocates, compiles and captures what `enqueue` needs for these arguments, which it keeps
  /// until they or the options change.
  void prepare_enqueue(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report);

  /// A x of the guesses to come, where the caller knows it, so that a solve begins without a
  /// product: a guess that is a sum of earlier solutions has the sum of their b - `residual()`. A
  /// solve reads the field as it is by then; without data, no solve does. It is of the operator's
  /// basis, layout and memory, and stays the caller's. Where it is not A x, that costs iterations:
  /// no solve converges by it alone, and none returns the guess in place of an iterate. Serves
  /// `solve` of one system, and `enqueue` where the loop is a graph and b of that basis and layout
  /// too; not systems with a null space, nor a tolerance relative to |r0|. Waits for an enqueued
  /// solve, as `set_options`. Where ranks share the rows it is collective, and no solve reads an
  /// image that a rank with rows has not. Throws `Error`: size_mismatch, or usage for another
  /// basis, layout or memory.
  void set_image_of_guess(const FieldView<const S>& image);

  /// b - A x of the last solve, which had one system, in the operator's basis, layout and memory;
  /// behind `enqueue` in stream order. Between solves the field is the caller's.
  FieldView<S> residual() { return places_.front().residual; }

  /// From any thread: the enqueued solve that runs ends within 16 iterations as `cancelled`; where
  /// none runs, the next one does. Without effect before the first call of `prepare_enqueue` or
  /// `enqueue`.
  void cancel();

  /// As `history()`, of the last enqueued solve; waits for the solver's stream.
  std::vector<double> enqueued_history() const;

  /// Vectors v with A v = 0 and v* A = 0, in the user's order: the system is solved in the space
  /// orthogonal to them (over the coefficients of the operator's ring), and b is projected into it.
  /// Waits for an enqueued solve, and gives back the graph that was prepared for the next; a graph
  /// of the caller's that holds a solve must not be launched any more. Where it throws the null
  /// space is the one before, or where memory ran out for another loop the new one, `stepped`.
  void set_null_space(const std::vector<FieldView<const S>>& vectors) override;

  /// Relative residuals of the recurrence, from iteration 0, if the options ask for them. `system`:
  /// of those that the last solve had.
  const std::vector<double>& history(std::size_t system = 0) const override {
    return histories_.at(system);
  }

  /// Bytes that it has allocated since it was made: fields, sums, and what its loop needs. b and x
  /// come to that where a solve cannot use the caller's, a null space, what `enqueue` prepares, the
  /// preconditioner's `workspace`, and the loop over the matrix itself where a copy in floats fails
  /// it; the last two were known to fit.
  long long memory() const { return memory_; }

  const LinearOperator<S>& matrix() const { return matrix_; }
  /// What one iteration moves, as modelled; 0 where the operator does not say. `systems`: that
  /// share the passes over the matrix.
  long long bytes_per_iteration(std::size_t systems = 1) const;

  /// The interval of the last solve, or `prepare_enqueue`, see `Report::interval`.
  const std::optional<SpectralInterval>& interval() const { return steps_.interval; }

  const SolverOptions& options() const override { return options_; }
  /// Waits for an enqueued solve, and gives back the graph that was prepared for the next unless
  /// these options differ by the observer alone.
  void set_options(SolverOptions options) override;

 protected:
  /// Throws `Error` (memory) before anything is allocated where it exceeds what the device has
  /// available, size_mismatch or usage for a preconditioner of other fields than the operator's,
  /// and unsupported for one that varies, or is not Hermitian where the method needs that.
  KrylovSolver(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
               SolverOptions options, detail::MethodOver<S> method);

 private:
  friend class detail::HostSolve<S>;
  friend class SolverPreconditioner<S>;
  friend class RefinedSolver;

  /// What a solver has for each system that it solves side by side with others.
  static constexpr int most_side_by_side = Reduction<S>::width;
  struct Place {
    FieldView<S> residual;
    FieldView<S> kept;      // an earlier iterate, as good as the recurrence says
    FieldView<S> verified;  // the iterate of the least true residual so far: at first the guess
    detail::LoopVectors<S> vectors;
    std::optional<FieldView<S>> own_b, own_x;
  };
  Place make_place();
  /// As many places, and loops for them.
  void make_places(std::size_t count);
  void solve_all(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                 std::span<Report> reports);
  void solve_side_by_side(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                          std::size_t first, std::span<Report> reports);

  /// What the loop over `matrix`, in the form that suits it, allocates beside the method's vectors.
  Workspace workspace_of_loop(const LinearOperator<S>& matrix, std::size_t systems = 1) const;
  std::unique_ptr<detail::MethodLoop<S>> make_loop(const LinearOperator<S>& matrix,
                                                   std::size_t systems);
  /// The loop over `matrix`, which is `matrix_`, its `iterated()` or that of `in_floats_`; made
  /// where it is not there.
  detail::MethodLoop<S>& loop_over(const LinearOperator<S>& matrix, std::size_t systems = 1);
  /// Passes over a field that an iteration makes beside products and preconditioner, and how many
  /// of those two it has.
  struct Cost {
    int passes;
    int products;
  };
  Cost cost() const;
  /// What a loop that lives on a GPU needs of the preconditioner and the null space.
  cuda::LoopPreconditioner<S> preconditioner_of_loop();
  /// The form of the loop over `matrix`, which may be another than its plan's.
  LoopForm form_of_loop(const LinearOperator<S>& matrix) const;

  /// What this solve's iterations multiply by: `matrix_.iterated()`, the matrix of `in_floats_`, or
  /// `matrix_` itself once the former have not sufficed.
  const LinearOperator<S>& iterated() const { return *iterated_; }
  /// Whether the matrix has a copy in floats to go on with, that of `in_floats_`.
  bool take_floats();
  /// Room for the basis of a method that keeps one.
  detail::BasisRoom make_basis();
  bool has_narrow_basis() const;
  /// Of a field, on all ranks that share its rows.
  long long all_scalars() const {
    return all_rows(matrix_.rows(), stream_) * matrix_.row_components();
  }
  long long basis_bytes() const;
  /// A zero field in the operator's basis and layout, kept for the solver's life.
  FieldView<S> make_work();
  /// z = M^-1 r, or r itself without a preconditioner; projected where there is a null space.
  FieldView<const S> precondition(const FieldView<const S>& r, const FieldView<S>& z);
  void project(const FieldView<S>& field);
  /// Whether a solve of so many systems may begin from `image_of_guess_`.
  bool has_image_of_guess(std::size_t systems) const {
    return systems == 1 && image_of_guess_.data != nullptr && null_space_.vectors.empty() &&
           options_.baseline == Baseline::right_hand_side;
  }
  /// A vector of the method's that holds nothing between two of its iterations; without data where
  /// there is none.
  FieldView<S> spare(const Place& place) const;

  bool fits_in_place(const FieldView<const S>& field) const;
  FieldView<S>& own(std::optional<FieldView<S>>& field);
  /// Checks what `enqueue` takes, and makes `enqueued_` where it is not.
  cuda::SolveTarget<S> target_of(const FieldView<const S>& b, const FieldView<S>& x,
                                 DeviceReport* report);
  /// Whether a loop on a GPU holds work that is not its own kernels': of a matrix-free operator, of
  /// a preconditioner of the user's own, or a projection.
  bool has_foreign_work() const;
  /// Of a device::LoopLimits: nobody knows how long foreign work takes.
  long long unwatched_iterations(long long bytes_of_iteration) const;
  void apply_foreign_work_once();
  /// Whether the matrix is Hermitian, or symmetric, as the method needs it, to about half the
  /// digits of S, by two products once a solver: Re <y, A x> = Re <x, A y>, which is that of the
  /// real expansion, or y^T A x = x^T A y for real x and y. True where nobody can tell.
  bool suits_method();
  /// Not where a step is given.
  bool needs_hermitian() const { return method_.info.needs_hermitian && !options_.omega; }
  bool needs_estimate() const;
  /// What runs are given, of the newest values of matrix and preconditioner; only for methods that
  /// take an interval.
  void refresh_steps();
  detail::Spectrum<S> estimate_spectrum();
  /// To the device, for `enqueue`.
  void copy_steps();
  /// Waits for what was enqueued, which a change of the solver outdates.
  void forget_enqueued();

  const OperatorReference<S> operator_;
  const LinearOperator<S>& matrix_;                    // *operator_
  std::shared_ptr<Preconditioner<S>> preconditioner_;  // null for none
  SolverOptions options_;
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  detail::MethodOver<S> method_;
  Ring ring_;       // of the null space's coefficients
  int most_basis_;  // vectors of the method's basis; 0 if it keeps none
  long long memory_ = 0;
  const LinearOperator<S>* iterated_;
  std::future<void> compiling_;  // of a kernel that the first solve needs
  std::shared_ptr<const Basis> basis_;
  std::vector<Array<S>> storage_;
  std::vector<Array<float>> narrow_storage_;  // of bases
  const InnerWatch* outer_ = nullptr;         // of the solve that this one preconditions
  struct NullSpace {
    std::vector<Array<S>> storage;
    std::vector<FieldView<S>> vectors;                // orthonormal
    std::shared_ptr<cuda::Projection<S>> projection;  // for graphs; null without vectors
  };
  NullSpace null_space_;
  /// Of methods that take an interval.
  struct Steps {
    std::optional<SpectralInterval> interval;
    std::optional<double> omega;
    std::array<sum_t<S>, device::most_given> given{};  // to runs
    std::optional<long long> generation;  // of the values that the interval was estimated for
    Array<double> on_device;              // `given`, for `enqueue`; empty for other methods
    std::array<double, device::most_given> copied{};  // there
  };
  Steps steps_;
  bool is_applied_ = false;  // foreign work, once
  std::optional<bool> suits_method_;
  bool is_complex_symmetric_ = false;  // seen where it is not Hermitian
  std::vector<Place> places_;          // the first is always there
  FieldView<const S> image_of_guess_;
  /// Over a copy that is `matrix_.iterated()`, and over `matrix_`; once they are needed.
  struct Loops {
    std::unique_ptr<detail::MethodLoop<S>> on_copy, on_matrix;
  };
  Loops of_one_, of_all_;  // of the first place, and of all that there are
  std::vector<std::vector<double>> histories_{1};
  std::shared_ptr<cuda::EnqueuedSolve<S>>
      enqueued_;                              // null before the first, and for other options
  std::shared_ptr<device::LoopWatch> watch_;  // of all of them
  std::atomic<device::LoopWatch*> watched_{nullptr};  // the same for `cancel`
  /// `iterated_in_floats`, and loops over it, of one system and of all; once they are needed.
  struct InFloats {
    std::shared_ptr<const LinearOperator<S>> matrix;
    std::unique_ptr<detail::MethodLoop<S>> of_one, of_all;
  };
  InFloats in_floats_;
};

}  // namespace heddle
