// One solve that the host drives: it executes solve_walk.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/cores.hpp"
#include "base/profiler_range.hpp"
#include "krylov_parts.hpp"
#include "method_rows.hpp"
#include "other_runs.hpp"
#include "solvers/stopping/known_image.hpp"
#include "solvers/stopping/report_text.hpp"
#include "solvers/stopping/solve_walk.hpp"
#include "solvers/stopping/stop_requests.hpp"

namespace heddle::detail {

template <class S>
class HostSolve {
 public:
  /// `system`: its index in the whole solve. `place`: its index in the solver. `others`: null for
  /// none.
  HostSolve(KrylovParts<S>& solver, const FieldView<const S>& b, const FieldView<S>& x, int place,
            int system, Report& report, const OtherRuns* others = nullptr)
      : solver_(solver),
        others_(others),
        place_(solver.fields[static_cast<std::size_t>(place)]),
        number_of_place_(place),
        system_(system),
        report_(report),
        b_(b),
        x_(x),
        user_b_(b),
        user_x_(x),
        copy_(others != nullptr ? others->copy
              : &solver.inputs.matrix.iterated() != &solver.inputs.matrix
                  ? solver.inputs.matrix.iterated_as()
                  : StoredScalar::own),
        goal_(goal_of<S>(solver.inputs.options, solver.inputs.all_scalars(), copy_)) {
    goal_.keeps_all = true;
    goal_.looks_at_direction = solver.inputs.method.info.needs_positive;
    goal_.continues_runs =
        others != nullptr ? others->continues
                          : method_rows::continues_runs(solver.inputs.method.info,
                                                        solver.loops.form(solver.loops.iterated()));
  }

  /// Does everything before the first run, if there is to be one. `systems`: number of systems that
  /// run side by side.
  void begin(std::size_t systems) {
    systems_ = systems;
    report_.loop = name(solver_.loops.form(solver_.loops.iterated()));
    report_.stored = text_of_copy(copy_);
    report_.processors = processors_of(solver_.inputs.device);
    if (solver_.fields.max_basis() > 0)
      report_.basis = solver_.fields.has_narrow_basis() ? "float" : "own";
    report_.interval = solver_.steps.interval();
    report_.omega = solver_.steps.omega();
    decisions::begin(state_, goal_, rows(), 0);
    {
      const Range phase("permute in");
      bring_in();
    }
    report_.permute_seconds = stop_.elapsed();
    report_.bytes_per_iteration = bytes_of_next_run();
    if (state_.end != 0) {
      report_.status = state_.status;
      report_.detail = text_of_refused_b;
      report_.residual = report_.residual_norm = std::numeric_limits<double>::quiet_NaN();
      is_refused_ = true;
      return;
    }
    judge_guess();
  }

  bool runs() const { return state_.end == 0; }

  /// Called by the preconditioner between its own iterations.
  bool goes_on_inside(long long iterations) {
    if (was_cancelled_ || stop_.is_late()) return false;
    SolveProgress now = last_progress_;
    now.seconds = stop_.elapsed();
    now.inner_iterations = iterations;
    was_cancelled_ = !is_let_go_on(now);
    return !was_cancelled_;
  }

  RunOf<S> next_run(LoopForm form) {
    report_.loop = name(form);
    moved_.of_iteration = bytes_of_next_run();
    if (state_.keep_iterate != 0) copy<S>(x_, place_.verified, stream());
    set_limits();
    return {number_of_place_, x_, r(), &limits_};
  }

  /// Takes the result of a run, and judges its x.
  void take(const RunResult<sum_t<S>>& run) {
    for (const sum squared : run.history) record(squared);
    end_of_run_ =
        goal_.continues_runs && run.end == device::loop_reached ? end_after_run() : run.end;
    decisions::take_run(state_, goal_, end_of_run_, run.iterations);
    state_.squared_residual = true_residual(x_);
    walk::judge_run(*this);
    if (grew_in_vain_) state_.in_vain = true;
    report_.iterate_seconds = stop_.elapsed();
  }

  /// See `KrylovParts::copy_iterate`.
  void copy_iterate(const FieldView<S>& x) const {
    if (solver_.inputs.device.on_gpu() || has_other_runs()) {
      throw Error(ErrorKind::unsupported,
                  "x is not at hand while iterating on a GPU, or over fields in single precision");
    }
    permute<S>(x_, x, S(1) / scale(), stream());
  }

