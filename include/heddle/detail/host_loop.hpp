// A method on a CPU: each step of its listing is done when it is read. An update and a
// preconditioner that acts by rows share one walk over the field, 256 rows at a time.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "heddle/detail/groups.hpp"
#include "heddle/detail/host_basis.hpp"
#include "heddle/detail/run.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/methods/listing.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::detail {

/// What a loop works with, and what outlives it.
template <class S>
struct LoopParts {
  const LinearOperator<S>* matrix = nullptr;
  const Preconditioner<S>* preconditioner = nullptr;  // null for none
  std::function<void(const FieldView<S>&)> project;   // out of a null space; empty without one
  std::vector<FieldView<S>> work;                     // the method's vectors behind x and r
  BasisRoom<S> basis;                                 // of a method that keeps one
  Reduction<S>* reduction = nullptr;
};

/// In place of a basis where a method keeps none.
struct NoBasis {
  template <class... T>
  explicit NoBasis(const T&...) {}
};

template <class M, class S>
class HostLoop final : public MethodLoop<S> {
 public:
  using T = sum_t<S>;

  explicit HostLoop(LoopParts<S> parts)
      : parts_(std::move(parts)),
        stream_(parts_.matrix->device().stream()),
        basis_(parts_.basis, parts_.matrix->rows(), stream_) {}

  RunResult<T> run(const FieldView<S>& x, const FieldView<S>& r,
                   const RunLimits<T>& limits) override {
    v_[0] = x;
    v_[1] = r;
    std::copy(parts_.work.begin(), parts_.work.end(), v_.begin() + 2);
    limits_ = &limits;
    history_.clear();
    end_ = device::loop_runs;
    pending_ = 0;
    c_ = {};
    if constexpr (has_basis) basis_.clear();
    if (perform<typename M::Start, 0>() && end_ == device::loop_runs) {
      while (perform<typename M::Iteration, 0>()) {
        if (limits.observe && !history_.empty()) {
          end_ = limits.observe(iterations(), history_.back());
          if (end_ != device::loop_runs) break;
        }
        swap_vectors();
      }
    }
    if constexpr (has_basis) form_solution<typename M::Finish>();
    return {end_, iterations(), history_};
  }

 private:
  static constexpr Ring R = M::ring;
  static constexpr bool has_basis = methods::has_basis<M>;
  using Number = Coefficient<R, T>;
  using Numbers = std::array<T, Reduction<S>::width>;

  template <class Sum>
  static constexpr int size_of_sum = Sum::in_ring ? ring_size(R) : 1;
  template <class... Sum>
  static constexpr int numbers_in(methods::Sums<Sum...>) {
    return (0 + ... + size_of_sum<Sum>);
  }
  template <class... Sum>
  static constexpr unsigned operands_of(methods::Sums<Sum...>) {
    return (0u | ... | ((1u << Sum::left) | (1u << Sum::right)));
  }
  template <class Step>
  static constexpr int numbers_of = numbers_in(typename Step::sums{});

  /// The data of all vectors, for one walk.
  struct Data {
    S* at[M::vectors];
  };

  long long iterations() const { return static_cast<long long>(history_.size()); }

  /// The steps of a listing from `i` on; false if the run has ended.
  template <class L, int i>
  bool perform() {
    if constexpr (i == L::count) {
      return true;
    } else {
      using Step = methods::step_at<L, i>;
      if constexpr (Step::kind == methods::StepKind::decide) {
        return decide<Step>(sums_.data()) && perform<L, i + 1>();
      } else if constexpr (Step::kind == methods::StepKind::orthogonalize) {
        return orthogonalize<Step>() && perform<L, i + 1>();
      } else if constexpr (Step::kind == methods::StepKind::update) {
        if constexpr (i + 1 < L::count) {
          using Next = methods::step_at<L, i + 1>;
          if constexpr (Next::kind == methods::StepKind::precondition && Next::in != Next::out) {
            if (parts_.preconditioner->acts_by_rows() && !parts_.project) {
              update_and_precondition<Step, Next>();
              return end_ == device::loop_runs && perform<L, i + 2>();
            }
          }
        }
        walk<Step, true>();
        return end_ == device::loop_runs && perform<L, i + 1>();
      } else {
        if constexpr (Step::kind == methods::StepKind::product) {
          multiply<Step>();
        } else {
          precondition<L, Step, i>();
        }
        return perform<L, i + 1>();
      }
    }
  }

