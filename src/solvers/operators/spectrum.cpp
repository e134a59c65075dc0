#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/long_double.hpp"
#include "heddle/detail/changing.hpp"
#include "heddle/detail/sliced_operator.hpp"

namespace heddle::detail {

namespace {

/// M^-1 as an operator, so that the signs of its eigenvalues can be examined.
template <class S>
class Inverse final : public LinearOperator<S> {
 public:
  Inverse(const LinearOperator<S>& matrix, const Preconditioner<S>& inner)
      : matrix_(matrix), inner_(inner) {}

  Index rows() const override { return matrix_.rows(); }
  int row_components() const override { return matrix_.row_components(); }
  /// y = M^-1 x: no alpha other than 1 and no beta other than 0 is asked for.
  void apply(S, const FieldView<const S>& x, S, const FieldView<S>& y,
             const Stream& stream) const override {
    inner_.apply(x, y, stream);
  }

 private:
  const LinearOperator<S>& matrix_;
  const Preconditioner<S>& inner_;
};

/// True if some Ritz value is negative beyond rounding. Ritz values of a positive semidefinite
/// operator are negative by rounding at most.
template <class S>
bool has_negative(const RitzValues<S>& found) {
  constexpr auto rounding = 64 * static_cast<sum_t<S>>(std::numeric_limits<S>::epsilon());
  return !(found.largest > 0) || found.smallest < -rounding * found.largest;
}

}  // namespace

template <class S>
Spectrum<S> estimate_spectrum(const LinearOperator<S>& matrix,
                              const Preconditioner<S>* preconditioner, int steps,
                              const LanczosFields<S>& fields, Reduction<S>& reduction,
                              const Stream& stream) {
  const auto is_finite = [](const RitzValues<S>& found) {
    return !found.is_positive || std::isfinite(found.smallest + found.largest);
  };
  // If M^-1 is as indefinite as A, their product does not show it.
  if (preconditioner != nullptr) {
    const Inverse<S> inverse(matrix, *preconditioner);
    const auto found = extreme_ritz_values<S>(inverse, nullptr, steps, fields, reduction, stream);
    if (!is_finite(found)) return {SpectrumKind::not_finite};
    if (has_negative(found)) return {SpectrumKind::of_indefinite_preconditioner};
  }
  const auto found =
      extreme_ritz_values<S>(matrix, preconditioner, steps, fields, reduction, stream);
  if (!is_finite(found)) return {SpectrumKind::not_finite};
  const bool is_positive = found.is_positive && !has_negative(found);
  return {is_positive ? SpectrumKind::positive : SpectrumKind::indefinite, found.smallest,
          found.largest};
}

template <class S>
SpectralInterval interval_of(const Spectrum<S>& spectrum) {
  constexpr double least = 1e-6;
  const double upper = safety_of_estimate * static_cast<double>(spectrum.largest);
  const double lower = static_cast<double>(spectrum.smallest) / safety_of_estimate;
  return {std::max(lower, least * upper), upper};
}

template <class S>
std::optional<long long> generation_of(const LinearOperator<S>& matrix) {
  const auto* const sliced = dynamic_cast<const SlicedOperator<S>*>(&matrix);
  if (sliced != nullptr) return sliced->generation();
  const auto* const changing = dynamic_cast<const Changing*>(&matrix);
  return changing != nullptr ? std::optional(changing->generation()) : std::nullopt;
}

#define HEDDLE_SPECTRUM(S)                                                                        \
  template Spectrum<S> estimate_spectrum(const LinearOperator<S>&, const Preconditioner<S>*, int, \
                                         const LanczosFields<S>&, Reduction<S>&, const Stream&);  \
  template SpectralInterval interval_of(const Spectrum<S>&);                                      \
  template std::optional<long long> generation_of(const LinearOperator<S>&);
HEDDLE_SPECTRUM(float)
HEDDLE_SPECTRUM(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SPECTRUM(long double))
#undef HEDDLE_SPECTRUM

}  // namespace heddle::detail
