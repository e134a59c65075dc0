// Work before the first product: the choice of a plan, the build, kernels, new values, and the
// conversions into the basis and out of it.
#include <chrono>

#include "heddle/choose_plan.hpp"
#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "interleave.hpp"
#include "kernel_compilation.hpp"
#include "own_plans.hpp"
#include "suite.hpp"

namespace heddle::bench {

namespace {

template <class F>
double seconds_of(const Device& device, F&& work) {
  using Clock = std::chrono::steady_clock;
  device.synchronize();
  const auto start = Clock::now();
  work();
  device.synchronize();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The natural plan and the chosen one; only once where they are the same.
std::vector<OwnPlan> plans_of(const AnyMatrix& matrix, const Device& device) {
  return own_plans(matrix, device, Objective(), {});
}

void add_record(Session& session, Record record, const std::vector<OwnPlan>& plans,
                const std::vector<Candidate>& candidates) {
  add_own_candidates(record, plans, candidates,
                     [](const Candidate&) { return std::optional<double>(); });
  session.add(std::move(record));
}

/// Times runs of each plan, interleaved. `prepare(plan)` makes a run; its exceptions are failures.
template <class Prepare>
void time_each(Session& session, Record record, const std::vector<OwnPlan>& plans,
               bool follows_itself, Prepare&& prepare) {
  session.doing(record.quantity);
  std::vector<Candidate> candidates(plans.size());
  std::vector<std::size_t> timed;
  std::vector<TimedRun> runs;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    or_failure(candidates[i], [&] {
      runs.push_back(prepare(*plans[i].plan));
      timed.push_back(i);
    });
  }
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing() / 3;
  options.follows_itself = follows_itself;
  const std::vector<Interleaved> outcomes = interleave(runs, options);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    Candidate& candidate = candidates[timed[i]];
    if (outcomes[i].failure.empty()) {
      candidate.seconds = outcomes[i].timing;
    } else {
      candidate.failure = one_line(outcomes[i].failure);
    }
  }
  add_record(session, std::move(record), plans, candidates);
}

/// Times works that only queue: on a GPU by graphs, on a CPU like `time_each`.
template <class Prepare>
void time_each_queued(Session& session, Record record, const std::vector<OwnPlan>& plans,
                      Prepare&& prepare) {
  const Device& device = session.device();
  if (!device.on_gpu()) {
    time_each(session, std::move(record), plans, true, [&](const Plan& plan) -> TimedRun {
      return [work = prepare(plan), device] {
        return seconds_of(device, [&] { work(device.stream()); });
      };
    });
    return;
  }
  session.doing(record.quantity);
  std::vector<Candidate> candidates(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    or_failure(candidates[i], [&] {
      const std::vector<std::function<void(const Stream&)>> work = {prepare(*plans[i].plan)};
      candidates[i].seconds = measure(work, session.settings().repetitions, device)[0];
    });
  }
  add_record(session, std::move(record), plans, candidates);
}

template <class E>
class Setup {
 public:
  using S = vector_scalar_t<E>;

  Setup(Session& session, const Problem& problem, const CsrMatrix<E>& matrix)
      : session_(session),
        problem_(problem),
        matrix_(matrix),
        device_(session.device()),
        plans_(plans_of(problem.matrix, device_)) {}

  void measure_all() {
    choice();
    build_from_host();
    if (device_.on_gpu()) {
      build_from_device();
      for (Record& record : kernel_compilation(problem_, plans_, device_)) {
        session_.doing(record.quantity);
        session_.add(std::move(record));
      }
    }
    new_values();
    permutations();
  }

 private:
  Record record(const char* quantity) const { return record_of("setup", problem_, quantity); }
  CsrView<E> view_on_device() const {
    CsrView<E> view = matrix_.view();
    view.device = device_;
    return view;
  }

  void choice() {
    std::vector<OwnPlan> chosen;
    for (const OwnPlan& plan : plans_) {
      if (plan.chosen) chosen.push_back(plan);
    }
    chosen[0].natural = false;
    time_each(session_, record("choose plan"), chosen, false, [&](const Plan&) -> TimedRun {
      return [this] {
        return seconds_of(device_, [&] { static_cast<void>(choose_plan(matrix_, device_)); });
      };
    });
  }