  bool failed_on_copy() const { return !is_refused_ && state_.failed_on_copy; }
  /// After the runs over a copy, if there is one: true if others are to follow, over the copy that
  /// keeps `kept` or over the matrix.
  bool leaves_copy(StoredScalar kept) {
    if (!failed_on_copy()) return false;
    moved_.leave(state_.iterations);
    decisions::begin_on_matrix(state_, goal_, kept);
    left_copy_ = true;
    return true;
  }

  void end() {
    if (is_refused_) return;
    if (left_copy_) report_.bytes_per_iteration = moved_.mean(state_.iterations);
    tell();
    stop_.start_clock();
    const Range phase("permute out");
    bring_out();
    solver_.inputs.device.synchronize();
    report_.permute_seconds += stop_.elapsed();
  }

  // The interface of an executor of solve_walk.hpp.
  using Sum = sum_t<S>;
  template <Decision decision>
  void decide() {
    take_decision<decision>(state_, goal_);
  }
  template <class Body>
  void when(int SolveState<Sum>::* question, const Body& body) {
    if (state_.*question != 0) body(*this);
  }
  void find_largest() {
    state_.largest_b = largest_magnitude<S>(b_, solver_.inputs.reduction, stream());
  }
  void scale_right_hand_side() {
    if (state_.scaled == 0) return;
    bring_in_right_hand_side(scale());
    state_.squared_b = squared_norm_of(b_);
  }
  /// Looks along the last direction. On a GPU, or over other fields, the run may leave none: then
  /// along M^-1 r, where the next run would begin.
  void look_at_direction() {
    const auto place = static_cast<std::size_t>(solver_.inputs.method.info.direction - 2);
    const FieldView<S>&p = place_.vectors.work[place], q = solver_.fields.spare(place_);
    const LinearOperator<S>& matrix = solver_.loops.iterated();
    if (solver_.inputs.device.on_gpu() || has_other_runs()) {
      copy<S>(solver_.null_space.precondition(r(), q), p, stream());
    }
    state_.p_q = matrix.apply_dot(p, q, solver_.inputs.reduction, stream());
    state_.squared_p = squared_norm_of(p);
    // |A v| / |v| for a v without pattern estimates |A|. A p cannot serve: if A is singular along
    // p, A p is all rounding, and no smaller than p* A p / |p|.
    fill<S>(S(1), p, stream());
    randomize<S>(p, seed, stream());
    matrix.apply(S(1), p, S(0), q, stream());
    state_.squared_image = squared_norm_of(q);
  }
  /// False: `choose_iterate` has the last word.
  bool takes_earlier_iterate() {
    if (grew_since_drop(decisions::returns_last(state_))) grew_in_vain_ = true;
    if (grew_in_vain_) state_.in_vain = true;
    if (!decisions::returns_last(state_)) take_iterate_at_drop();
    return false;
  }
  void take_kept() {
    copy<S>(place_.verified, x_, stream());
    state_.squared_residual = true_residual(x_);
  }
  void look_at_rounding() {
    state_.squared_rounding = squared_rounding(r());
    state_.squared_residual = true_residual(x_);
    state_.growth.x_b = real_dot<S>(x_, b_, solver_.inputs.reduction, stream());
    state_.growth.x_x = squared_norm_of(x_);
  }
  void unscale_solution() {
    permute<S>(x_, user_x_, S(1) / scale(), stream());
    permute<S>(user_x_, x_, scale(), stream());
    state_.squared_residual = true_residual(x_);
  }
  void forget_solution() {
    fill<S>(S(0), x_, stream());
    permute<S>(x_, user_x_, S(1), stream());
    copy<S>(b_, r(), stream());
  }
  void unscale_residual() { heddle::scale<S>(S(1) / scale(), r(), stream()); }

 private:
  using sum = sum_t<S>;

  Index rows() const { return place_.residual.size; }
  bool has_other_runs() const { return others_ != nullptr && state_.on_copy; }
  long long bytes_of_next_run() const {
    return has_other_runs() ? others_->bytes_per_iteration
                            : solver_.loops.bytes_per_iteration(systems_);
  }
  const FieldView<S>& r() const { return place_.residual; }
  const Stream& stream() const { return solver_.inputs.stream; }
  sum squared_norm_of(const FieldView<const S>& field) const {
    return real_dot<S>(field, field, solver_.inputs.reduction, stream());
  }