  /// `sees`: sums, or a basis.
  template <class Step, class Sees>
  bool decide(Sees&& sees) {
    methods::Judge<T> judge{limits_->target, limits_->growth, limits_->squared_norm,
                            limits_->iterations, iterations()};
    Step::decision::decide(c_, sees, judge);
    pending_ = 0;
    if (judge.concluded) history_.push_back(judge.squared_norm);
    end_ = judge.end;
    return !judge.at_once;
  }

  template <class Step>
  bool orthogonalize() {
    if (!basis_.orthogonalize(v_[Step::in], v_[Step::out], [&] {
          return decide<Step>(basis_.numbers()) && end_ == device::loop_runs;
        })) {
      return false;
    }
    // A preconditioner that writes into the second basis leaves nothing to copy.
    if constexpr (methods::is_flexible<M>) v_[M::Finish::out].data = basis_.preconditioned();
    return true;
  }

  template <class Finish>
  void form_solution() {
    Finish::decision::decide(c_, basis_.numbers());
    basis_.combine(v_[Finish::in]);
    if constexpr (Finish::in == Finish::out || Finish::is_flexible) {
      return axpby<S>(S(1), v_[Finish::in], S(1), v_[0], stream_);
    }
    parts_.preconditioner->apply(v_[Finish::in], v_[Finish::out], stream_);
    if (parts_.project) parts_.project(v_[Finish::out]);
    axpby<S>(S(1), v_[Finish::out], S(1), v_[0], stream_);
  }

  template <class Step>
  void multiply() {
    if constexpr (is_real_dot_of_product<Step>(typename Step::sums{})) {
      add(Number::from_real(
          parts_.matrix->apply_dot(v_[Step::in], v_[Step::out], *parts_.reduction, stream_)));
    } else {
      parts_.matrix->apply(S(1), v_[Step::in], S(0), v_[Step::out], stream_);
      walk<Step, false>();
    }
  }
  template <class Step, class... Sum>
  static constexpr bool is_real_dot_of_product(methods::Sums<Sum...>) {
    return sizeof...(Sum) == 1 &&
           ((!Sum::in_ring && Sum::left == Step::in && Sum::right == Step::out) && ...);
  }

  template <class L, class Step, int i>
  void precondition() {
    if constexpr (Step::in == Step::out) {
      static constexpr methods::Facts facts = methods::facts_of<L>;
      for (int s = facts.step[i].first_sum; s < facts.step[i].first_sum + facts.step[i].sums; ++s) {
        static_assert(facts.own_numbers(i, R) == 0,
                      "sums of the vector itself belong to its update");
        add(sums_[static_cast<std::size_t>(pending_ - (s - facts.sum[s].same))]);
      }
    } else {
      parts_.preconditioner->apply(v_[Step::in], v_[Step::out], stream_);
      if (parts_.project) parts_.project(v_[Step::out]);
      walk<Step, false>();
    }
  }

  /// One step on every element: what it changes, if it `updates`, and its sums.
  template <class Step, bool updates>
  void walk() {
    constexpr int N = numbers_of<Step>;
    if constexpr (updates || N > 0) {
      const Data data = data_of_vectors();
      const auto c = methods::rounded<S>(c_);
      const Offset distance = prefetch_distance(v_[0]);
      for_each_group(v_[0], stream_, [&](Index group) {
        const auto sums = visit_group<Step, updates>(group, data, c, distance);
        std::copy(sums.begin(), sums.end(), parts_.reduction->partials(group));
      });
      finish<Step>();
    }
  }

  template <class Update, class Next>
  void update_and_precondition() {
    constexpr int N = numbers_of<Update>;
    const Data data = data_of_vectors();
    const auto c = methods::rounded<S>(c_);
    const Offset distance = prefetch_distance(v_[0]);
    const FieldView<const S> in = v_[Next::in];
    for_each_group(v_[0], stream_, [&](Index group) {
      const auto of_update = visit_group<Update, true>(group, data, c, distance);
      const Index first = group * rows_of_group;
      const Offset end = Offset(first) + rows_of_group;
      parts_.preconditioner->apply_rows(in, v_[Next::out], first,
                                        static_cast<Index>(std::min<Offset>(v_[0].size, end)));
      const auto of_next = visit_group<Next, false>(group, data, c, 0);
      T* const sums = parts_.reduction->partials(group);
      std::copy(of_update.begin(), of_update.end(), sums);
      std::copy(of_next.begin(), of_next.end(), sums + N);
    });
    const auto sums = parts_.reduction->finish(N + numbers_of<Next>);
    add_sums(typename Update::sums{}, sums, 0);
    add_sums(typename Next::sums{}, sums, N);
  }