  void build_from_host() {
    time_each(session_, record("build"), plans_, false, [&](const Plan& plan) -> TimedRun {
      return [this, plan] {
        std::optional<Operator<E>> built;
        return seconds_of(device_, [&] { built.emplace(view_on_device(), plan); });
      };
    });
  }

  void build_from_device() {
    const auto offsets = std::make_shared<Array<Offset>>(matrix_.offsets().span(), device_);
    const auto column = std::make_shared<Array<Index>>(matrix_.column().span(), device_);
    const auto values =
        std::make_shared<Array<stored_scalar_t<E>>>(matrix_.values().span(), device_);
    CsrView<E> view = view_on_device();
    view.offsets = OffsetsView(offsets->data());
    view.column = column->data();
    view.values = values->data();
    time_each(session_, record("build from GPU"), plans_, false,
              [&, this](const Plan& plan) -> TimedRun {
                return [this, plan, view] {
                  std::optional<Operator<E>> built;
                  return seconds_of(device_, [&] { built.emplace(view, plan); });
                };
              });
  }

  void new_values() {
    Record updates = record("update values");
    // Values read and written; the map between the two orders is the layout's own.
    updates.compulsory_bytes = 2 * matrix_.entries() * static_cast<long long>(sizeof(E));
    time_each_queued(session_, std::move(updates), plans_, [&](const Plan& plan) {
      const AnyOperator A(problem_.matrix, plan, device_);
      return [work = std::shared_ptr<OperatorWork>(value_update_work(A, problem_.matrix))](
                 const Stream& stream) { work->run(stream); };
    });
  }

  struct Fields {
    Operator<E> A;
    Field<E> user;
    Field<E> basis;

    Fields(const CsrView<E>& view, const Plan& plan, const Device& user_memory)
        : A(view, plan),
          user(A.columns(), user_memory),
          basis(A.columns(), view.device, A.vector_layout(), A.column_basis()) {}
  };

  void permutations() {
    Record in = record("permute in"), out = record("permute out");
    const long long bytes =
        2LL * matrix_.columns() * tile_columns<E> * static_cast<long long>(sizeof(S));
    in.compulsory_bytes = out.compulsory_bytes = bytes;
    const auto fields = [&](const Plan& plan, const Device& user_memory) {
      return std::make_shared<Fields>(view_on_device(), plan, user_memory);
    };
    time_each_queued(session_, std::move(in), plans_, [&](const Plan& plan) {
      return [f = fields(plan, device_)](const Stream& stream) {
        permute<S>(f->user, f->basis, S(1), stream);
      };
    });
    time_each_queued(session_, std::move(out), plans_, [&](const Plan& plan) {
      return [f = fields(plan, device_)](const Stream& stream) {
        permute<S>(f->basis, f->user, S(1), stream);
      };
    });
    if (!device_.on_gpu()) return;
    time_each(session_, record("permute in from host"), plans_, true,
              [&](const Plan& plan) -> TimedRun {
                return [f = fields(plan, Device::cpu()), device = device_] {
                  return seconds_of(device,
                                    [&] { permute<S>(f->user, f->basis, S(1), device.stream()); });
                };
              });
    time_each(session_, record("permute out to host"), plans_, true,
              [&](const Plan& plan) -> TimedRun {
                return [f = fields(plan, Device::cpu()), device = device_] {
                  return seconds_of(device,
                                    [&] { permute<S>(f->basis, f->user, S(1), device.stream()); });
                };
              });
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix<E>& matrix_;
  Device device_;
  std::vector<OwnPlan> plans_;
};

}  // namespace

void setup_suite(Session& session, const Problem& problem) {
  problem.matrix.visit([&]<class E>(const CsrMatrix<E>& matrix) {
    Setup<E>(session, problem, matrix).measure_all();
  });
}

}  // namespace heddle::bench
