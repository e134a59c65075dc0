// A method on a CPU: each step of its listing is executed as it is read, by the functions of its
// table. An update and a preconditioner that acts by rows share one walk over the field, 256 rows
// at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/long_double.hpp"
#include "heddle/detail/groups.hpp"
#include "heddle/detail/host_method.hpp"
#include "heddle/vector_operations.hpp"
#include "host_basis.hpp"

namespace heddle::detail {
namespace {

/// Step i of a listing.
template <class S>
struct ListedStep {
  const methods::Facts& listing;
  int i;
  const HostStep<S>& calls;

  const methods::StepFacts& facts() const { return listing.step[i]; }
  int in() const { return facts().in; }
  int out() const { return facts().out; }
  std::span<const methods::SumFacts> sums() const {
    return {listing.sum + facts().first_sum, static_cast<std::size_t>(facts().sums)};
  }
};

/// One of the systems that run side by side. Numbers of the method's ring lie one after another.
template <class S>
struct HostSystem {
  using T = sum_t<S>;

  std::unique_ptr<HostBasis<S>> basis = nullptr;  // for a method that keeps one
  bool runs = false;
  std::array<FieldView<S>, methods::max_vectors> v = {};
  const RunLimits<T>* limits = nullptr;
  std::vector<T> c = {};        // coefficients
  std::vector<S> rounded = {};  // the same in the precision of the vectors
  std::array<T, std::size_t(4) * methods::max_sums> sums = {};
  int pending = 0;  // number of sums that await a decision
  int end = device::loop_runs;
  S factor = 0;  // scales the M^-1 v that a narrow basis keeps; 0: not known yet
  std::vector<T> history = {};

  long long iterations() const { return static_cast<long long>(history.size()); }
  std::array<S*, methods::max_vectors> data(const VectorMap& vectors) const {
    std::array<S*, methods::max_vectors> data;
    for (std::size_t k = 0; k < data.size(); ++k) {
      data[k] = v[static_cast<unsigned char>(vectors[k])].data;
    }
    return data;
  }
  const S* coefficients() {
    std::transform(c.begin(), c.end(), rounded.begin(),
                   [](T value) { return static_cast<S>(value); });
    return rounded.data();
  }
  const FieldView<S>& in(const ListedStep<S>& step) const {
    return v[static_cast<std::size_t>(step.in())];
  }
  FieldView<S>& out(const ListedStep<S>& step) { return v[static_cast<std::size_t>(step.out())]; }
};

template <class S>
class HostLoop final : public MethodLoop<S> {
 public:
  using T = sum_t<S>;
  using System = HostSystem<S>;

  HostLoop(const MethodProgram& program, const HostMethod<S>& method, LoopParts<S> parts)
      : program_(program),
        method_(method),
        parts_(std::move(parts)),
        stream_(parts_.matrix->device().stream()) {
    for (const LoopVectors<S>& vectors : parts_.systems) {
      System& system = systems_.emplace_back();
      system.c.resize(static_cast<std::size_t>(method.scalars * size()));
      system.rounded.resize(system.c.size());
      if (method.finish == nullptr) continue;
      system.basis = make_host_basis<S>(program.ring, vectors.basis, program.is_flexible,
                                        program.kept_numbers(vectors.basis.most),
                                        parts_.matrix->rows(), stream_);
    }
  }