  /// Brings b and x into the operator's basis, scaled if the squares of b leave the range.
  void bring_in() {
    const bool projects = !solver_.null_space.empty();
    if (!solver_.fields.fits_in_place(user_b_) || projects) bring_in_right_hand_side(S(1));
    state_.squared_b = squared_norm_of(b_);
    decisions::look_at_right_hand_side(state_, goal_);
    if (state_.out_of_range != 0) walk::scale(*this);
    if (!solver_.fields.fits_in_place(user_x_) || state_.scaled != 0) {
      x_ = solver_.fields.own(place_.own_x);
      permute<S>(user_x_, x_, scale(), stream());
    }
  }
  void bring_in_right_hand_side(S factor) {
    const FieldView<S>& own = solver_.fields.own(place_.own_b);
    permute<S>(user_b_, own, factor, stream());
    solver_.null_space.project(own);
    b_ = own;
  }
  S scale() const { return static_cast<S>(state_.scale); }
  /// Replaces the guess by zero if it is finite and only the squares of its residual are not.
  void forget_guess(sum& first) {
    copy<S>(x_, place_.verified, stream());
    if (state_.scaled != 0) permute<S>(user_x_, x_, S(1), stream());
    const sum largest = largest_magnitude<S>(x_, solver_.inputs.reduction, stream());
    if (methods::is_finite(largest) && largest > 0) {
      fill<S>(S(0), x_, stream());
      state_.squared_residual = true_residual(x_);
      decisions::judge_guess_again(state_, goal_, rows(), &first);
      forgot_guess_ = methods::is_finite(state_.squared_residual);
    }
    if (!forgot_guess_) copy<S>(place_.verified, x_, stream());
  }
  /// Brings x and b - A x into the caller's scale.
  void bring_out() {
    if (state_.scaled == 0) {
      if (x_.data != user_x_.data) permute<S>(x_, user_x_, S(1), stream());
      return;
    }
    walk::unscale(*this);
    tell();
  }

  /// |b - A x|^2; r, or the field `to`, holds b - A x afterwards.
  sum true_residual(const FieldView<S>& x) { return true_residual(x, r()); }
  sum true_residual(const FieldView<S>& x, const FieldView<S>& to) {
    const sum squared =
        solver_.inputs.matrix.residual(b_, x, to, solver_.inputs.reduction, stream());
    if (solver_.null_space.empty()) return squared;
    solver_.null_space.project(to);
    return squared_norm_of(to);
  }

  void judge_guess() {
    if (state_.zero != 0) fill<S>(S(0), x_, stream());
    const bool suits = !goal_.checks || solver_.symmetry.suits();
    stop_.start_clock();
    const bool by_image =
        state_.out_of_range == 0 && solver_.has_image_of_guess(solver_.histories.size());
    if (by_image) subtract_image<S>(b_, solver_.image_of_guess, r(), stream());
    state_.squared_residual = by_image ? squared_norm_of(r()) : true_residual(x_);
    sum first = 0;
    decisions::judge_guess(state_, goal_, rows(), &first, false);
    if (by_image) decisions::forget_guess(state_);
    if (by_image && decisions::ended_by_image(state_)) {
      state_.squared_residual = true_residual(x_);
      decisions::judge_guess_again(state_, goal_, rows(), &first);
    }
    if (state_.end != 0 && state_.status == Status::not_finite) forget_guess(first);
    record(first);
    if (!suits) {
      decisions::refuse_matrix(state_, solver_.inputs.method.info.needs_symmetric
                                           ? Status::not_symmetric
                                           : Status::not_hermitian);
    }
    report_.iterate_seconds = stop_.elapsed();
  }

  /// Runs that continue each other may be too short to check the clock themselves. Ranks check it
  /// together, in each iteration.
  device::LoopEnd end_after_run() const {
    if (stream().share != nullptr) return device::loop_reached;
    if (was_cancelled_) return device::loop_cancelled;
    return stop_.is_late() ? device::loop_time : device::loop_reached;
  }

