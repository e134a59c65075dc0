// Compares the product of an operator with the reference, with padding and y poisoned; and selects
// plans that cover the layouts.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heddle/operator.hpp"
#include "support/random_matrix.hpp"
#include "support/rare_entries.hpp"

namespace heddle::test {

/// Every setting that decides where a value is stored or in which order it is used.
inline const std::vector<std::vector<std::string>>& layout_choices() {
  static const std::vector<std::vector<std::string>> choices = {
      {"C=1", "C=2", "C=3", "C=8", "C=32", "C=64", "C=n"},
      {"sigma=1", "sigma=7", "sigma=n", "sigma=1000000"},
      {"T=1", "T=2", "T=4", "T=8", "threshold=1", "threshold=3", "threshold=1000"},
      {"inner=aos", "inner=soa", "inner=aosoa", "inner=aosoa16"},
      {"vector=aos", "vector=soa"},
      {"columns=sorted", "columns=given"},
      {"use=permuted", "use=scatter"},
      {"order=natural", "order=rcm"},
      {"schedule=static,prefetch-x=24", "schedule=dynamic,chunk=1,prefetch-x=256",
       "schedule=dynamic,chunk=3,prefetch-x=0,prefetch-matrix=0"},
  };
  return choices;
}

/// The text of one choice for each setting; empty if they are incompatible.
inline std::string joined_plan(const std::vector<std::size_t>& chosen) {
  std::string text;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    text += (i == 0 ? "" : ",") + layout_choices()[i][chosen[i]];
  }
  try {
    parse_plan(text);
  } catch (const Error&) {
    return "";
  }
  return text;
}

/// Every layout, each under the first schedule.
inline std::vector<Plan> all_layouts() {
  const auto& choices = layout_choices();
  std::vector<Plan> plans;
  std::vector<std::size_t> chosen(choices.size(), 0);
  for (;;) {
    const std::string text = joined_plan(chosen);
    if (!text.empty()) plans.push_back(parse_plan(text));
    std::size_t i = 0;
    while (i + 1 < choices.size() && ++chosen[i] == choices[i].size()) chosen[i++] = 0;
    if (i + 1 == choices.size()) return plans;
  }
}

/// Plans in which every two compatible choices occur together at least once.
inline std::vector<Plan> covering_layouts(Generator& generator) {
  using Choice = std::pair<std::size_t, std::size_t>;
  const auto& choices = layout_choices();
  const auto random_choice = [&] {
    std::vector<std::size_t> chosen;
    for (const auto& of : choices) {
      chosen.push_back(static_cast<std::size_t>(random_between(0, int(of.size()) - 1, generator)));
    }
    return chosen;
  };
  const auto pairs_of = [](const std::vector<std::size_t>& chosen) {
    std::vector<std::pair<Choice, Choice>> pairs;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      for (std::size_t j = i + 1; j < chosen.size(); ++j) {
        pairs.push_back({{i, chosen[i]}, {j, chosen[j]}});
      }
    }
    return pairs;
  };
  std::vector<Plan> plans;
  std::set<std::pair<Choice, Choice>> covered;
  constexpr int candidates = 30, patience = 40;
  for (int without_gain = 0; without_gain < patience;) {
    std::vector<std::size_t> best;
    std::ptrdiff_t best_gain = 0;
    for (int i = 0; i < candidates; ++i) {
      const std::vector<std::size_t> chosen = random_choice();
      if (joined_plan(chosen).empty()) continue;
      const auto pairs = pairs_of(chosen);
      const auto gain = std::count_if(pairs.begin(), pairs.end(),
                                      [&](const auto& pair) { return !covered.contains(pair); });
      if (gain > best_gain) {
        best_gain = gain;
        best = chosen;
      }
    }
    if (best.empty()) {
      ++without_gain;
      continue;
    }
    for (const auto& pair : pairs_of(best)) covered.insert(pair);
    plans.push_back(parse_plan(joined_plan(best)));
  }
  return plans;
}

/// True if the plan is allowed for a matrix of this shape.
inline bool fits(const Plan& plan, Index rows, Index columns) {
  if (rows == columns) return true;
  return plan.layout.order == RowOrder::natural &&
         (plan.layout.basis == BasisUse::user || plan.layout.sort_window == 1);
}

