// The product of any operator, as work to be measured.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "heddle/linear_operator.hpp"
#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle {

/// y = A x in the operator's basis and layout, with a random x.
template <class S>
class LinearWork final : public OperatorWork {
 public:
  LinearWork(std::shared_ptr<const LinearOperator<S>> matrix, std::uint64_t seed)
      : matrix_(std::move(matrix)),
        x_(detail::column_field_of(*matrix_)),
        y_(detail::row_field_of(*matrix_)) {
    Array<S> x(x_.scalars.size());
    parallel_for(default_threads(), x.size(),
                 [&](std::size_t i) { x[i] = static_cast<S>(random_component(seed, i)); });
    detail::copy_bytes(x_.scalars.data(), x.data(), x.size() * sizeof(S),
                       matrix_->device().stream());
  }
  void run(const Stream& stream) override { matrix_->apply(S(1), x_.view, S(0), y_.view, stream); }

 private:
  std::shared_ptr<const LinearOperator<S>> matrix_;
  detail::OperatorField<S> x_, y_;
};

}  // namespace heddle