  void run(std::span<const RunOf<S>> runs, std::span<RunResult<T>> results) override {
    for (const RunOf<S>& run : runs) begin(run);
    perform(program_.start, method_.start);
    for_each_running([](System& system) { system.runs = system.end == device::loop_runs; });
    while (std::any_of(systems_.begin(), systems_.end(), [](const auto& s) { return s.runs; })) {
      perform(program_.iteration, method_.iteration);
      for_each_running([&](System& system) {
        const RunLimits<T>& limits = *system.limits;
        if (limits.observe && !system.history.empty()) {
          system.end = limits.observe(system.iterations(), system.history.back());
          system.runs = system.end == device::loop_runs;
        }
        if (!system.runs) return;
        for (const auto& [a, b] : program_.swaps) {
          std::swap(system.v[static_cast<std::size_t>(a)], system.v[static_cast<std::size_t>(b)]);
        }
      });
    }
    for (std::size_t k = 0; k < runs.size(); ++k) {
      System& system = systems_[static_cast<std::size_t>(runs[k].place)];
      if (system.basis) {
        // This field has pointed to the newest vector of the basis.
        const auto combined = static_cast<std::size_t>(program_.combination);
        system.v[combined] =
            parts_.systems[static_cast<std::size_t>(runs[k].place)].work[combined - 2];
        form_solution(system);
      }
      results[k] = {system.end, system.iterations(), system.history};
    }
  }

 private:
  using StepKind = methods::StepKind;
  using Step = ListedStep<S>;

  int size() const { return ring_size(program_.ring); }
  bool preconditions_in_place(const System& system) const {
    return program_.is_flexible && system.basis->is_in_place();
  }

  template <class Body>
  void for_each_running(const Body& body) {
    for (System& system : systems_) {
      if (system.runs) body(system);
    }
  }

  void begin(const RunOf<S>& run) {
    const auto place = static_cast<std::size_t>(run.place);
    const std::vector<FieldView<S>>& work = parts_.systems[place].work;
    System& system = systems_[place];
    system.v[0] = run.x;
    system.v[1] = run.r;
    std::copy(work.begin(), work.end(), system.v.begin() + 2);
    system.limits = run.limits;
    system.history.clear();
    system.end = device::loop_runs;
    system.pending = 0;
    system.factor = 0;
    std::fill(system.c.begin(), system.c.end(), T(0));
    for (int k = 0; k < std::min<int>(device::max_given, method_.scalars); ++k) {
      system.c[static_cast<std::size_t>(k * size())] =
          run.limits->given[static_cast<std::size_t>(k)];
    }
    if (system.basis) system.basis->clear();
    system.runs = true;
  }

  /// Performs the steps of a listing, each for all systems that run.
  void perform(const methods::Facts& listing, const HostStep<S>* calls) {
    for (int i = 0; i < listing.steps; ++i) {
      const Step step{listing, i, calls[i]};
      switch (step.facts().kind) {
        case StepKind::product:
          multiply(step);
          break;
        case StepKind::update:
          if (acts_by_rows(listing, i + 1)) {
            const Step next{listing, ++i, calls[i]};
            for_each_running([&](System& system) { update_and_precondition(system, step, next); });
          } else {
            for_each_running([&](System& system) { walk(system, step, calls[i].update); });
          }
          for_each_running([](System& system) { system.runs = system.end == device::loop_runs; });
          break;
        case StepKind::precondition:
          for_each_running([&](System& system) { precondition(system, step); });
          break;
        case StepKind::decide:
          for_each_running([&](System& system) {
            system.runs = decide(system, [&](auto& judge) {
              step.calls.decide(system.c.data(), system.sums.data(), system.pending, judge);
            });
          });
          break;
        case StepKind::orthogonalize:
          for_each_running([&](System& system) { system.runs = orthogonalize(system, step); });
          break;
      }
    }
  }

  /// True where step i is a preconditioner that can share the walk of the update before it.
  bool acts_by_rows(const methods::Facts& listing, int i) const {
    if (i == listing.steps || listing.step[i].kind != StepKind::precondition) return false;
    return listing.step[i].in != listing.step[i].out && parts_.preconditioner->acts_by_rows() &&
           !parts_.project;
  }