/// Fills every stored value that belongs to no entry with NaN.
template <class E>
void poison_padding(Operator<E>& matrix) {
  const SlicedPattern& pattern = matrix.pattern();
  const EntryWriter<E> entries = matrix.entry_writer();
  const auto stored = matrix.values_in_basis();
  const auto size = static_cast<Offset>(stored.size());
  // Pointers: without optimisation and with a sanitizer, this took a third of the caller's time.
  std::vector<unsigned char> used(stored.size());
  unsigned char* const uses = used.data();
  for (Offset slot = 0; slot < pattern.slots; ++slot) {
    if (pattern.entry_of_slot[slot] == EntryMap::padding) continue;
    for (int k = 0; k < E::components; ++k) {
      const Offset index = entries.index(slot, k);
      if (index < 0 || index >= size) FAIL() << "a component lies at " << index << " of " << size;
      if (uses[index]++ != 0) FAIL() << "two components share a place";
    }
  }
  for (Offset i = 0; i < size; ++i) {
    if (uses[i] == 0) {
      stored[static_cast<std::size_t>(i)] = std::numeric_limits<stored_scalar_t<E>>::quiet_NaN();
    }
  }
  matrix.values_changed();
}

/// A field of any number of components, such as the results of rectangular blocks.
template <class S>
struct OwnedField {
  std::vector<S> scalars;
  FieldView<S> view;

  OwnedField(Index rows, int components, VectorLayout layout, std::shared_ptr<const Basis> basis,
             S value = 0)
      : scalars(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components), value),
        view(scalars.data(), rows, components, layout, std::move(basis)) {}
  OwnedField(const OwnedField&) = delete;
};
template <class E>
OwnedField<vector_scalar_t<E>> column_field(const Operator<E>& matrix) {
  return {matrix.columns(), matrix.column_components(), matrix.vector_layout(),
          matrix.column_basis()};
}
template <class E>
OwnedField<vector_scalar_t<E>> row_field(const Operator<E>& matrix,
                                         vector_scalar_t<E> value = vector_scalar_t<E>(0)) {
  return {matrix.rows(), matrix.row_components(), matrix.vector_layout(), matrix.row_basis(),
          value};
}

template <class S>
std::vector<S> random_numbers(std::size_t count, Generator& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<S> numbers(count);
  for (S& number : numbers) number = static_cast<S>(uniform(generator));
  return numbers;
}

/// A matrix, an x in the user's order, and their product.
template <class E>
struct Problem {
  CsrMatrix<E> matrix;
  std::vector<vector_scalar_t<E>> x;
  Reference product;

  Problem(CsrMatrix<E> of, Generator& generator)
      : matrix(std::move(of)),
        x(random_numbers<vector_scalar_t<E>>(
            static_cast<std::size_t>(matrix.columns()) * vector_entry_t<E>::components, generator)),
        product(reference_product(matrix, x)) {}
  Problem(const PatternRequest& request, Generator& generator)
      : Problem(random_matrix<E>(request, generator), generator) {}
};

/// Expects y = alpha A x + beta y within rounding, from `multiply(alpha, x, beta, y)`, which works
/// in A's bases; y is full of NaN where beta is 0.
template <class E, class Multiply>
void expect_product(const Operator<E>& matrix, const Problem<E>& problem, vector_scalar_t<E> alpha,
                    vector_scalar_t<E> beta, Generator& generator, const Multiply& multiply) {
  using S = vector_scalar_t<E>;
  const auto x = column_field(matrix);
  from_users_order(problem.x, x.view);
  const auto y = row_field(matrix, std::numeric_limits<S>::quiet_NaN());
  const auto before = random_numbers<S>(y.scalars.size(), generator);
  if (beta != 0) from_users_order(before, y.view);
  multiply(alpha, FieldView<const S>(x.view), beta, y.view);
  const auto computed = in_users_order(y.view);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    long double expected = alpha * problem.product.value[i];
    // Scaling, and the sum with y: two more operations.
    long double bound = std::abs(alpha) * problem.product.bound(i, unit_roundoff<S>, 2);
    if (beta != 0) {
      expected += static_cast<long double>(beta) * before[i];
      bound += 2 * unit_roundoff<S> * std::abs(static_cast<long double>(beta) * before[i]);
    }
    const long double error = std::abs(computed[i] - expected);
    ASSERT_FALSE(!(error <= bound)) << "component " << i << ": " << computed[i] << " instead of "
                                    << expected << ", alpha " << alpha << ", beta " << beta;
  }
}

/// The same for `apply` with random factors, after poisoning the padding.
template <class E>
void expect_poisoned_product(Operator<E> matrix, const Problem<E>& problem, Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(to_string(matrix.plan()));
  poison_padding(matrix);
  constexpr S factors[] = {0, 1, -1, S(3.7), S(-0.125)};
  const S alpha = factors[random_between(0, 4, generator)];
  const S beta = factors[random_between(0, 4, generator)];
  expect_product(matrix, problem, alpha, beta, generator,
                 [&](S a, const FieldView<const S>& x, S b, const FieldView<S>& y) {
                   matrix.apply(a, x, b, y, matrix.device().stream());
                 });
}

}  // namespace heddle::test
