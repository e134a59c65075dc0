// The walk of a method's step over a group of 256 rows on a CPU: the update of its elements, then
// its sums. Separately, each is a loop that compilers vectorize. HostListings makes the table of a
// method's steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

#include "heddle/detail/groups.hpp"
#include "heddle/detail/host_method.hpp"
#include "heddle/detail/wide_loop.hpp"
#include "heddle/methods/listing.hpp"

namespace heddle::detail {

/// The same sum with vector 0 on the left, and on the right vector 1 if that is another one.
template <class Sum, int right = Sum::left == Sum::right ? 0 : 1>
using SumOfTwo = std::conditional_t<
    !Sum::in_ring, methods::RealDot<0, right>,
    std::conditional_t<Sum::conjugates, methods::Dot<0, right>, methods::PlainDot<0, right>>>;

/// The terms of such a sum over a run. A separate function: sums that are formed the same way, in
/// all steps and methods of a file, are compiled once.
template <Ring R, class S, class Sum>
struct SumTerms {
  using T = sum_t<S>;
  static constexpr int size = Sum::in_ring ? ring_size(R) : 1;
  static constexpr int lanes = lanes_of_sums<size>;
  using Lanes = std::array<std::array<T, size>, lanes>;

  template <class Run>
  __attribute__((noinline)) static void add(const Run& run, Offset begin, Offset end, const S* left,
                                            const S* right, Lanes& sums) {
    run_widely<S>([&] { add_terms(run, begin, end, left, right, sums); });
  }

 private:
  template <class Run>
  static HEDDLE_INLINE void add_terms(const Run& run, Offset begin, Offset end, const S* left,
                                      const S* right, Lanes& sums) {
    auto own = sums;  // in registers
    const auto add_term = [&](Offset i, int lane) __attribute__((always_inline)) {
      Coefficient<R, S> e[2];
      e[0] = element<R>(left, run, i);
      if constexpr (Sum::right == 1) e[1] = element<R>(right, run, i);
      methods::add_term<Sum>(e, own[static_cast<std::size_t>(lane)].data());
    };
    Offset i = begin;
    for (; i + lanes <= end; i += lanes) {
      for (int lane = 0; lane < lanes; ++lane) add_term(i + lane, lane);
    }
    for (int lane = 0; i + lane < end; ++lane) add_term(i + lane, lane);
    sums = own;
  }
};

template <class M, class S>
struct HostWalk {
  static constexpr Ring R = M::ring;
  using T = sum_t<S>;
  using Coefficients = methods::Coefficients<M, S>;

  /// The data of all vectors. Two may be the same memory (SameWalk): then a step writes at most one
  /// of them, and each iteration of its loop reads both before that.
  struct Data {
    S* at[M::vectors];
  };

  template <class Sum>
  static constexpr int size_of_sum = Sum::in_ring ? ring_size(R) : 1;
  template <class... Sum>
  static constexpr int numbers_in(methods::Sums<Sum...>) {
    return (0 + ... + size_of_sum<Sum>);
  }
  template <class Step>
  static constexpr int numbers_of = numbers_in(typename Step::sums{});

  /// A VisitGroup<S>: what the step changes, if it `updates`, and its sums.
  template <class Step, bool updates>
  static void visit_group(const FieldView<S>& x, Index group, S* const* vectors, const S* given,
                          Offset distance, T* sums) {
    Data data;
    for (int k = 0; k < M::vectors; ++k) data.at[k] = vectors[k];
    const auto c = numbers_at<Coefficients>(given);
    std::fill_n(sums, numbers_of<Step>, T(0));
    const auto over_run = [&](const auto& run) {
      visit_run<Step, updates>(run, data, c, distance, sums, typename Step::sums{});
    };
    run_widely<S>([&] { for_each_run<R>(x, group, over_run); });
  }

  /// Reads the coefficients that lie at `given` one after another.
  template <class C, class Number>
  static HEDDLE_INLINE C numbers_at(const Number* given) {
    C c;
    for (auto& number : c.at) {
      for (auto& component : number.component) component = *given++;
    }
    return c;
  }

 private:
  /// Elements of a run that stay in the cache from the update to the sums.
  static constexpr int block = 64;

  template <class... Sum>
  static constexpr unsigned operands_of(methods::Sums<Sum...>) {
    return (0u | ... | ((1u << Sum::left) | (1u << Sum::right)));
  }
  template <class Step, bool updates>
  static constexpr unsigned touched =
      (updates ? Step::reads | Step::writes : 0u) | operands_of(typename Step::sums{});

  template <class Step, bool updates, class Run, class... Sum>
  static HEDDLE_INLINE void visit_run(const Run& run, const Data& data, const Coefficients& c,
                                      Offset distance, T* sums, methods::Sums<Sum...>) {
    Lanes<Sum...> lanes;
    for (Offset begin = 0; begin < run.count; begin += block) {
      const Offset end = std::min<Offset>(begin + block, run.count);
      if (distance > 0) {
        methods::each<0, M::vectors>([&]<int k>() {
          if constexpr ((touched<Step, updates> >> k & 1u) != 0) {
            prefetch_ahead<block>(run, begin, distance, data.at[k]);
          }
        });
      }
      if constexpr (updates) update<Step>(run, begin, end, data, c);
      lanes.add(run, begin, end, data);
    }
    lanes.join(sums);
  }

