// A step of a method as a kernel of a graph that is repeated. It begins with the decision before
// it: every block adds the partial sums that earlier kernels left and reaches the same conclusion,
// which takes less time than a kernel between the two. One thread writes the conclusion down for
// later kernels.
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/rank_sums.cuh"
#include "heddle/kernels/reduce.cuh"
#include "heddle/kernels/step_arguments.hpp"

namespace heddle::device {

/// The results of a decision.
template <class M>
struct Side {
  methods::Coefficients<M, double> c;
  long long iteration;
  long long end;  // a LoopEnd
  // For a method that keeps a basis, see basis.cuh:
  long long vectors;
  double size_of_column;
};

template <class M, bool start>
struct ListingOf {
  using type = typename M::Iteration;
};
template <class M>
struct ListingOf<M, true> {
  using type = typename M::Start;
};
template <class M, bool start>
using listing_of = typename ListingOf<M, start>::type;

template <class M, class L, int step>
inline constexpr int own_numbers_of = methods::facts_of<L>.own_numbers(step, M::ring);

/// True if one kernel does step i together with the preconditioner after it.
template <class M, class L, bool joined, int i>
constexpr bool joins_next() {
  if constexpr (!joined || M::ring != Ring::real || i + 1 >= L::count) {
    return false;
  } else {
    using Next = methods::step_at<L, i + 1>;
    return methods::step_at<L, i>::kind == methods::StepKind::update &&
           Next::kind == methods::StepKind::precondition && Next::in != Next::out;
  }
}

/// The sums for the decision at step `at`, added from the partial sums that kernels left; valid in
/// thread 0. `joined`: updates and preconditioner are one kernel.
template <class M, bool start, int at, bool joined, int Threads>
struct DecisionSums {
  using L = listing_of<M, start>;
  static constexpr methods::Pending pending = methods::pending_of(methods::facts_of<L>, at, !start);
  using Number = Coefficient<M::ring, double>;

  Number sum[methods::max_sums];

  __device__ __forceinline__ void add(const StepArguments& a) { add_source<0, 0, 0>(a); }

  /// `k`: index of a pending step, `source`: of the kernel that left its sums, `next`: of the next
  /// sum.
  template <int k, int source, int next>
  __device__ __forceinline__ void add_source(const StepArguments& a) {
    if constexpr (k < pending.count) {
      constexpr int i = pending.step[k];
      constexpr bool both = joins_next<M, L, joined, i>();
      constexpr int first = methods::facts_of<L>.step[i].first_sum;
      constexpr int end = first + methods::facts_of<L>.step[i].sums +
                          (both ? methods::facts_of<L>.step[both ? i + 1 : i].sums : 0);
      constexpr int numbers =
          own_numbers_of<M, L, i> + (both ? own_numbers_of < M, L, both ? i + 1 : i > : 0);
      double total[numbers > 0 ? numbers : 1];
      constexpr unsigned parts =
          methods::facts_of<L>.step[i].kind == methods::StepKind::product ? M::parts_of_product : 1;
      if constexpr (numbers > 0) {
        const PartialSums& before = a.before[source];
        bool joins_ranks = false;
        if constexpr (M::has_ranks) {
          joins_ranks = a.ranks.group_at != nullptr;
          if (joins_ranks) add_over_ranks<numbers, Threads>(a.ranks, source, before, total);
        }
        if (!joins_ranks) {
          add_partials<numbers, Threads, parts, false, max_for_every_block>(before.partials,
                                                                            before.count, total);
        }
      }
      take<first, first, end, next, 0>(total);
      constexpr bool skips = both && end > first + methods::facts_of<L>.step[i].sums;
      add_source<k + (skips ? 2 : 1), source + (numbers > 0 ? 1 : 0), next + end - first>(a);
    }
  }
  template <int s, int first, int end, int next, int at_total>
  __device__ __forceinline__ void take(const double* total) {
    if constexpr (s < end) {
      constexpr methods::SumFacts facts = methods::facts_of<L>.sum[s];
      if constexpr (facts.same != s) {
        sum[next] = sum[next - (s - facts.same)];
        take<s + 1, first, end, next + 1, at_total>(total);
      } else {
        constexpr int size = facts.in_ring ? ring_size(M::ring) : 1;
        sum[next] = Number{};
#pragma unroll
        for (int n = 0; n < size; ++n) {
          // Products sum <v_a, v_out>, whatever the order of the operands.
          constexpr methods::StepFacts step = methods::facts_of<L>.step[facts.step];
          constexpr bool conjugates = step.kind == methods::StepKind::product && facts.conjugates &&
                                      facts.left == step.out && facts.right != step.out;
          sum[next].component[n] = conjugates && n > 0 ? -total[at_total + n] : total[at_total + n];
        }
        take<s + 1, first, end, next + 1, at_total + size>(total);
      }
    }
  }
};

/// A block's knowledge of the run, in its shared memory. Thread 0 takes the decisions: divisions in
/// double by all threads would take longer than sharing the results.
template <class M, class S>
struct BlockState {
  static constexpr double rounding_of_vectors = sizeof(S) == 4 ? 0x1p-23 : 0x1p-52;

