// A method in the form from which a GPU's loop is made: its listings as data, and the name of its
// type for the run-time compiler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/methods/listing.hpp"

namespace heddle::detail {

/// The type of a method and the header that defines it: one of heddle/methods/, or a text that
/// `register_entry_header` knows.
struct MethodText {
  std::string type;  // before its template arguments
  std::string header;
};

struct MethodProgram {
  MethodText text;
  Ring ring = Ring::real;
  bool preconditioned = false;
  int vectors = 0;
  methods::Facts start, iteration;
  std::vector<std::pair<int, int>> swaps;
  /// For a method that keeps a basis: the numbers that its decisions keep along with `most`
  /// vectors, and then the vectors of its `FormSolution`. Null for the others.
  long long (*kept_numbers)(long long most) = nullptr;
  int combination = 0, preconditioned_combination = 0;
  bool is_flexible = false;  // keeps a second basis
  int bases() const { return kept_numbers == nullptr ? 0 : is_flexible ? 2 : 1; }
};

// Properties that executors rely on, checked where a listing is used.

constexpr bool sums_fit(const methods::Facts& facts, Ring ring) {
  for (int i = 0; i < facts.steps; ++i) {
    if (facts.own_numbers(i, ring) > 8) return false;
  }
  return true;
}
constexpr bool decisions_have_updates(const methods::Facts& facts, bool may_end_with_one) {
  for (int i = 0; i < facts.steps; ++i) {
    if (facts.step[i].kind != methods::StepKind::decide) continue;
    const bool is_last = i + 1 == facts.steps;
    if (is_last ? !may_end_with_one : facts.step[i + 1].kind != methods::StepKind::update) {
      return false;
    }
  }
  return true;
}
/// True if products sum nothing, or Re <v, v_out>, or v v_out, or <v, v_out> or <v_out, v> and
/// |v_out|^2, and all products sum the same.
constexpr bool products_have_sums(const methods::Facts& facts) {
  int sums = -1;
  for (int i = 0; i < facts.steps; ++i) {
    const methods::StepFacts& step = facts.step[i];
    if (step.kind != methods::StepKind::product) continue;
    if (step.sums == 0 && sums <= 0) {
      sums = 0;
      continue;
    }
    const methods::SumFacts &first = facts.sum[step.first_sum],
                            &second = facts.sum[step.first_sum + 1];
    const bool in_ring = step.sums == 2 || !first.conjugates;
    const bool is_norm = second.left == step.out && second.right == step.out && !second.in_ring;
    const bool is_product = (first.left == step.out) != (first.right == step.out);
    if (step.sums < 1 || step.sums > 2 || !is_product || first.in_ring != in_ring) return false;
    if ((step.sums == 2 && !is_norm) || (sums >= 0 && sums != step.sums)) return false;
    sums = step.sums;
  }
  return true;
}
/// Without a preconditioner a step forms no sums: they are those of the preceding update.
constexpr bool updates_sum_vectors(const methods::Facts& facts, Ring ring) {
  for (int i = 0; i < facts.steps; ++i) {
    const methods::StepFacts& step = facts.step[i];
    const bool does_nothing = step.kind == methods::StepKind::precondition && step.in == step.out;
    if (does_nothing && facts.own_numbers(i, ring) > 0) return false;
  }
  return true;
}
/// The first iteration takes from the start what later ones take from the preceding iteration.
constexpr bool start_leaves_the_same_sums(const methods::Facts& start,
                                          const methods::Facts& iteration) {
  const int a = start.after_decision(start.steps), b = iteration.after_decision(iteration.steps);
  int left = 0, carried = 0;
  for (int i = a; i < start.steps; ++i) left += start.step[i].sums;
  for (int i = b; i < iteration.steps; ++i) carried += iteration.step[i].sums;
  return left == carried;
}

template <class M>
constexpr void check_listing() {
  constexpr const methods::Facts& start = methods::facts_of<typename M::Start>;
  constexpr const methods::Facts& iteration = methods::facts_of<typename M::Iteration>;
  static_assert(M::vectors <= methods::max_vectors, "a method has at most 16 vectors");
  static_assert(M::x == 0 && M::r == 1, "x and r are the first vectors of a method");
  static_assert(sums_fit(start, M::ring) && sums_fit(iteration, M::ring),
                "a step of a method leaves at most 8 numbers");
  static_assert(decisions_have_updates(start, true) && decisions_have_updates(iteration, false),
                "an update follows each decision of a method, unless the start ends with it");
  static_assert(
      products_have_sums(start) && products_have_sums(iteration),
      "a product of a method sums nothing, RealDot or PlainDot with its result, or Dot with it "
      "and its Norm");
  static_assert(updates_sum_vectors(start, M::ring) && updates_sum_vectors(iteration, M::ring),
                "sums of a preconditioned vector itself belong to the preceding update");
  static_assert(start_leaves_the_same_sums(start, iteration),
                "start and iteration of a method leave the same sums after their last decision");
}

template <class... Swap>
std::vector<std::pair<int, int>> swaps_of(methods::Listing<Swap...>) {
  return {{Swap::a, Swap::b}...};
}

template <template <Ring, bool> class Method, Ring R, bool preconditioned>
MethodProgram program_of(MethodText text) {
  using M = Method<R, preconditioned>;
  check_listing<M>();
  MethodProgram program{std::move(text),
                        M::ring,
                        preconditioned,
                        M::vectors,
                        methods::facts_of<typename M::Start>,
                        methods::facts_of<typename M::Iteration>,
                        {}};
  if constexpr (requires { typename M::Swaps; }) {
    program.swaps = swaps_of(typename M::Swaps{});
  }
  if constexpr (methods::has_basis<M>) {
    program.kept_numbers = M::kept_numbers;
    program.combination = M::Finish::in;
    program.preconditioned_combination = M::Finish::out;
    program.is_flexible = methods::is_flexible<M>;
  }
  return program;
}

}  // namespace heddle::detail
