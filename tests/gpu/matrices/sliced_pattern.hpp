// A pattern in sliced storage, built as an operator does, on either device.
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/operator.hpp"

namespace heddle::test {

inline std::size_t at(Offset i) { return static_cast<std::size_t>(i); }

inline std::shared_ptr<const SlicedPattern> build(const PatternView& pattern, const Plan& plan,
                                                  const Device& device, int entry_bytes = 8) {
  check_pattern(pattern, device);
  const auto rows = Basis::make(pattern, plan, device);
  const auto columns = pattern.rows == pattern.columns ? rows : Basis::natural(pattern.columns);
  return SlicedPattern::build(pattern, plan, rows, columns, entry_bytes, device);
}

}  // namespace heddle::test