  void set_limits() {
    const decisions::RunBounds<sum> bounds = decisions::bounds_of_run(state_, goal_);
    limits_.target = bounds.target;
    limits_.growth = bounds.growth;
    limits_.squared_norm = bounds.squared_norm;
    limits_.iterations = bounds.iterations;
    limits_.seconds = std::max(0.0, solver_.inputs.options.time_limit - stop_.elapsed());
    limits_.unwatched = solver_.loops.unwatched_iterations(report_.bytes_per_iteration);
    limits_.given = solver_.steps.given();
    if (goal_.continues_runs) limits_.given[0] = sum(state_.continues);
    limits_.observe = nullptr;
    drop_squared_ = state_.squared_norm;
    drop_size_ = -1;
    has_drop_ = grew_in_vain_ = false;
    // On a CPU, and with ranks, the host sees each iteration and then also checks the clock; on a
    // CPU it sees the iterate as well.
    const bool on_gpu = solver_.inputs.device.on_gpu();
    if (!on_gpu || stream().share != nullptr) {
      const bool keeps = !on_gpu && !has_other_runs() && !solver_.inputs.method.info.restarts;
      limits_.observe = [this, keeps](long long iteration, sum squared) {
        const bool is_on_its_way = !keeps || keep_at_drop(state_.iterations + iteration, squared);
        return stop_(is_on_its_way ? ask(iteration, squared) : device::loop_grew);
      };
    } else if (solver_.inputs.options.observer || solver_.outer != nullptr) {
      limits_.observe = [this](auto iteration, sum squared) { return ask(iteration, squared); };
    }
    last_progress_ = {state_.iterations, relative(state_.squared_norm), stop_.elapsed(), system_};
  }
  device::LoopEnd ask(long long iteration, sum squared) {
    if (was_cancelled_) return device::loop_cancelled;
    last_progress_ = {state_.iterations + iteration, relative(squared), stop_.elapsed(), system_};
    return is_let_go_on(last_progress_) ? device::loop_runs : device::loop_cancelled;
  }
  bool is_let_go_on(const SolveProgress& now) const {
    const long long iterations = now.iteration + now.inner_iterations;
    if (solver_.outer != nullptr && !(*solver_.outer)(iterations)) return false;
    if (!solver_.inputs.options.observer) return true;
    const struct Observed {
      KrylovParts<S>& solver;
      ~Observed() { solver.observed = nullptr; }
    } observed{solver_};
    solver_.observed = this;
    return solver_.inputs.options.observer(now);
  }

  /// Copies x at every tenfold drop: few copies, and never far from the best. False if the
  /// recurrence alone drops: x has grown since the last copy, and its true residual has not shrunk.
  bool keep_at_drop(long long iteration, sum squared) {
    constexpr sum tenfold = 100;
    if (!(squared * tenfold <= drop_squared_)) return true;
    const sum size = squared_norm_of(x_);
    if (drop_size_ < 0) drop_size_ = squared_norm_of(place_.verified);
    const bool has_spare = solver_.inputs.method.info.image >= 0;
    if (has_spare && GrowthInVain<sum>::has_grown(size, drop_size_)) {
      constexpr sum fivefold = 25;
      grew_in_vain_ =
          !(fivefold * true_residual(x_, solver_.fields.spare(place_)) <= drop_squared_);
      if (grew_in_vain_) return false;
    }
    look_ahead(iteration);
    copy<S>(x_, place_.kept, stream());
    drop_squared_ = squared;
    drop_size_ = size;
    has_drop_ = true;
    return true;
  }
  /// True if x grew while its residual hardly shrank, since a drop or since the run began. If a
  /// limit ended the run, x may be on its way.
  bool grew_since_drop(bool is_stopped) {
    if (state_.on_copy) return false;
    const sum shrunk = is_stopped ? 1 : 100;
    const sum squared = state_.squared_residual;
    if (shrunk * squared <= drop_squared_ || squared <= state_.target * state_.target) return false;
    if (drop_size_ < 0) drop_size_ = squared_norm_of(place_.verified);
    const sum size = squared_norm_of(x_);
    return is_stopped ? has_drop_ && GrowthInVain<sum>::has_grown_far(size, drop_size_)
                      : GrowthInVain<sum>::has_grown(size, drop_size_);
  }
  /// Replaces x by the copy of the last drop if that has the smaller true residual. The recurrence
  /// is no judge, since it drifts from the truth as x grows. Also used if x grew in vain.
  void take_iterate_at_drop() {
    if (!grew_in_vain_) {
      if (!has_drop_ || state_.squared_residual <= drop_squared_) return;
      // This many steps were requested, and their residuals rise and fall within a bound.
      if (solver_.inputs.method.info.takes_interval && end_of_run_ == device::loop_limit) return;
    }
    const FieldView<S>& earlier = has_drop_ ? place_.kept : place_.verified;
    const bool is_best = state_.squared_residual <= true_residual(earlier);
    if (!is_best) return take_earlier(earlier);
    state_.squared_residual = true_residual(x_);
  }
  void take_earlier(const FieldView<S>& x) {
    copy<S>(x, x_, stream());
    state_.squared_residual = true_residual(x_);
    state_.continues = 0;
    state_.returned = state_.kept_guess && !has_drop_ ? Returned::guess : Returned::best;
  }