  Side<M> side;
  LoopLimits limits;
  methods::Coefficients<M, S> c;  // for the update
  double squared_norm;
  int concluded;
  int goes_on;

  /// Called by all threads, before a barrier.
  __device__ __forceinline__ void load(const LoopState* state, int from) {
    copy(state->side[from], side);
    copy(&state->limits, limits);
  }
  template <class T>
  __device__ __forceinline__ static void copy(const void* from, T& to) {
    static_assert(sizeof(T) % sizeof(double) == 0);
    for (unsigned k = threadIdx.x; k < sizeof(T) / sizeof(double); k += blockDim.x) {
      reinterpret_cast<double*>(&to)[k] = static_cast<const double*>(from)[k];
    }
  }

  /// Takes the decision, in thread 0, unless the run has ended. `sees`: sums, or a basis.
  template <class Decision, class Sees>
  __device__ __forceinline__ void decide(Sees&& sees) {
    goes_on = side.end == loop_runs;
    concluded = 0;
    if (goes_on == 0) return;
    methods::Judge<double> judge{limits.target,     limits.growth,  limits.squared_norm,
                                 limits.iterations, side.iteration, rounding_of_vectors};
    Decision::decide(side.c, sees, judge);
    c = methods::rounded<S>(side.c);
    concluded = judge.concluded;
    squared_norm = judge.squared_norm;
    side.iteration = judge.iteration;
    side.end = judge.end;
    goes_on = !judge.at_once;
  }

  /// Called by the leader after a decision, once the other threads of its block have moved on. An
  /// end that the host or the clock requests takes effect after the update.
  __device__ __forceinline__ void record(LoopState* state) {
    if (!is_leader() || concluded == 0) return;
    record_iteration(*state, side.iteration, squared_norm);
    if (side.end != loop_runs) return;
    side.end = requested_end(*state, limits.deadline, side.iteration, limits.unwatched);
  }
  /// Called by the leader after the last decision, for later kernels. `from`: the side that was
  /// read.
  __device__ __forceinline__ void write(LoopState* state, int from) {
    record(state);
    if (!is_leader()) return;
    *reinterpret_cast<Side<M>*>(state->side[1 - from]) = side;
    if (side.end != state->end) set_end(*state, static_cast<int>(side.end));
  }
};

/// The beginning of a step: the decision before it, if there is one. False if there is nothing to
/// do.
template <class M, bool start, int i, bool joined, int Threads, class S>
__device__ __forceinline__ bool take_decision(const StepArguments& a, BlockState<M, S>& block) {
  static_assert(sizeof(Side<M>) <= bytes_of_side, "the method has too many coefficients");
  static_assert(sizeof(Side<M>::end) == 8 && alignof(Side<M>) % 8 == 0, "see LoopState::skip");
  using L = listing_of<M, start>;
  if (start && is_leader() && a.state->limits.patience != 0) {
    a.state->limits.deadline = nanoseconds() + a.state->limits.patience;
  }
  block.load(a.state, a.side);
  if constexpr (methods::facts_of<L>.decides_before(i)) {
    using Sums = DecisionSums<M, start, i - 1, joined, Threads>;
    Sums sums;
    sums.add(a);
    if constexpr (Sums::pending.count == 0) __syncthreads();
    if (threadIdx.x == 0) {
      block.concluded = 0;
      block.template decide<typename methods::step_at<L, i - 1>::decision>(sums.sum);
    }
  } else {
    __syncthreads();
    if (threadIdx.x == 0) {
      block.goes_on = block.side.end == loop_runs;
      block.c = methods::rounded<S>(block.side.c);
    }
  }
  __syncthreads();
  return block.goes_on != 0;
}

/// Same, for a kernel with at most one decision. The coefficients stay in shared memory: those of
/// BiCGStab over quaternions do not fit in registers along with the vectors.
template <class M, bool start, int i, bool joined, int Threads, class S>
__device__ __forceinline__ bool begin_step(const StepArguments& a,
                                           const methods::Coefficients<M, S>*& c) {
  __shared__ BlockState<M, S> block;
  const bool goes_on = take_decision<M, start, i, joined, Threads>(a, block);
  if constexpr (methods::facts_of<listing_of<M, start>>.decides_before(i))
    block.write(a.state, a.side);
  c = &block.c;
  return goes_on;
}

/// A decision that no update follows, in one block.
template <class M, bool start, bool joined>
__device__ __forceinline__ void decide_alone(const StepArguments& a) {
  follow_kernel_before();
  const methods::Coefficients<M, double>* c;
  begin_step<M, start, listing_of<M, start>::count, joined, threads_of_step>(a, c);
}

/// Visits this thread's chunks in block `of_launch` of those that the walk needs.
template <class Chunk, class Operation>
__device__ __forceinline__ void visit_chunks_of_thread(const cuda::Walk& walk, unsigned of_launch,
                                                       const Operation& operation, double* sums) {
  const unsigned thread = of_launch * threads_of_step + threadIdx.x;
  const unsigned block = thread / cuda::threads_of_block;
  if (block >= walk.blocks()) return;
  cuda::visit_chunks<Chunk>(walk, block, static_cast<int>(thread % cuda::threads_of_block),
                            operation, sums);
}

/// Visits the chunks of the whole walk, and leaves N partial sums of what the operation adds to
/// `sums`. Over groups of rows the grid may have fewer blocks than the walk needs: each then takes
/// several.
template <class Chunk, int N, class Operation>
__device__ __forceinline__ void visit_and_leave(const cuda::Walk& walk, double* partials,
                                                const Operation& operation,
                                                double (&sums)[N > 0 ? N : 1]) {
  if constexpr (Chunk::by_groups) {
    constexpr unsigned of_step = threads_of_step / cuda::threads_of_block;
    const unsigned blocks = (walk.blocks() + of_step - 1) / of_step;
    for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
      visit_chunks_of_thread<Chunk>(walk, block, operation, sums);
      if constexpr (N > 0) store_partials<N, threads_of_step>({partials, nullptr}, sums, block);
      for (double& sum : sums) sum = 0;
    }
  } else {
    visit_chunks_of_thread<Chunk>(walk, blockIdx.x, operation, sums);
    if constexpr (N > 0) store_partials<N, threads_of_step>({partials, nullptr}, sums, blockIdx.x);
  }
}

