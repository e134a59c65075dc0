// A method on a CPU: each step of its listing is done when it is read. An update and a
// preconditioner that acts by rows share one walk over the field, 256 rows at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/groups.hpp"
#include "heddle/detail/host_basis.hpp"
#include "heddle/detail/host_walk.hpp"
#include "heddle/detail/loop_parts.hpp"
#include "heddle/methods/listing.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::detail {

/// In place of a basis where a method keeps none.
struct NoBasis {};

template <class M, class S, class StoredBasis = S>
class HostLoop final : public MethodLoop<S> {
 public:
  using T = sum_t<S>;

  explicit HostLoop(LoopParts<S> parts)
      : parts_(std::move(parts)), stream_(parts_.matrix->device().stream()) {
    for (const LoopVectors<S>& vectors : parts_.systems) {
      systems_.push_back({.basis = make_basis(vectors.basis)});
    }
  }

  void run(std::span<const RunOf<S>> runs, std::span<RunResult<T>> results) override {
    for (const RunOf<S>& run : runs) begin(run);
    perform<typename M::Start, 0>();
    for_each_running([](System& system) { system.runs = system.end == device::loop_runs; });
    while (std::any_of(systems_.begin(), systems_.end(), [](const auto& s) { return s.runs; })) {
      perform<typename M::Iteration, 0>();
      for_each_running([](System& system) {
        const RunLimits<T>& limits = *system.limits;
        if (limits.observe && !system.history.empty()) {
          system.end = limits.observe(system.iterations(), system.history.back());
          system.runs = system.end == device::loop_runs;
        }
        if (system.runs) swap_vectors(system);
      });
    }
    for (std::size_t k = 0; k < runs.size(); ++k) {
      System& system = systems_[static_cast<std::size_t>(runs[k].place)];
      if constexpr (has_basis) {
        // The newest vector of the basis has lain there.
        system.v[M::Finish::in] =
            parts_.systems[static_cast<std::size_t>(runs[k].place)].work[M::Finish::in - 2];
        form_solution<typename M::Finish>(system);
      }
      results[k] = {system.end, system.iterations(), system.history};
    }
  }

 private:
  static constexpr Ring R = M::ring;
  static constexpr bool has_basis = methods::has_basis<M>;
  static constexpr bool preconditions_in_place =
      methods::is_flexible<M> && std::is_same_v<S, StoredBasis>;
  using Number = Coefficient<R, T>;
  using Numbers = std::array<T, Reduction<S>::width>;
  using Basis = std::conditional_t<has_basis, HostBasis<R, S, StoredBasis>, NoBasis>;

  using Walk = HostWalk<M, S>;
  using Data = typename Walk::Data;
  template <class Step>
  static constexpr int numbers_of = Walk::template numbers_of<Step>;

  /// One of those that run side by side.
  struct System {
    Basis basis;
    bool runs = false;
    std::array<FieldView<S>, M::vectors> v = {};
    const RunLimits<T>* limits = nullptr;
    methods::Coefficients<M, T> c = {};
    std::array<Number, methods::most_sums> sums = {};
    int pending = 0;  // of them
    int end = device::loop_runs;
    S factor = 0;  // of M^-1 v that a narrow basis keeps; 0: not known yet
    std::vector<T> history = {};

    long long iterations() const { return static_cast<long long>(history.size()); }
    void add(const Number& sum) { sums[static_cast<std::size_t>(pending++)] = sum; }
    Data data() const {
      Data data;
      for (int k = 0; k < M::vectors; ++k) data.at[k] = v[static_cast<std::size_t>(k)].data;
      return data;
    }
  };

  Basis make_basis([[maybe_unused]] const BasisRoom& room) const {
    if constexpr (has_basis) {
      return Basis(room, methods::is_flexible<M>, M::kept_numbers(room.most), parts_.matrix->rows(),
                   stream_);
    } else {
      return {};
    }
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
    system.c = {};
    for (int k = 0; k < std::min<int>(device::most_given, M::scalars); ++k) {
      system.c[k] = Number::from_real(run.limits->given[static_cast<std::size_t>(k)]);
    }
    if constexpr (has_basis) system.basis.clear();
    system.runs = true;
  }

