#include "definiteness.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "base/memory_limits.hpp"
#include "heddle/vector_operations.hpp"
#include "solvers/operators/extreme_eigenvalues.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle {

namespace {

template <class S>
DiagonalSigns signs_of(const AnyMatrix& matrix, double shift) {
  DiagonalSigns signs;
  const PatternView pattern = matrix.pattern();
  const std::byte* const values = matrix.values().data();
  for (Index row = 0; row < pattern.rows; ++row) {
    double value = shift;
    bool is_coupled = false;
    for (Offset k = pattern.offsets[row]; k < pattern.offsets[Offset(row) + 1]; ++k) {
      const auto* const entry = reinterpret_cast<const S*>(values + k * matrix.entry_bytes());
      const S* const end = entry + matrix.entry_bytes() / static_cast<int>(sizeof(S));
      const bool is_own = pattern.column[k] == row;
      if (is_own) value += static_cast<double>(*entry);
      is_coupled = is_coupled || std::any_of(is_own ? entry + 1 : entry, end,
                                             [](S number) { return number != 0; });
    }
    signs.has_positive = signs.has_positive || value > 0;
    signs.has_negative = signs.has_negative || value < 0;
    if (value == 0 && is_coupled && !signs.row_of_zero) signs.row_of_zero = row;
    if (signs.has_positive && signs.has_negative) break;
  }
  return signs;
}

}  // namespace

std::optional<DiagonalSigns> diagonal_signs(const AnyMatrix& matrix, double shift) {
  if (matrix.is_defined()) return std::nullopt;
  return matrix.precision() == Precision::single_precision ? signs_of<float>(matrix, shift)
                                                           : signs_of<double>(matrix, shift);
}

std::optional<SmallestSeen> smallest_seen(const AnyLinearOperator& matrix, double shift) {
  return matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A)
                          -> std::optional<SmallestSeen> {
    const Device device = A->device();
    const long long fields =
        3LL * A->rows() * A->row_components() * static_cast<long long>(sizeof(S));
    const Stream& stream = device.stream();
    if (all_rows(A->rows(), stream) == 0) return std::nullopt;
    // Ranks that share the rows must act the same way, whatever memory each has.
    if (stream.share == nullptr && fields > available_memory_for(fields, device)) {
      return std::nullopt;
    }
    const auto current = detail::row_field_of<S>(*A), before = detail::row_field_of<S>(*A),
               image = detail::row_field_of<S>(*A);
    Reduction<S> reduction(A->rows(), device);
    const auto found = detail::extreme_ritz_values<S>(
        *A, nullptr, products_of_look, {current.view, before.view, image.view, {}, {}}, reduction,
        stream);
    const auto smallest = static_cast<double>(found.smallest) + shift;
    const auto largest = static_cast<double>(found.largest) + shift;
    if (!std::isfinite(smallest + largest)) return std::nullopt;
    constexpr double rounding = 64 * static_cast<double>(std::numeric_limits<S>::epsilon());
    const double size = std::max(std::abs(smallest), std::abs(largest));
    return SmallestSeen{smallest, found.steps, smallest < -rounding * size};
  });
}

}  // namespace heddle