/// A thread's work in a step: its changes, if it `updates`, and its own sums.
template <class M, class L, int i, class S, bool updates>
struct ElementStep {
  using Step = methods::step_at<L, i>;
  static constexpr unsigned loads =
      updates ? methods::facts_of<L>.loads(i) : methods::facts_of<L>.operands(i);
  static constexpr unsigned writes = updates ? Step::writes : 0u;

  const StepArguments& a;
  const methods::Coefficients<M, S>& c;
  double* sums;

  template <class Chunk>
  __device__ __forceinline__ void operator()(const Chunk& chunk, double*) const {
    typename Chunk::Values values[M::vectors];
    visit(chunk, values);
  }
  /// `held`: vectors whose values are present before; those loaded and written are present after.
  template <unsigned held = 0u, class Chunk>
  __device__ __forceinline__ void visit(const Chunk& chunk, typename Chunk::Values* values) const {
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr ((loads & ~held) >> k & 1u) {
        values[k] = chunk.load(static_cast<const S*>(a.vector[k]));
      }
    });
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) {
      Coefficient<M::ring, S> v[M::vectors];
      methods::each<0, M::vectors>([&]<int k>() {
        if constexpr (loads >> k & 1u) v[k] = values[k].at[e];
      });
      if constexpr (updates) {
        Step::body::at(v, c);
        methods::each<0, M::vectors>([&]<int k>() {
          if constexpr (writes >> k & 1u) values[k].at[e] = v[k];
        });
      }
      if (e < chunk.count) add_terms(typename Step::sums{}, v);
    }
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr (writes >> k & 1u) chunk.store(static_cast<S*>(a.vector[k]), values[k]);
    });
  }

  template <class... Sum, class V>
  __device__ __forceinline__ void add_terms(methods::Sums<Sum...>, const V& v) const {
    double* into = sums;
    ((methods::add_term<Sum>(v, into), into += Sum::in_ring ? ring_size(M::ring) : 1), ...);
  }
};

/// Step i, an update, over chunks of S.
template <class M, bool start, int i, class S, class Chunk, bool joined>
__device__ __forceinline__ void update(const StepArguments& a) {
  using L = listing_of<M, start>;
  constexpr int N = own_numbers_of<M, L, i>;
  follow_kernel_before();
  const methods::Coefficients<M, S>* c;
  if (!begin_step<M, start, i, joined, threads_of_step>(a, c)) return;
  double sums[N > 0 ? N : 1] = {};
  visit_and_leave<Chunk, N>(a.walk, a.partials, ElementStep<M, L, i, S, true>{a, *c, sums}, sums);
}

/// Only the sums of step i, after work that is not the loop's own.
template <class M, bool start, int i, class S, class Chunk>
__device__ __forceinline__ void sum(const StepArguments& a) {
  using L = listing_of<M, start>;
  constexpr int N = own_numbers_of<M, L, i>;
  follow_kernel_before();
  const methods::Coefficients<M, S> none{};
  double sums[N] = {};
  visit_and_leave<Chunk, N>(a.walk, a.partials, ElementStep<M, L, i, S, false>{a, none, sums},
                            sums);
}

}  // namespace heddle::device