  /// The steps of a listing from `i` on, of all systems that run.
  template <class L, int i>
  void perform() {
    if constexpr (i < L::count) {
      using Step = methods::step_at<L, i>;
      if constexpr (Step::kind == methods::StepKind::product) {
        multiply<Step>();
      } else if constexpr (Step::kind == methods::StepKind::update) {
        if constexpr (i + 1 < L::count) {
          using Next = methods::step_at<L, i + 1>;
          if constexpr (Next::kind == methods::StepKind::precondition && Next::in != Next::out) {
            if (parts_.preconditioner->acts_by_rows() && !parts_.project) {
              for_each_running([&](System& system) {
                update_and_precondition<Step, Next>(system);
                system.runs = system.end == device::loop_runs;
              });
              return perform<L, i + 2>();
            }
          }
        }
        for_each_running([&](System& system) {
          walk<Step, true>(system);
          system.runs = system.end == device::loop_runs;
        });
      } else {
        for_each_running([&](System& system) {
          if constexpr (Step::kind == methods::StepKind::decide) {
            system.runs = decide<Step>(system, system.sums.data());
          } else if constexpr (Step::kind == methods::StepKind::orthogonalize) {
            system.runs = orthogonalize<Step>(system);
          } else {
            precondition<L, Step, i>(system);
          }
        });
      }
      perform<L, i + 1>();
    }
  }

  /// False where the run ends at once. `sees`: sums, or a basis.
  template <class Step, class Sees>
  static bool decide(System& system, Sees&& sees) {
    const RunLimits<T>& limits = *system.limits;
    methods::Judge<T> judge{limits.target,       limits.growth,
                            limits.squared_norm, limits.iterations,
                            system.iterations(), T(std::numeric_limits<S>::epsilon())};
    Step::decision::decide(system.c, sees, judge);
    system.pending = 0;
    if (judge.concluded) system.history.push_back(judge.squared_norm);
    system.end = judge.end;
    return !judge.at_once;
  }

  /// Whether an update of the listing or a preconditioner writes to it.
  template <int vector, class... Step>
  static constexpr bool changes(methods::Listing<Step...>) {
    return ((Step::kind != methods::StepKind::orthogonalize && (Step::writes >> vector & 1u)) ||
            ...);
  }

  template <class Step>
  bool orthogonalize(System& system) {
    static_assert(!changes<Step::out>(typename M::Iteration{}), "v_out belongs to the basis");
    if (!system.basis.orthogonalize(system.v[Step::in], system.v[Step::out], [&] {
          return decide<Step>(system, system.basis.numbers()) && system.end == device::loop_runs;
        })) {
      return false;
    }
    if constexpr (Basis::is_in_place) system.v[Step::out].data = system.basis.newest();
    // A preconditioner that writes into the second basis leaves nothing to copy.
    if constexpr (preconditions_in_place) {
      system.v[M::Finish::out].data = system.basis.preconditioned();
    }
    return true;
  }

  template <class Finish>
  void form_solution(System& system) {
    const FieldView<S>&v = system.v[Finish::in], z = system.v[Finish::out];
    Finish::decision::decide(system.c, system.basis.numbers());
    system.basis.combine(v);
    if constexpr (Finish::in == Finish::out || Finish::is_flexible) {
      return axpby<S>(S(1), v, S(1), system.v[0], stream_);
    }
    parts_.preconditioner->apply(v, z, stream_);
    if (parts_.project) parts_.project(z);
    axpby<S>(S(1), z, S(1), system.v[0], stream_);
  }

  /// As many products at a time as a pass over the matrix takes.
  template <class Step>
  void multiply() {
    constexpr bool with_dot = is_real_dot_of_product<Step>(typename Step::sums{});
    std::array<System*, Reduction<S>::width> taken;
    std::size_t count = 0;
    const auto multiply_taken = [&] {
      std::array<FieldView<const S>, Reduction<S>::width> x;
      std::array<FieldView<S>, Reduction<S>::width> y;
      std::array<T, Reduction<S>::width> dots{};
      for (std::size_t k = 0; k < count; ++k) {
        x[k] = taken[k]->v[Step::in];
        y[k] = taken[k]->v[Step::out];
      }
      parts_.matrix->apply_all({x.data(), count}, {y.data(), count},
                               {dots.data(), with_dot ? count : 0}, *parts_.reduction, stream_);
      for (std::size_t k = 0; k < count; ++k) {
        if constexpr (with_dot) {
          taken[k]->add(Number::from_real(dots[k]));
        } else {
          walk<Step, false>(*taken[k]);
        }
      }
      count = 0;
    };
    for_each_running([&](System& system) {
      taken[count++] = &system;
      if (count == taken.size()) multiply_taken();
    });
    if (count > 0) multiply_taken();
  }
  template <class Step, class... Sum>
  static constexpr bool is_real_dot_of_product(methods::Sums<Sum...>) {
    return sizeof...(Sum) == 1 &&
           ((!Sum::in_ring && Sum::left == Step::in && Sum::right == Step::out) && ...);
  }