  /// Data and coefficients are copies: no store may change what the loop reads of them.
  template <class Step, class Run>
  static HEDDLE_INLINE void update(const Run& run, Offset begin, Offset end, const Data data,
                                   const Coefficients c) {
    HEDDLE_TURNS_APART
    for (Offset i = begin; i < end; ++i) {
      Coefficient<R, S> e[M::vectors];
      methods::each<0, M::vectors>([&]<int k>() __attribute__((always_inline)) {
        if constexpr ((Step::reads >> k & 1u) != 0) e[k] = element<R>(data.at[k], run, i);
      });
      Step::body::at(e, c);
      methods::each<0, M::vectors>([&]<int k>() __attribute__((always_inline)) {
        if constexpr ((Step::writes >> k & 1u) != 0) set_element<R>(data.at[k], run, i, e[k]);
      });
    }
  }

  /// The sums of a run, each in independent lanes that a tree joins.
  template <class... Sum>
  struct Lanes {
    template <class Run>
    HEDDLE_INLINE void add(const Run&, Offset, Offset, const Data&) {}
    HEDDLE_INLINE void join(T*) {}
  };
  template <class Sum, class... Rest>
  struct Lanes<Sum, Rest...> {
    static constexpr int size = size_of_sum<Sum>;
    using Terms = SumTerms<R, S, SumOfTwo<Sum>>;
    static constexpr int lanes = Terms::lanes;
    typename Terms::Lanes sums = {};
    Lanes<Rest...> rest;

    template <class Run>
    HEDDLE_INLINE void add(const Run& run, Offset begin, Offset end, const Data& data) {
      Terms::add(run, begin, end, data.at[Sum::left], data.at[Sum::right], sums);
      rest.add(run, begin, end, data);
    }
    HEDDLE_INLINE void join(T* to) {
      for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) {
          for (std::size_t n = 0; n < size; ++n) sums[lane][n] += sums[lane + half][n];
        }
      }
      for (std::size_t n = 0; n < size; ++n) to[n] += sums[0][n];
      rest.join(to + size);
    }
  };
};

/// Maps vectors of the preconditioned form, where M^-1 v is not v itself, to those of a method.
template <class M, class Preconditioned>
constexpr VectorMap vectors_of_preconditioned() {
  VectorMap map = own_vectors;
  const auto learn = [&](const methods::Facts& own, const methods::Facts& other) {
    for (int i = 0; i < own.steps && i < other.steps; ++i) {
      if (other.step[i].kind != methods::StepKind::precondition ||
          own.step[i].kind != methods::StepKind::precondition) {
        continue;
      }
      map[static_cast<std::size_t>(other.step[i].out)] = static_cast<signed char>(own.step[i].out);
    }
  };
  learn(methods::facts_of<typename M::Start>, methods::facts_of<typename Preconditioned::Start>);
  learn(methods::facts_of<typename M::Iteration>,
        methods::facts_of<typename Preconditioned::Iteration>);
  return map;
}

/// Finds steps that treat their vectors as steps of the preconditioned form treat the corresponding
/// vectors, one by one and in the order of the listing: their walks are one function, which may
/// read a vector under two names, and writes each once. Bodies are not compared: a method declares
/// that they are the same (methods::has_like_bodies).
template <class M, class Preconditioned>
class SameWalk {
 public:
  template <class Own, class Other>
  static constexpr bool of() {
    if constexpr (Own::kind != Other::kind || !methods::has_like_bodies<M>) {
      return false;
    } else if constexpr (Own::kind == methods::StepKind::update) {
      return same_update(Own{}, Other{});
    } else {
      return same_sums(typename Own::sums{}, typename Other::sums{});
    }
  }

 private:
  static constexpr VectorMap map = vectors_of_preconditioned<M, Preconditioned>();
  static constexpr bool same(int own, int other) {
    return own == map[static_cast<std::size_t>(other)];
  }

  template <class... A, class... B>
  static constexpr bool same_sums(methods::Sums<A...>, methods::Sums<B...>) {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return ((same(A::left, B::left) && same(A::right, B::right) && A::in_ring == B::in_ring &&
               A::conjugates == B::conjugates) &&
              ...);
    } else {
      return false;
    }
  }
  template <int... a, int... b>
  static constexpr bool same_reads(methods::Reads<a...>, methods::Reads<b...>) {
    if constexpr (sizeof...(a) == sizeof...(b)) {
      return (same(a, b) && ...);
    } else {
      return false;
    }
  }
  template <int... a, int... b>
  static constexpr bool same_writes(methods::Writes<a...>, methods::Writes<b...>) {
    if constexpr (sizeof...(a) == sizeof...(b)) {
      return (same(a, b) && ...) && std::popcount(methods::Writes<a...>::mask) == sizeof...(a);
    } else {
      return false;
    }
  }
  template <class A, class ReadsA, class WritesA, class... SumA, class B, class ReadsB,
            class WritesB, class... SumB>
  static constexpr bool same_update(methods::Update<A, ReadsA, WritesA, SumA...>,
                                    methods::Update<B, ReadsB, WritesB, SumB...>) {
    return same_reads(ReadsA{}, ReadsB{}) && same_writes(WritesA{}, WritesB{}) &&
           same_sums(methods::Sums<SumA...>{}, methods::Sums<SumB...>{});
  }
};

