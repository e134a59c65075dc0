// Selections of one value from each dimension that together contain every compatible pair of
// values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace heddle::test {

/// The number of one value in each dimension.
using Selection = std::vector<int>;

/// A value: its dimension, and its number in that dimension.
using Value = std::pair<int, int>;

/// Values of two dimensions, the lower one first.
using ValuePair = std::pair<Value, Value>;

struct SelectionSpace {
  std::vector<int> sizes;                       // values of each dimension
  std::function<bool(const Selection&)> valid;  // depends only on the dimensions
  std::vector<int> ruled;                       // listed here
};

inline std::vector<ValuePair> pairs_of(const Selection& selection) {
  std::vector<ValuePair> pairs;
  const int dimensions = static_cast<int>(selection.size());
  for (int i = 0; i < dimensions; ++i) {
    for (int j = i + 1; j < dimensions; ++j) {
      pairs.push_back({{i, selection[static_cast<std::size_t>(i)]},
                       {j, selection[static_cast<std::size_t>(j)]}});
    }
  }
  return pairs;
}

/// Every pair that a valid selection holds, with one selection that holds it. Tries all pairs.
inline std::map<ValuePair, Selection> valid_pairs(const SelectionSpace& space) {
  std::map<ValuePair, Selection> found;
  const auto try_all = [&](const Value& first, const Value& second) {
    Selection selection(space.sizes.size(), 0);
    const auto at = [&](int dimension) -> int& {
      return selection[static_cast<std::size_t>(dimension)];
    };
    at(first.first) = first.second;
    at(second.first) = second.second;
    std::vector<int> free;
    for (const int dimension : space.ruled) {
      if (dimension != first.first && dimension != second.first) free.push_back(dimension);
    }
    for (std::size_t i = 0;; i = 0) {
      if (space.valid(selection)) {
        found.emplace(ValuePair{first, second}, selection);
        return;
      }
      while (i < free.size() && ++at(free[i]) == space.sizes[static_cast<std::size_t>(free[i])]) {
        at(free[i++]) = 0;
      }
      if (i == free.size()) return;
    }
  };
  const int dimensions = static_cast<int>(space.sizes.size());
  for (int i = 0; i < dimensions; ++i) {
    for (int j = i + 1; j < dimensions; ++j) {
      for (int a = 0; a < space.sizes[static_cast<std::size_t>(i)]; ++a) {
        for (int b = 0; b < space.sizes[static_cast<std::size_t>(j)]; ++b) try_all({i, a}, {j, b});
      }
    }
  }
  return found;
}

/// Valid selections that hold every pair of `wanted`, a subset of all compatible pairs; greedy
/// (Cohen et al. 1997, AETG).
inline std::vector<Selection> covering_array(const SelectionSpace& space,
                                             const std::map<ValuePair, Selection>& pairs,
                                             const std::map<ValuePair, Selection>& wanted,
                                             std::mt19937_64& generator) {
  enum State : char { never, open, met };
  std::vector<int> first_of(space.sizes.size(), 0);
  std::partial_sum(space.sizes.begin(), space.sizes.end() - 1, first_of.begin() + 1);
  const auto values = static_cast<std::size_t>(first_of.back() + space.sizes.back());
  std::vector<State> states(values * values, never);
  const auto state = [&](Value a, Value b) -> State& {
    if (b < a) std::swap(a, b);
    const auto number = [&](const Value& v) {
      return static_cast<std::size_t>(first_of[static_cast<std::size_t>(v.first)] + v.second);
    };
    return states[number(a) * values + number(b)];
  };
  for (const auto& [pair, example] : pairs) state(pair.first, pair.second) = met;
  for (const auto& [pair, example] : wanted) state(pair.first, pair.second) = open;

  const auto gain_of = [&](const Selection& selection) {
    const auto held = pairs_of(selection);
    return std::count_if(held.begin(), held.end(), [&](const ValuePair& pair) {
      return state(pair.first, pair.second) == open;
    });
  };
  /// Picks, dimension by dimension, the value with the most open pairs among those chosen so far.
  /// Returns an empty selection if no value is compatible with them.
  const auto grown_from = [&](const ValuePair& pair) {
    std::vector<Value> chosen = {pair.first, pair.second};
    std::vector<int> order(space.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    for (const int dimension : order) {
      if (dimension == pair.first.first || dimension == pair.second.first) continue;
      std::vector<Value> best;
      int best_gain = -1;
      for (int v = 0; v < space.sizes[static_cast<std::size_t>(dimension)]; ++v) {
        int gain = 0;
        bool possible = true;
        for (const Value& other : chosen) {
          possible = possible && state({dimension, v}, other) != never;
          gain += state({dimension, v}, other) == open;
        }
        if (!possible || gain < best_gain) continue;
        if (gain > best_gain) best.clear();
        best_gain = gain;
        best.emplace_back(dimension, v);
      }
      if (best.empty()) return Selection();
      chosen.push_back(best[generator() % best.size()]);
    }
    Selection selection(space.sizes.size());
    for (const auto& [dimension, v] : chosen) selection[static_cast<std::size_t>(dimension)] = v;
    return selection;
  };

  constexpr int candidates = 30;
  std::vector<Selection> array;
  for (const auto& [pair, example] : wanted) {
    if (state(pair.first, pair.second) == met) continue;
    Selection best = example;
    auto best_gain = gain_of(best);
    for (int i = 0; i < candidates; ++i) {
      Selection grown = grown_from(pair);
      if (grown.empty() || !space.valid(grown)) continue;
      const auto gain = gain_of(grown);
      if (gain > best_gain) {
        best_gain = gain;
        best = std::move(grown);
      }
    }
    for (const auto& [a, b] : pairs_of(best)) state(a, b) = met;
    array.push_back(best);
  }
  return array;
}

}  // namespace heddle::test