  /// Estimates what rounding leaves to gain on x, at drops that are far apart: the recurrence may
  /// depart from the truth long before it reaches the target. Costs one product in a hundred.
  void look_ahead(long long iteration) {
    constexpr long long few = 100;
    // Asks the method, not the spare field: on a rank without rows that has no data, and the
    // product is collective.
    if (!goal_.checks || state_.on_copy || solver_.inputs.method.info.image < 0) return;
    if (iteration < looked_at_ + few) return;
    looked_at_ = iteration;
    state_.limit.learn(squared_rounding(solver_.fields.spare(place_)), sum(mean_square_of_factors));
    decisions::take_aim(state_);
    limits_.target = state_.aim * state_.aim;
  }
  /// |A D x|^2; the kept iterate and `image` are scratch.
  sum squared_rounding(const FieldView<S>& image) {
    copy<S>(x_, place_.kept, stream());
    randomize<S>(place_.kept, seed, stream());
    solver_.inputs.matrix.apply(S(1), place_.kept, S(0), image, stream());
    return squared_norm_of(image);
  }

  void tell() {
    detail::tell(state_, rows(), report_);
    const MethodInfo& info = solver_.inputs.method.info;
    const bool is_worse = state_.take_kept != 0 || state_.squared_residual > state_.kept_squared;
    // A wrong interval makes x grow too, and then the method reports it.
    const bool grew_in_vain = state_.in_vain && !info.takes_interval;
    report_.detail =
        text_of_end(report_.status, {info, end_of_run_, solver_.symmetry.is_complex_symmetric(),
                                     is_worse, grew_in_vain, state_.p_q > 0});
    if (left_copy_ && report_.detail.empty()) {
      report_.detail = text_of_end_of_copy(copy_, state_.copy, others_ != nullptr);
    }
    if (forgot_guess_ && report_.detail.empty()) {
      report_.detail = "the guess was too large to square its residual: zero replaced it";
    }
    const LinearOperator<S>& matrix = solver_.inputs.matrix;
    if (report_.detail.empty() && &matrix.iterated() == &matrix && is_exact(matrix.iterated_as())) {
      report_.detail = text_of_refused_copy(matrix.iterated_as());
    }
  }

  double relative(sum squared) const {
    return static_cast<double>(decisions::relative(state_, std::sqrt(squared)));
  }
  void record(sum squared) {
    if (!solver_.inputs.options.record_history) return;
    solver_.histories[static_cast<std::size_t>(system_)].push_back(relative(squared));
  }

  static constexpr unsigned long long seed = 1;

  KrylovParts<S>& solver_;
  const OtherRuns* others_;
  typename SolverFields<S>::SystemFields& place_;
  int number_of_place_;
  int system_;
  std::size_t systems_ = 1;
  Report& report_;
  FieldView<const S> b_;  // in the operator's basis
  FieldView<S> x_;
  const FieldView<const S>& user_b_;
  const FieldView<S>& user_x_;
  StoredScalar copy_;  // own: there is none
  SolveGoal<sum> goal_;
  SolveState<sum> state_;
  RunLimits<sum> limits_;
  SolveProgress last_progress_;  // at the last iteration
  bool was_cancelled_ = false;   // between iterations of the preconditioner
  int end_of_run_ = device::loop_runs;
  sum drop_squared_ = 0;       // |r|^2 of the recurrence at the iterate that was kept last
  sum drop_size_ = -1;         // |x|^2 there, or where the run began; -1: not known yet
  bool has_drop_ = false;      // the kept iterate is one of this run
  bool grew_in_vain_ = false;  // x grew in vain in this run, which ended it
  bool is_refused_ = false;    // b is not finite
  bool left_copy_ = false;
  bool forgot_guess_ = false;
  MovedBytes moved_;
  long long looked_at_ = 0;  // iteration at which rounding was last estimated
  StopRequests stop_{solver_.inputs.options.time_limit, stream().share};
};

}  // namespace heddle::detail
