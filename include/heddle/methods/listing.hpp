// The vocabulary of an iterative method: a listing of products, preconditionings, updates of
// vectors and decisions. An executor runs it: `detail::HostLoop` on a CPU, kernels compiled from
// this very text on a GPU. It includes no standard header, so that a run-time compiler accepts it
// too.
//
//   template <Ring, bool preconditioned>
//   struct Method {
//     static constexpr Ring ring = Ring::real;                 // ring of its coefficients
//     enum Vector { x, r, p, q, vectors };                     // x and r first
//     enum Scalar { r_z, alpha, beta, scalars };               // coefficients; 0 at first, except
//                                                              // for those that a run is given
//     using Start = Listing<...>;                              // once per run, from r = b - A x
//     using Iteration = Listing<Product<p, q, RealDot<p, q>>, Decide<StepLength>,
//                               Update<Residual, Reads<r, q>, Writes<r>, Norm<r>>, ...>;
//   };
#pragma once

#include "heddle/methods/coefficient.hpp"
#include "heddle/methods/judge.hpp"

namespace heddle::methods {

enum class StepKind { product, precondition, update, decide, orthogonalize };

/// <v_a, v_b> over the method's ring: conj(v_a) v_b.
template <int a, int b>
struct Dot {
  static constexpr int left = a, right = b;
  static constexpr bool in_ring = true, conjugates = true;
};
/// The bilinear v_a v_b, without conjugation: over real and complex numbers.
template <int a, int b>
struct PlainDot {
  static constexpr int left = a, right = b;
  static constexpr bool in_ring = true, conjugates = false;
};
/// Re <v_a, v_b>.
template <int a, int b>
struct RealDot {
  static constexpr int left = a, right = b;
  static constexpr bool in_ring = false, conjugates = true;
};
/// |v_a|^2.
template <int a>
struct Norm : RealDot<a, a> {};

/// The vectors that an update takes, and those that it changes.
template <int... v>
struct Reads {
  static constexpr unsigned mask = (0u | ... | (1u << v));
};
template <int... v>
struct Writes {
  static constexpr unsigned mask = (0u | ... | (1u << v));
};

template <class... Sum>
struct Sums {
  static constexpr int count = sizeof...(Sum);
};

/// v_out = A v_in. Along with it, a GPU sums Re <v_a, v_out>, or v_a v_out by `PlainDot`, or <v_a,
/// v_out> (or <v_out, v_a>) and |v_out|^2.
template <int from, int to, class... Sum>
struct Product {
  static constexpr StepKind kind = StepKind::product;
  static constexpr int in = from, out = to;
  static constexpr unsigned reads = 1u << from, writes = 1u << to;
  using sums = Sums<Sum...>;
};

/// v_out = M^-1 v_in; without a preconditioner `from` and `to` are one vector.
template <int from, int to, class... Sum>
struct Precondition {
  static constexpr StepKind kind = StepKind::precondition;
  static constexpr int in = from, out = to;
  static constexpr unsigned reads = 1u << from, writes = from == to ? 0u : 1u << to;
  using sums = Sums<Sum...>;
};

/// `Body::at(v, c)` for every element, a number of the method's ring: v are the vectors' elements,
/// c the coefficients in the vectors' precision. The sums are over the updated elements.
template <class Body, class Reads, class Writes, class... Sum>
struct Update {
  static constexpr StepKind kind = StepKind::update;
  static constexpr int in = 0, out = 0;
  static constexpr unsigned reads = Reads::mask, writes = Writes::mask;
  using body = Body;
  using sums = Sums<Sum...>;
};

/// `Decision::decide(c, sum, judge)`: `sum` are the sums since the previous decision, if necessary
/// from the previous iteration. An update follows, or the listing ends.
template <class Decision>
struct Decide {
  static constexpr StepKind kind = StepKind::decide;
  static constexpr int in = 0, out = 0;
  static constexpr unsigned reads = 0, writes = 0;
  using decision = Decision;
  using sums = Sums<>;
};

/// The method keeps a basis V of vectors. v_in becomes orthogonal to them by classical
/// Gram-Schmidt, twice (Giraud, Langou, Rozloznik and van den Eshof 2005) unless once is known to
/// suffice; `Decision::decide(c, basis, judge)` sees the coefficients and the norm that is left;
/// and the basis gains v_in / norm, which v_out also becomes. At the start of a run the basis is
/// empty, and v_in is the residual. The next v_in is a linear image of v_out: on a GPU, where v_out
/// may differ from the basis by the part that the second round removes, the decision comes an
/// iteration later.
template <int from, int to, class Decision>
struct Orthogonalize {
  static constexpr StepKind kind = StepKind::orthogonalize;
  static constexpr int in = from, out = to;
  static constexpr unsigned reads = 1u << from, writes = (1u << from) | (1u << to);
  using decision = Decision;
  using sums = Sums<>;
};

/// How a method with a basis ends its runs, whatever ended them: x += M^-1 (V y), with the y that
/// `Decision::decide(c, basis)` leaves in `basis.column`. The vectors are scratch. A method says
/// `using Finish = FormSolution<...>`, and holds no current x before. A flexible method's
/// preconditioner may vary: it keeps a second basis Z of the v_preconditioned whose images gave
/// those of V, and forms x += Z y.
template <int combination, int preconditioned, class Decision, bool flexible = false>
struct FormSolution {
  static constexpr int in = combination, out = preconditioned;
  static constexpr bool is_flexible = flexible;
  using decision = Decision;
};

/// The basis as decisions see it; N is a number of the method's ring.
template <class N>
struct Basis {
  int count = 0;        // vectors that it holds
  int most = 0;         // vectors that it has room for
  N* column = nullptr;  // `most`: the coefficients of a vector over the basis
  N* kept = nullptr;    // `M::kept_numbers(most)` numbers that decisions keep for one another
  decltype(N().real()) norm = 0;  // norm that `Orthogonalize` left of its vector
};

/// True if a method keeps a basis.
template <class M>
concept has_basis = requires { typename M::Finish; };

/// True if it keeps a second basis, of the preconditioned vectors.
template <class M>
inline constexpr bool is_flexible = false;
template <has_basis M>
inline constexpr bool is_flexible<M> = M::Finish::is_flexible;

/// True if the body of each update does the same, without a preconditioner, to the vectors that it
/// reads and writes, and reads each before it writes one that may be the same: a CPU then has one
/// function for both forms. A method says so by `static constexpr bool has_like_bodies = true`; an
/// update that writes other vectors in one of the forms has functions of its own anyway.
template <class M>
inline constexpr bool has_like_bodies = false;
template <class M>
  requires requires { M::has_like_bodies; }
inline constexpr bool has_like_bodies<M> = M::has_like_bodies;

template <class... Step>
struct Listing {
  static constexpr int count = sizeof...(Step);
};

/// After each iteration two vectors exchange names: nothing is copied. A method that does this says
/// `using Swaps = Listing<Swap<v, u>, ...>`, and never swaps x.
template <int first, int second>
struct Swap {
  static constexpr int a = first, b = second;
};

// Facts derived from a listing, for executors.

namespace detail {

template <int i, class First, class... Rest>
struct Pick : Pick<i - 1, Rest...> {};
template <class First, class... Rest>
struct Pick<0, First, Rest...> {
  using type = First;
};
template <int i, class L>
struct StepAt;
template <int i, class... Step>
struct StepAt<i, Listing<Step...>> : Pick<i, Step...> {};

}  // namespace detail

template <class L, int i>
using step_at = typename detail::StepAt<i, L>::type;

/// f.operator()<i>() for i in [first, end).
template <int first, int end, class F>
HEDDLE_INLINE void each(const F& f) {
  if constexpr (first < end) {
    f.template operator()<first>();
    each<first + 1, end>(f);
  }
}

inline constexpr int max_vectors = 16;
inline constexpr int max_steps = 24;
inline constexpr int max_sums = 16;

struct StepFacts {
  StepKind kind = StepKind::decide;
  int in = 0, out = 0;
  unsigned reads = 0, writes = 0;
  int first_sum = 0, sums = 0;  // its own
};
struct SumFacts {
  int left = 0, right = 0;
  bool in_ring = false, conjugates = true;
  int step = 0;
  int same = 0;  // the first sum with the same number: |r|^2 and Re <r, z> if z is r
};

/// The steps of a listing and their sums, as data.
struct Facts {
  int steps = 0, sums = 0;
  StepFacts step[max_steps] = {};
  SumFacts sum[max_sums] = {};

