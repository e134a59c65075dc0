#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "heddle/entries/slots.hpp"

/// The largest number of a row's entries for one of its T threads, which take turns.
inline heddle::Index most_of_one_thread(heddle::Index length, int T) {
  std::vector<heddle::Index> held(static_cast<std::size_t>(T));
  for (heddle::Index j = 0; j < length; ++j) ++held[static_cast<std::size_t>(j % T)];
  return *std::max_element(held.begin(), held.end());
}