  template <class L, class Step, int i>
  void precondition(System& system) {
    if constexpr (Step::in == Step::out) {
      static constexpr methods::Facts facts = methods::facts_of<L>;
      for (int s = facts.step[i].first_sum; s < facts.step[i].first_sum + facts.step[i].sums; ++s) {
        static_assert(facts.own_numbers(i, R) == 0,
                      "sums of the vector itself belong to its update");
        const int before = s - facts.sum[s].same;
        system.add(system.sums[static_cast<std::size_t>(system.pending - before)]);
      }
    } else {
      parts_.preconditioner->apply(system.v[Step::in], system.v[Step::out], stream_);
      if (parts_.project) parts_.project(system.v[Step::out]);
      if constexpr (methods::is_flexible<M> && !preconditions_in_place) {
        bring_into_floats(system, system.v[Step::out]);
        system.basis.keep_preconditioned(system.v[Step::out]);
      }
      walk<Step, false>(system);
    }
  }

  /// M^-1 v of a matrix of any size would leave the range of floats: the preconditioner of a run is
  /// a multiple of the caller's, by a power of two, where its first vector is far from 1.
  void bring_into_floats(System& system, const FieldView<S>& z) {
    constexpr int far = 60;
    if (system.factor == 0) {
      const T largest = largest_magnitude<S>(z, *parts_.reduction, stream_);
      const int exponent = largest > 0 && methods::is_finite(largest) ? std::ilogb(largest) : 0;
      system.factor = std::abs(exponent) > far ? static_cast<S>(std::exp2(-exponent)) : S(1);
    }
    if (system.factor != 1) scale<S>(system.factor, z, stream_);
  }

  /// One step on every element: what it changes, if it `updates`, and its sums.
  template <class Step, bool updates>
  void walk(System& system) {
    constexpr int N = numbers_of<Step>;
    if constexpr (updates || N > 0) {
      const FieldView<S>& x = system.v[0];
      const Data data = system.data();
      const auto c = methods::rounded<S>(system.c);
      const Offset distance = prefetch_distance(x);
      for_each_group(x, stream_, [&](Index group) {
        const auto sums = Walk::template visit_group<Step, updates>(x, group, data, c, distance);
        std::copy(sums.begin(), sums.end(), parts_.reduction->partials(group));
      });
      finish<Step>(system);
    }
  }

  template <class Update, class Next>
  void update_and_precondition(System& system) {
    constexpr int N = numbers_of<Update>;
    const FieldView<S>& x = system.v[0];
    const Data data = system.data();
    const auto c = methods::rounded<S>(system.c);
    const Offset distance = prefetch_distance(x);
    const FieldView<const S> in = system.v[Next::in];
    for_each_group(x, stream_, [&](Index group) {
      const auto of_update = Walk::template visit_group<Update, true>(x, group, data, c, distance);
      const Index first = group * rows_of_group;
      const Offset end = Offset(first) + rows_of_group;
      parts_.preconditioner->apply_rows(in, system.v[Next::out], first,
                                        static_cast<Index>(std::min<Offset>(x.size, end)));
      const auto of_next = Walk::template visit_group<Next, false>(x, group, data, c, 0);
      T* const sums = parts_.reduction->partials(group);
      std::copy(of_update.begin(), of_update.end(), sums);
      std::copy(of_next.begin(), of_next.end(), sums + N);
    });
    const auto sums = parts_.reduction->finish(N + numbers_of<Next>);
    add_sums(system, typename Update::sums{}, sums, 0);
    add_sums(system, typename Next::sums{}, sums, N);
  }

  template <class Step>
  void finish(System& system) {
    constexpr int N = numbers_of<Step>;
    if constexpr (N > 0) add_sums(system, typename Step::sums{}, parts_.reduction->finish(N), 0);
  }

  template <class... Sum>
  static void add_sums(System& system, methods::Sums<Sum...>, const Numbers& sums, std::size_t at) {
    [[maybe_unused]] const auto take = [&](int size) {
      Number sum{};
      for (int k = 0; k < size; ++k) sum.component[k] = sums[at++];
      system.add(sum);
    };
    (take(Walk::template size_of_sum<Sum>), ...);
  }

  static void swap_vectors(System& system) {
    if constexpr (requires { typename M::Swaps; }) swap_all(system.v, typename M::Swaps{});
  }
  template <class V, class... Swap>
  static void swap_all(V& v, methods::Listing<Swap...>) {
    (std::swap(v[Swap::a], v[Swap::b]), ...);
  }

  LoopParts<S> parts_;
  Stream stream_;
  std::vector<System> systems_;
};

}  // namespace heddle::detail