  /// False if the run ends at once.
  template <class Decision>
  static bool decide(System& system, const Decision& decision) {
    const RunLimits<T>& limits = *system.limits;
    methods::Judge<T> judge{limits.target,       limits.growth,
                            limits.squared_norm, limits.iterations,
                            system.iterations(), T(std::numeric_limits<S>::epsilon())};
    decision(judge);
    system.pending = 0;
    if (judge.concluded) system.history.push_back(judge.squared_norm);
    system.end = judge.end;
    return !judge.at_once;
  }

  bool orthogonalize(System& system, const Step& step) {
    HostBasis<S>& basis = *system.basis;
    basis.orthogonalize(system.in(step));
    const bool goes_on = decide(system, [&](auto& judge) {
      step.calls.decide_by_basis(system.c.data(), basis.numbers(), judge);
    });
    if (!goes_on || system.end != device::loop_runs) return false;
    basis.append(system.in(step), system.out(step));
    if (basis.is_in_place()) system.out(step).data = basis.newest();
    // A preconditioner that writes into the second basis leaves nothing to copy.
    if (preconditions_in_place(system)) {
      system.v[static_cast<std::size_t>(program_.preconditioned_combination)].data =
          basis.preconditioned();
    }
    return true;
  }

  void form_solution(System& system) {
    const int in = program_.combination, out = program_.preconditioned_combination;
    const FieldView<S>&v = system.v[static_cast<std::size_t>(in)],
          z = system.v[static_cast<std::size_t>(out)];
    method_.finish(system.c.data(), system.basis->numbers());
    system.basis->combine(v);
    if (in == out || program_.is_flexible) return axpby<S>(S(1), v, S(1), system.v[0], stream_);
    parts_.preconditioner->apply(v, z, stream_);
    if (parts_.project) parts_.project(z);
    axpby<S>(S(1), z, S(1), system.v[0], stream_);
  }

  /// One pass over the matrix computes several products.
  void multiply(const Step& step) {
    std::array<System*, Reduction<S>::width> taken;
    std::size_t count = 0;
    for_each_running([&](System& system) {
      taken[count++] = &system;
      if (count == taken.size()) multiply_together(step, {taken.data(), std::exchange(count, 0)});
    });
    if (count > 0) multiply_together(step, {taken.data(), count});
  }
  void multiply_together(const Step& step, std::span<System* const> systems) {
    std::array<FieldView<const S>, Reduction<S>::width> x;
    std::array<FieldView<S>, Reduction<S>::width> y;
    std::array<T, Reduction<S>::width> dots{};
    const std::size_t count = systems.size();
    for (std::size_t k = 0; k < count; ++k) {
      x[k] = systems[k]->in(step);
      y[k] = systems[k]->out(step);
    }
    const bool with_dots = step.calls.is_dot_of_product;
    parts_.matrix->apply_all({x.data(), count}, {y.data(), count},
                             {dots.data(), with_dots ? count : 0}, *parts_.reduction, stream_);
    for (std::size_t k = 0; k < count; ++k) {
      if (with_dots) {
        add_sums(*systems[k], step, &dots[k]);
      } else {
        walk(*systems[k], step, step.calls.sums);
      }
    }
  }

  void precondition(System& system, const Step& step) {
    if (step.in() == step.out()) {
      int sum = step.facts().first_sum;
      for (const methods::SumFacts& facts : step.sums()) repeat_sum(system, sum++ - facts.same);
      return;
    }
    parts_.preconditioner->apply(system.in(step), system.out(step), stream_);
    if (parts_.project) parts_.project(system.out(step));
    if (program_.is_flexible && !system.basis->is_in_place()) {
      bring_into_floats(system, system.out(step));
      system.basis->keep_preconditioned(system.out(step));
    }
    walk(system, step, step.calls.sums);
  }
  /// Appends again the sum that came `before` sums before the next one.
  void repeat_sum(System& system, int before) {
    T* const next = system.sums.data() + system.pending++ * size();
    std::copy_n(next - before * size(), size(), next);
  }