  template <class Sum>
  HEDDLE_HD constexpr void add_sum(bool may_repeat) {
    SumFacts& added = sum[sums];
    added = {Sum::left, Sum::right, Sum::in_ring, Sum::conjugates, steps, sums};
    for (int other = 0; may_repeat && other < sums; ++other) {
      const SumFacts& known = sum[other];
      if (known.step == steps - 1 && known.left == added.left && known.right == added.right &&
          known.in_ring == added.in_ring && known.conjugates == added.conjugates) {
        added.same = other;
      }
    }
    ++sums;
  }
  template <class Step, class... Sum>
  HEDDLE_HD constexpr void add_sums(Sums<Sum...>) {
    [[maybe_unused]] constexpr bool may_repeat =
        Step::kind == StepKind::precondition && Step::in == Step::out;
    (add_sum<Sum>(may_repeat), ...);
  }
  template <class Step>
  HEDDLE_HD constexpr void add_step() {
    step[steps] = {Step::kind,   Step::in, Step::out,        Step::reads,
                   Step::writes, sums,     Step::sums::count};
    add_sums<Step>(typename Step::sums{});
    ++steps;
  }

  /// The step after the last decision before step `i`; 0 if there is none.
  HEDDLE_HD constexpr int after_decision(int i) const {
    while (i > 0 && step[i - 1].kind != StepKind::decide) --i;
    return i;
  }
  /// Its own decisions and those of orthogonalizations: each writes the other side of a GPU's
  /// state.
  HEDDLE_HD constexpr int decisions() const {
    int count = 0;
    for (int i = 0; i < steps; ++i) {
      const StepKind kind = step[i].kind;
      count += kind == StepKind::decide || kind == StepKind::orthogonalize ? 1 : 0;
    }
    return count;
  }
  HEDDLE_HD constexpr bool decides_before(int i) const {
    return i > 0 && step[i - 1].kind == StepKind::decide;
  }
  /// Numbers of those sums of a step that do not repeat others, over a ring.
  HEDDLE_HD constexpr int own_numbers(int i, Ring ring) const {
    int numbers = 0;
    for (int s = step[i].first_sum; s < step[i].first_sum + step[i].sums; ++s) {
      if (sum[s].same == s) numbers += sum[s].in_ring ? ring_size(ring) : 1;
    }
    return numbers;
  }
  /// The vectors that a step sums over.
  HEDDLE_HD constexpr unsigned operands(int i) const {
    unsigned mask = 0;
    for (int s = step[i].first_sum; s < step[i].first_sum + step[i].sums; ++s) {
      mask |= (1u << sum[s].left) | (1u << sum[s].right);
    }
    return mask;
  }
  /// The vectors that an update loads.
  HEDDLE_HD constexpr unsigned loads(int i) const {
    return step[i].reads | (operands(i) & ~step[i].writes);
  }
};

template <class L>
struct FactsOf;
template <class... Step>
struct FactsOf<Listing<Step...>> {
  HEDDLE_HD static constexpr Facts make() {
    Facts facts;
    (facts.add_step<Step>(), ...);
    return facts;
  }
};
template <class L>
inline constexpr Facts facts_of = FactsOf<L>::make();

/// The steps whose sums the decision at step i gets, in order; those of the previous iteration come
/// first.
struct Pending {
  int count = 0;
  int step[max_steps] = {};
};
HEDDLE_HD constexpr Pending pending_of(const Facts& facts, int decision, bool is_repeated) {
  Pending pending;
  const int from = facts.after_decision(decision);
  if (from == 0 && is_repeated) {
    for (int i = facts.after_decision(facts.steps); i < facts.steps; ++i) {
      if (facts.step[i].sums > 0) pending.step[pending.count++] = i;
    }
  }
  for (int i = from; i < decision; ++i) {
    if (facts.step[i].sums > 0) pending.step[pending.count++] = i;
  }
  return pending;
}

/// The coefficients of a method, and its sums.
template <class M, class T>
struct Coefficients {
  Coefficient<M::ring, T> at[M::scalars];

  HEDDLE_INLINE Coefficient<M::ring, T>& operator[](int i) { return at[i]; }
  HEDDLE_INLINE const Coefficient<M::ring, T>& operator[](int i) const { return at[i]; }
};
template <class S, class M, class T>
HEDDLE_INLINE Coefficients<M, S> rounded(const Coefficients<M, T>& c) {
  Coefficients<M, S> narrow;
  for (int i = 0; i < M::scalars; ++i) {
    for (int k = 0; k < ring_size(M::ring); ++k) {
      narrow.at[i].component[k] = static_cast<S>(c.at[i].component[k]);
    }
  }
  return narrow;
}

/// Adds a sum's term of one element to `sums`.
template <class Sum, class V, class T>
HEDDLE_INLINE void add_term(const V& v, T* sums) {
  if constexpr (Sum::in_ring) {
    add_inner_product<Sum::conjugates>(v[Sum::left], v[Sum::right], sums);
  } else {
    for (int k = 0; k < v[Sum::left].size; ++k) {
      sums[0] += T(v[Sum::left].component[k]) * T(v[Sum::right].component[k]);
    }
  }
}

}  // namespace heddle::methods
