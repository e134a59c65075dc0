// Lengths of rows as a plan would store them, without their order: what a prediction needs of it.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/plan.hpp"

namespace heddle {

struct StoredLengths {
  std::vector<Offset> offsets;  // of rows in storage order, from 0
  PatternView view() const {
    PatternView pattern;
    pattern.rows = static_cast<Index>(offsets.size() - 1);
    pattern.offsets = offsets.data();
    return pattern;
  }
};

/// Rows sorted by length within the plan's windows, by counting. An order other than the natural
/// one before the sort is taken for the natural one.
StoredLengths stored_lengths(const PatternView& pattern, const Plan& plan);

/// Entries in the largest of equal shares of groups of rows, as a static schedule hands them to
/// threads, over those in the mean one; 1 where there is nothing to share.
double imbalance_of_shares(const PatternView& rows, int shares);

}  // namespace heddle
