// The walk of a method's step over a group of 256 rows on a CPU: the update of its elements, then
// its sums. Apart, each is a loop that a compiler makes vectors of.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "heddle/detail/groups.hpp"
#include "heddle/detail/wide_loop.hpp"
#include "heddle/methods/listing.hpp"

namespace heddle::detail {

/// The same sum of a vector 0, and of 1 where there is another one.
template <class Sum, int right = Sum::left == Sum::right ? 0 : 1>
using SumOfTwo = std::conditional_t<
    !Sum::in_ring, methods::RealDot<0, right>,
    std::conditional_t<Sum::conjugates, methods::Dot<0, right>, methods::PlainDot<0, right>>>;

/// The terms of such a sum over a run. It is a function by itself: sums that are formed alike, of
/// all steps and methods in a file, are compiled once.
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

  /// The data of all vectors. Different vectors share no memory.
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

  /// What the step changes, if it `updates`, and its sums. `distance`: of prefetches, in bytes; 0
  /// for none.
  template <class Step, bool updates>
  static std::array<T, numbers_of<Step>> visit_group(const FieldView<S>& x, Index group,
                                                     const Data& data, const Coefficients& c,
                                                     Offset distance) {
    std::array<T, numbers_of<Step>> sums{};
    const auto over_run = [&](const auto& run) {
      visit_run<Step, updates>(run, data, c, distance, sums.data(), typename Step::sums{});
    };
    run_widely<S>([&] { for_each_run<R>(x, group, over_run); });
    return sums;
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
            prefetch_behind<block>(run, begin, distance, data.at[k]);
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

}  // namespace heddle::detail
