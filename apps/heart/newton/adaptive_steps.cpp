#include "adaptive_steps.hpp"

#include <limits>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::heart {

AdaptiveSteps::AdaptiveSteps(NewtonScheme& scheme, double unit, double tolerance, long long most)
    : scheme_(scheme),
      unit_(unit),
      lengths_(tolerance, most),
      rate_(scheme.tangent().field()),
      change_(rate_),
      difference_(rate_),
      of_nodes_(rate_.size(), scheme.tangent().device()) {}

double AdaptiveSteps::error_of(double step) {
  const Stream stream = rate_.stream();
  copy<double>(scheme_.potential_field().view(), change_.view(), stream);
  axpby<Number>(-1, scheme_.potential_before(), 1, change_);
  copy<double>(std::as_const(change_).view(), difference_.view(), stream);
  axpby<Number>(-step, rate_, 1, difference_);
  return largest_magnitude<double>(std::as_const(difference_).view(), of_nodes_, stream) / 2;
}

long long AdaptiveSteps::try_step(long long room) {
  for (long long length = lengths_.first(room);;) {
    const double step = static_cast<double>(length) * unit_;
    const bool is_solved = scheme_.try_step(step);
    const double error = is_solved ? error_of(step) : std::numeric_limits<double>::infinity();
    if (lengths_.accepts(length, error)) {
      if (is_solved) {
        lengths_.take(length, error);
        axpby<Number>(1 / step, change_, 0, rate_);
      }
      return length;
    }
    scheme_.undo_step();
    lengths_.reject();
    length = lengths_.shorter(length, error);
  }
}

std::vector<double> AdaptiveSteps::rates() const {
  std::vector<double> values(static_cast<std::size_t>(rate_.size()));
  permute<double>(rate_.view(), FieldView<double>(values), 1, rate_.stream());
  return values;
}

void AdaptiveSteps::resume(const std::vector<double>& rates, double next_length) {
  if (rates.size() != static_cast<std::size_t>(rate_.size())) {
    throw Error(ErrorKind::size_mismatch, "the state is not of adaptive steps");
  }
  permute<double>(FieldView<const double>(rates), rate_.view(), 1, rate_.stream());
  lengths_.resume(static_cast<long long>(next_length));
}

}  // namespace heddle::heart