  /// M^-1 v could leave the range of floats, since a matrix may have any magnitude. If the first
  /// such vector of a run is far from 1, the run's preconditioner is the caller's times a power of
  /// two.
  void bring_into_floats(System& system, const FieldView<S>& z) {
    constexpr int far = 60;
    if (system.factor == 0) {
      const T largest = largest_magnitude<S>(z, *parts_.reduction, stream_);
      const int exponent = largest > 0 && methods::is_finite(largest) ? std::ilogb(largest) : 0;
      system.factor = std::abs(exponent) > far ? static_cast<S>(std::exp2(-exponent)) : S(1);
    }
    if (system.factor != 1) scale<S>(system.factor, z, stream_);
  }

  /// Executes one step on every element. `visit`: null if the step neither changes nor sums
  /// anything.
  void walk(System& system, const Step& step, VisitGroup<S> visit) {
    if (visit == nullptr) return;
    const FieldView<S>& x = system.v[0];
    const auto data = system.data(step.calls.vectors);
    const S* const c = system.coefficients();
    const Offset distance = prefetch_distance(x);
    for_each_group(x, stream_, [&](Index group) {
      visit(x, group, data.data(), c, distance, parts_.reduction->partials(group));
    });
    if (step.calls.numbers > 0) {
      add_sums(system, step, parts_.reduction->finish(step.calls.numbers).data());
    }
  }

  void update_and_precondition(System& system, const Step& update, const Step& next) {
    const FieldView<S>& x = system.v[0];
    const auto data = system.data(update.calls.vectors), after = system.data(next.calls.vectors);
    const S* const c = system.coefficients();
    const Offset distance = prefetch_distance(x);
    const FieldView<const S> in = system.in(next);
    const FieldView<S>& out = system.out(next);
    for_each_group(x, stream_, [&](Index group) {
      T* const sums = parts_.reduction->partials(group);
      update.calls.update(x, group, data.data(), c, distance, sums);
      const Index first = group * rows_of_group;
      const Offset end = Offset(first) + rows_of_group;
      parts_.preconditioner->apply_rows(in, out, first,
                                        static_cast<Index>(std::min<Offset>(x.size, end)));
      if (next.calls.sums == nullptr) return;
      next.calls.sums(x, group, after.data(), c, 0, sums + update.calls.numbers);
    });
    const auto sums = parts_.reduction->finish(update.calls.numbers + next.calls.numbers);
    add_sums(system, update, sums.data());
    add_sums(system, next, sums.data() + update.calls.numbers);
  }

  /// Adds the step's sums for the next decision; those in its ring have `size()` numbers.
  void add_sums(System& system, const Step& step, const T* numbers) {
    for (const methods::SumFacts& sum : step.sums()) {
      T* const to = system.sums.data() + system.pending++ * size();
      std::fill_n(to, size(), T(0));
      const int count = sum.in_ring ? size() : 1;
      std::copy_n(numbers, count, to);
      numbers += count;
    }
  }

  const MethodProgram& program_;
  const HostMethod<S>& method_;
  LoopParts<S> parts_;
  Stream stream_;
  std::vector<System> systems_;
};

}  // namespace

template <class S>
std::unique_ptr<MethodLoop<S>> make_host_loop(const MethodProgram& program,
                                              const HostMethod<S>& method, LoopParts<S> parts) {
  return std::make_unique<HostLoop<S>>(program, method, std::move(parts));
}

template std::unique_ptr<MethodLoop<float>> make_host_loop(const MethodProgram&,
                                                           const HostMethod<float>&,
                                                           LoopParts<float>);
template std::unique_ptr<MethodLoop<double>> make_host_loop(const MethodProgram&,
                                                            const HostMethod<double>&,
                                                            LoopParts<double>);
HEDDLE_IN_LONG_DOUBLE(template std::unique_ptr<MethodLoop<long double>> make_host_loop(
                          const MethodProgram&, const HostMethod<long double>&,
                          LoopParts<long double>);)

}  // namespace heddle::detail
