// The symmetry of the matrix that a method needs.
#pragma once

#include <optional>

#include "solver_fields.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

template <class S>
class MethodSymmetry {
 public:
  MethodSymmetry(const SolverInputs<S>& inputs, SolverFields<S>& fields)
      : inputs_(inputs), fields_(fields) {}

  /// True if the matrix is Hermitian, or symmetric, as the method needs it; tested once per solver,
  /// see `has_symmetry`. True without a test if a step is given.
  bool suits() {
    const MethodInfo& info = inputs_.method.info;
    const bool needs_hermitian = info.needs_hermitian && !inputs_.options.omega;
    if (!needs_hermitian && !info.needs_symmetric) return true;
    if (suits_) return *suits_;
    const auto& place = fields_.first();
    ProbeFields<S> fields{place.kept, place.verified, place.residual, place.vectors.work.front()};
    const auto has = [&](Symmetry symmetry) {
      if (symmetry == Symmetry::plain) fields.multiplied = place.vectors.work.at(1);
      return has_symmetry(symmetry, inputs_.matrix, fields, inputs_.reduction, inputs_.stream);
    };
    const bool is_complex = inputs_.ring == Ring::complex;
    const bool is_plain = info.needs_symmetric && is_complex;
    suits_ = has(is_plain ? Symmetry::plain : Symmetry::hermitian);
    if (!*suits_ && !is_plain && is_complex && inputs_.method.program.vectors > 3) {
      is_complex_symmetric_ = has(Symmetry::plain);
    }
    return *suits_;
  }
  /// True if the test found the matrix complex symmetric where it is not Hermitian.
  bool is_complex_symmetric() const { return is_complex_symmetric_; }

 private:
  const SolverInputs<S>& inputs_;
  SolverFields<S>& fields_;
  std::optional<bool> suits_;
  bool is_complex_symmetric_ = false;
};

}  // namespace heddle::detail
