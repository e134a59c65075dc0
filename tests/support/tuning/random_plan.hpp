#pragma once

#include <cstddef>
#include <random>

#include "heddle/tuning/search_space.hpp"

namespace heddle::test {

/// A plan in which each axis in turn sets a random choice, where it is allowed.
inline Plan random_plan(const SearchSpace& space, std::mt19937_64& generator) {
  Plan plan = space.base();
  for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
    const auto choice = static_cast<int>(generator() % space.axes()[axis].choices.size());
    plan = space.with(plan, axis, choice).value_or(plan);
  }
  return space.reduced(plan);
}

}  // namespace heddle::test
