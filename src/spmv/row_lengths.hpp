// Lengths of rows as a plan would store them, without their order: all that a prediction needs.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/plan.hpp"

namespace heddle {

struct StoredLengths {
  std::vector<Offset> offsets;  // offsets of rows in storage order, from 0
  PatternView view() const {
    PatternView pattern;
    pattern.rows = static_cast<Index>(offsets.size() - 1);
    pattern.offsets = offsets.data();
    return pattern;
  }
};

/// Rows sorted by length within the plan's windows, by counting. Any order that precedes the sort
/// is replaced by the natural one.
StoredLengths stored_lengths(const PatternView& pattern, const Plan& plan);

/// Entries in the largest of equal shares of groups of rows, as a static schedule hands them to
/// threads, divided by those in the mean share; 1 if there is nothing to share.
double imbalance_of_shares(const PatternView& rows, int shares);

}  // namespace heddle