/// The table of a method's steps. `P`: its preconditioned form, whose walks it shares.
template <class M, class S, class P = M>
class HostListings {
 public:
  static constexpr HostMethod<S> method() {
    HostMethod<S> method{std::max<int>(M::scalars, P::scalars), start.data(), iteration.data()};
    if constexpr (methods::has_basis<M>) method.finish = finish;
    return method;
  }

 private:
  using T = sum_t<S>;
  using Walk = HostWalk<M, S>;
  using Coefficients = methods::Coefficients<M, T>;
  using Number = Coefficient<M::ring, T>;
  using Judge = methods::Judge<T>;

  /// Calls `decide(c)`, with coefficients that lie one after another at `given`.
  template <class Decide>
  static void with_coefficients(T* given, const Decide& decide) {
    auto c = Walk::template numbers_at<Coefficients>(given);
    decide(c);
    for (const Number& number : c.at) {
      for (const T component : number.component) *given++ = component;
    }
  }
  template <class Decision>
  static void decide(T* c, const T* sums, int count, Judge& judge) {
    Number sum[methods::max_sums];
    for (int k = 0; k < count; ++k) {
      for (T& component : sum[k].component) component = *sums++;
    }
    with_coefficients(c, [&](Coefficients& own) { Decision::decide(own, sum, judge); });
  }
  template <class Decision>
  static void decide_by_basis(T* c, void* basis, Judge& judge) {
    with_coefficients(c, [&](Coefficients& own) {
      Decision::decide(own, *static_cast<methods::Basis<Number>*>(basis), judge);
    });
  }
  static void finish(T* c, void* basis) {
    with_coefficients(c, [&](Coefficients& own) {
      M::Finish::decision::decide(own, *static_cast<methods::Basis<Number>*>(basis));
    });
  }

  template <class Step, class... Sum>
  static constexpr bool is_dot_of_product(methods::Sums<Sum...>) {
    return Step::kind == methods::StepKind::product && sizeof...(Sum) == 1 &&
           ((!Sum::in_ring && Sum::left == Step::in && Sum::right == Step::out) && ...);
  }
  /// True if an update of the listing, or a preconditioner, writes to `vector`.
  template <int vector, class... Step>
  static constexpr bool changes(methods::Listing<Step...>) {
    return ((Step::kind != methods::StepKind::orthogonalize && (Step::writes >> vector & 1u)) ||
            ...);
  }

  /// Sets the walk of a step: its own, or that of the same step of the preconditioned form.
  template <class Step, class Other, bool updates>
  static constexpr void set_visit(HostStep<S>& made) {
    VisitGroup<S>& visit = updates ? made.update : made.sums;
    if constexpr (SameWalk<M, P>::template of<Step, Other>()) {
      visit = &HostWalk<P, S>::template visit_group<Other, updates>;
      made.vectors = vectors_of_preconditioned<M, P>();
    } else {
      visit = &Walk::template visit_group<Step, updates>;
    }
  }
  template <class Step, class Other>
  static constexpr HostStep<S> step() {
    using methods::StepKind;
    HostStep<S> made{.numbers = Walk::template numbers_of<Step>,
                     .is_dot_of_product = is_dot_of_product<Step>(typename Step::sums{})};
    // Without a preconditioner its sums are those of the preceding update.
    constexpr bool forms_sums = Walk::template numbers_of<Step> > 0 &&
                                !is_dot_of_product<Step>(typename Step::sums{}) &&
                                !(Step::kind == StepKind::precondition && Step::in == Step::out);
    if constexpr (Step::kind == StepKind::update) {
      set_visit<Step, Other, true>(made);
    } else if constexpr (Step::kind == StepKind::decide) {
      made.decide = &decide<typename Step::decision>;
    } else if constexpr (Step::kind == StepKind::orthogonalize) {
      static_assert(!changes<Step::out>(typename M::Iteration{}), "v_out belongs to the basis");
      made.decide_by_basis = &decide_by_basis<typename Step::decision>;
    } else if constexpr (forms_sums) {
      set_visit<Step, Other, false>(made);
    }
    return made;
  }
  template <class... Step, class... Other>
  static constexpr auto steps(methods::Listing<Step...> own, methods::Listing<Other...>) {
    if constexpr (sizeof...(Step) == sizeof...(Other)) {
      return std::array<HostStep<S>, sizeof...(Step)>{step<Step, Other>()...};
    } else {
      return steps(own, own);
    }
  }

  static constexpr auto start = steps(typename M::Start{}, typename P::Start{});
  static constexpr auto iteration = steps(typename M::Iteration{}, typename P::Iteration{});
};

}  // namespace heddle::detail