  template <class Step>
  void finish() {
    constexpr int N = numbers_of<Step>;
    if constexpr (N > 0) add_sums(typename Step::sums{}, parts_.reduction->finish(N), 0);
  }

  template <class Step, bool updates>
  std::array<T, numbers_of<Step>> visit_group(Index group, const Data& data,
                                              const methods::Coefficients<M, S>& c,
                                              Offset distance) const {
    constexpr int N = numbers_of<Step>;
    std::array<T, N> sums{};
    const auto over_run = [&](const auto& run) {
      const auto ahead = [&]<int elements>(Offset i) {
        methods::each<0, M::vectors>([&]<int k>() {
          if constexpr (((loads<Step, updates> | Step::writes) >> k & 1u) != 0) {
            prefetch_behind<elements>(run, i, distance, data.at[k]);
          }
        });
      };
      if constexpr (N > 0) {
        const auto of_run = sum_over<T, N>(
            run.count, [&](Offset i, T* into) { visit<Step, updates>(run, i, data, c, into); },
            [&](Offset i) { ahead.template operator()<lanes_of_sums<N>>(i); });
        for (std::size_t n = 0; n < N; ++n) sums[n] += of_run[n];
      } else {
        constexpr int block = 8;
        Offset i = 0;
        for (; i + block <= run.count; i += block) {
          ahead.template operator()<block>(i);
          for (int k = 0; k < block; ++k) visit<Step, updates>(run, i + k, data, c, sums.data());
        }
        for (; i < run.count; ++i) visit<Step, updates>(run, i, data, c, sums.data());
      }
    };
    for_each_run<R>(v_[0], group, over_run);
    return sums;
  }

  template <class Step, bool updates>
  static constexpr unsigned loads =
      (updates ? Step::reads : 0u) |
      (operands_of(typename Step::sums{}) & ~(updates ? Step::writes : 0u));

  template <class Step, bool updates, class Run>
  static HEDDLE_INLINE void visit(const Run& run, Offset i, const Data& data,
                                  const methods::Coefficients<M, S>& c, T* into) {
    Coefficient<R, S> e[M::vectors];
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr ((loads<Step, updates> >> k & 1u) != 0) e[k] = element<R>(data.at[k], run, i);
    });
    if constexpr (updates) {
      Step::body::at(e, c);
      methods::each<0, M::vectors>([&]<int k>() {
        if constexpr ((Step::writes >> k & 1u) != 0) set_element<R>(data.at[k], run, i, e[k]);
      });
    }
    add_terms(typename Step::sums{}, e, into);
  }
  template <class... Sum, class V>
  static HEDDLE_INLINE void add_terms(methods::Sums<Sum...>, const V& e, [[maybe_unused]] T* into) {
    ((methods::add_term<Sum>(e, into), into += size_of_sum<Sum>), ...);
  }

  void add(const Number& sum) { sums_[static_cast<std::size_t>(pending_++)] = sum; }
  template <class... Sum>
  void add_sums(methods::Sums<Sum...>, const Numbers& sums, std::size_t at) {
    [[maybe_unused]] const auto take = [&](int size) {
      Number sum{};
      for (int k = 0; k < size; ++k) sum.component[k] = sums[at++];
      add(sum);
    };
    (take(size_of_sum<Sum>), ...);
  }

  Data data_of_vectors() const {
    Data data;
    for (int k = 0; k < M::vectors; ++k) data.at[k] = v_[static_cast<std::size_t>(k)].data;
    return data;
  }
  void swap_vectors() {
    if constexpr (requires { typename M::Swaps; }) swap_all(typename M::Swaps{});
  }
  template <class... Swap>
  void swap_all(methods::Listing<Swap...>) {
    (std::swap(v_[Swap::a], v_[Swap::b]), ...);
  }

  LoopParts<S> parts_;
  Stream stream_;
  std::conditional_t<has_basis, HostBasis<M, S>, NoBasis> basis_;
  std::array<FieldView<S>, M::vectors> v_;
  const RunLimits<T>* limits_ = nullptr;
  methods::Coefficients<M, T> c_{};
  std::array<Number, methods::most_sums> sums_{};
  int pending_ = 0;  // of them
  int end_ = 0;
  std::vector<T> history_;
};

}  // namespace heddle::detail
