// The null space of a singular system, and the projection out of it.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "solver_inputs.hpp"
#include "solvers/gpu_loops/projection_cuda.hpp"

namespace heddle::detail {

template <class S>
class NullSpace {
 public:
  explicit NullSpace(const SolverInputs<S>& inputs) : inputs_(&inputs) {}
  /// The span of `vectors`, which may be in the user's order. `like`: a field of the solver's own.
  /// Throws `Error` (usage) unless they are finite and independent.
  NullSpace(const SolverInputs<S>& inputs, const std::vector<FieldView<const S>>& vectors,
            const FieldView<S>& like)
      : inputs_(&inputs) {
    for (const FieldView<const S>& vector : vectors) {
      storage_.emplace_back(static_cast<std::size_t>(like.scalars()), inputs.device);
      FieldView<S> own = like;
      own.data = storage_.back().data();
      permute<S>(vector, own, S(1), inputs.stream);
      const sum_t<S> before = norm<S>(own, inputs.stream);
      // Twice is enough (Giraud et al. 2005): the second pass removes what rounding left.
      project(own);
      project(own);
      const sum_t<S> after = norm<S>(own, inputs.stream);
      if (!(after > before * 1e-6) || !std::isfinite(after)) {
        throw Error(ErrorKind::usage, "null space: vector " + std::to_string(vectors_.size()) +
                                          " is zero, not finite or depends on those before it");
      }
      scale<S>(static_cast<S>(1 / after), own, inputs.stream);
      vectors_.push_back(own);
    }
    if constexpr (may_be_on_gpu<S>) {
      // The host joins the sums of ranks that share the rows, so `project` acts instead.
      if (inputs.device.on_gpu() && !vectors_.empty() && inputs.stream.share == nullptr) {
        projection_ = cuda::make_projection<S>(vectors_, inputs.ring, inputs.device);
      }
    }
  }

  bool empty() const { return vectors_.empty(); }
  const std::vector<FieldView<S>>& vectors() const { return vectors_; }  // orthonormal

  /// field -= v <v, field> for each of the vectors.
  void project(const FieldView<S>& field) const {
    if (inputs_->ring == Ring::real) project_over<Ring::real>(field);
    if (inputs_->ring == Ring::complex) project_over<Ring::complex>(field);
    if (inputs_->ring == Ring::quaternion) project_over<Ring::quaternion>(field);
  }
  /// Same on a GPU: it only queues, unless ranks share the rows.
  void queue(const FieldView<S>& field, const Stream& stream) const {
    projection_ ? projection_->queue(field, stream) : project(field);
  }
  /// Null without vectors, and where the hosts of ranks project.
  const std::shared_ptr<cuda::Projection<S>>& projection() const { return projection_; }

  /// z = M^-1 r, or r itself without a preconditioner; projected if there is a null space.
  FieldView<const S> precondition(const FieldView<const S>& r, const FieldView<S>& z) const {
    if (!inputs_->preconditioner) return r;
    inputs_->preconditioner->apply(r, z, inputs_->stream);
    project(z);
    return z;
  }

 private:
  template <Ring R>
  void project_over(const FieldView<S>& field) const {
    for (const FieldView<S>& v : vectors_) {
      const auto along = dot<R, S>(v, field, inputs_->reduction, inputs_->stream);
      Coefficient<R, S> minus{};
      for (int k = 0; k < minus.size; ++k) minus.component[k] = static_cast<S>(-along.component[k]);
      axpby<S, R>(minus, v, Coefficient<R, S>::from_real(S(1)), field, inputs_->stream);
    }
  }

  const SolverInputs<S>* inputs_;
  std::vector<Array<S>> storage_;
  std::vector<FieldView<S>> vectors_;
  std::shared_ptr<cuda::Projection<S>> projection_;
};

}  // namespace heddle::detail
