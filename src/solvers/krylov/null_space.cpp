// The null space of a singular system, and the projection out of it.
#include <cmath>
#include <string>
#include <utility>

#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/krylov_solver.hpp"
#include "solvers/gpu_loops/projection_cuda.hpp"

namespace heddle {

namespace {

/// field -= v <v, field> for each of the orthonormal vectors.
template <class S, Ring R>
void project_out_in(const std::vector<FieldView<S>>& vectors, const FieldView<S>& field,
                    Reduction<S>& reduction, const Stream& stream) {
  for (const FieldView<S>& v : vectors) {
    const auto along = dot<R, S>(v, field, reduction, stream);
    Coefficient<R, S> minus{};
    for (int k = 0; k < minus.size; ++k) minus.component[k] = static_cast<S>(-along.component[k]);
    axpby<S, R>(minus, v, Coefficient<R, S>::from_real(S(1)), field, stream);
  }
}
template <class S>
void project_out(const std::vector<FieldView<S>>& vectors, Ring ring, const FieldView<S>& field,
                 Reduction<S>& reduction, const Stream& stream) {
  if (vectors.empty()) return;
  if (ring == Ring::real) project_out_in<S, Ring::real>(vectors, field, reduction, stream);
  if (ring == Ring::complex) project_out_in<S, Ring::complex>(vectors, field, reduction, stream);
  if (ring == Ring::quaternion) {
    project_out_in<S, Ring::quaternion>(vectors, field, reduction, stream);
  }
}

}  // namespace

template <class S>
void KrylovSolver<S>::project(const FieldView<S>& field) {
  project_out(null_space_.vectors, ring_, field, reduction_, stream_);
}

template <class S>
void KrylovSolver<S>::set_null_space(const std::vector<FieldView<const S>>& vectors) {
  NullSpace made;
  for (const FieldView<const S>& vector : vectors) {
    const FieldView<S>& like = places_.front().residual;
    made.storage.emplace_back(static_cast<std::size_t>(like.scalars()), device_);
    const FieldView<S> own(made.storage.back().data(), like.size, like.components,
                           matrix_.vector_layout(), basis_);
    permute<S>(vector, own, S(1), stream_);
    const sum_t<S> before = norm<S>(own, stream_);
    // Twice is enough (Giraud et al. 2005): the second pass removes what rounding left.
    project_out(made.vectors, ring_, own, reduction_, stream_);
    project_out(made.vectors, ring_, own, reduction_, stream_);
    const sum_t<S> after = norm<S>(own, stream_);
    if (!(after > before * 1e-6) || !std::isfinite(after)) {
      throw Error(ErrorKind::usage, "null space: vector " + std::to_string(made.vectors.size()) +
                                        " is zero, not finite or depends on those before it");
    }
    scale<S>(static_cast<S>(1 / after), own, stream_);
    made.vectors.push_back(own);
  }
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    // The host joins the sums of ranks that share the rows, so `project` acts instead.
    if (device_.on_gpu() && !made.vectors.empty() && stream_.share == nullptr) {
      made.projection = cuda::make_projection<S>(made.vectors, ring_, device_);
    }
  }
  forget_enqueued();
  null_space_ = std::move(made);
  steps_.generation = {};  // the estimate was made in another space
  if (!preconditioner_) return;
  // The old loops go first, so that old and new ones do not exist at once.
  of_one_ = {};
  of_all_ = {};
  in_floats_.of_one = nullptr;  // made again by the solve that needs it
  in_floats_.of_all = nullptr;
  loop_over(matrix_.iterated());
}

#define HEDDLE_NULL_SPACE(S)                                   \
  template void KrylovSolver<S>::project(const FieldView<S>&); \
  template void KrylovSolver<S>::set_null_space(const std::vector<FieldView<const S>>&);
HEDDLE_NULL_SPACE(float)
HEDDLE_NULL_SPACE(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_NULL_SPACE(long double))
#undef HEDDLE_NULL_SPACE

}  // namespace heddle
