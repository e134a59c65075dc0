// The loops of a solver: their form, their workspace, and the parts that they are made of.
#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <utility>

#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/krylov_solver.hpp"
#include "solvers/gpu_loops/device_loop_cuda.hpp"
#include "solvers/gpu_loops/loop_preconditioner.hpp"
#include "solvers/gpu_loops/loop_workspace_cuda.hpp"
#include "solvers/gpu_loops/persistent_cuda.hpp"
#include "solvers/gpu_loops/projection_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle {

namespace krylov_loops {
namespace {

/// True if r is projected before it is preconditioned. In a method without a definite form, Lanczos
/// vectors that reach the end of the spectrum grow along a null space until M^-1 of them has the
/// wrong sign.
bool projects_first(const MethodInfo& method) {
  return method.needs_hermitian && !method.needs_positive && !method.takes_interval;
}

/// A writable view of r, which like z is a vector of the loop.
template <class S>
FieldView<S> of_loop(const FieldView<const S>& r, const FieldView<S>& z) {
  FieldView<S> own = z;
  own.data = const_cast<S*>(r.data);
  return own;
}

/// Removes the null-space component of r, in place, and then applies M^-1.
template <class S>
class ProjectingFirst final : public Preconditioner<S> {
 public:
  ProjectingFirst(const Preconditioner<S>& inner, std::function<void(const FieldView<S>&)> project)
      : inner_(inner), project_(std::move(project)) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    project_(of_loop<S>(r, z));
    inner_.apply(r, z, stream);
  }

 private:
  const Preconditioner<S>& inner_;
  std::function<void(const FieldView<S>&)> project_;
};

}  // namespace
}  // namespace krylov_loops

namespace {

template <class S>
inline constexpr bool may_be_on_gpu = has_cuda && !std::is_same_v<S, long double>;

/// Components of a coefficient in the kernel that is a whole loop; 0 for those of the entry.
[[maybe_unused]] int components_in_one_kernel(const detail::MethodProgram& program,
                                              const MethodInfo& info) {
  return info.needs_positive ? 0 : ring_size(program.ring);
}

}  // namespace

template <class S>
bool KrylovSolver<S>::has_foreign_work() const {
  return matrix_.product_on_gpu() == nullptr ||
         (preconditioner_ && !detail::is_fused(*preconditioner_, !null_space_.vectors.empty()));
}

template <class S>
long long KrylovSolver<S>::unwatched_iterations(long long bytes_of_iteration) const {
  // Access to clock and host is slow, except compared with iterations that take a fraction of a
  // millisecond or, on slow GPUs, more.
  constexpr long long worth_watching = 1LL << 30;
  // Ranks make their requests between two bodies.
  constexpr long long unwatched_on_ranks = 7;
  const bool is_stepped = form_of_loop(*iterated_) == LoopForm::stepped;
  if (!is_stepped && cuda::are_captured(*iterated_)) return unwatched_on_ranks;
  const bool is_watched = has_foreign_work() || bytes_of_iteration >= worth_watching || is_stepped;
  return is_watched ? 0 : device::usually_unwatched;
}

/// A graph cannot record what foreign work makes or compiles at its first use.
template <class S>
void KrylovSolver<S>::apply_foreign_work_once() {
  if (is_applied_ || !has_foreign_work() || form_of_loop(matrix_) == LoopForm::stepped) return;
  const FieldView<S>&from = places_.front().residual, to = places_.front().kept;
  fill<S>(S(0), from, stream_);
  fill<S>(S(0), to, stream_);
  if (preconditioner_) preconditioner_->apply(from, to, stream_);
  if (matrix_.product_on_gpu() == nullptr) {
    matrix_.apply(S(1), from, S(0), to, stream_);
    matrix_.apply(S(-1), from, S(1), to, stream_);
  }
  is_applied_ = true;
}

template <class S>
LoopForm KrylovSolver<S>::form_of_loop(const LinearOperator<S>& matrix) const {
  // If ranks share a basis, hosts join its sums.
  if (method_.program.bases() > 0 && cuda::are_captured(matrix)) return LoopForm::stepped;
  const LoopForm form =
      detail::form_of_loop(matrix, preconditioner_.get(), !null_space_.vectors.empty());
  return form == LoopForm::persistent && !method_.info.has_one_kernel ? LoopForm::graph : form;
}

// docs/inside/tried.md, "Several right-hand sides": the kernel that keeps one system's vectors on
// the chip is as fast as a graph of eight systems, and a product of two systems is slower than two.
template <class S>
std::size_t KrylovSolver<S>::systems_at_once(std::size_t systems) const {
  const bool has_one_kernel = form_of_loop(matrix_.iterated()) == LoopForm::persistent ||
                              form_of_loop(matrix_) == LoopForm::persistent;
  // Ranks agree on the end of one system at a time.
  const bool has_ranks = stream_.share != nullptr;
  if (method_.program.bases() > 0 || has_one_kernel || has_ranks ||
      (device_.on_gpu() && systems == 2)) {
    return std::min<std::size_t>(systems, 1);
  }
  return std::min(systems, std::size_t{max_side_by_side});
}

template <class S>
cuda::LoopPreconditioner<S> KrylovSolver<S>::preconditioner_of_loop() {
  if (!preconditioner_) return {};
  if (detail::is_fused(*preconditioner_, !null_space_.vectors.empty())) {
    return {preconditioner_->rows_on_gpu(), {}};
  }
  const auto project_in = [this](const FieldView<S>& field, const Stream& stream) {
    null_space_.projection ? null_space_.projection->queue(field, stream) : project(field);
  };
  const bool projects_first = krylov_loops::projects_first(method_.info);
  return {nullptr, [this, project_in, projects_first](const FieldView<const S>& r,
                                                      const FieldView<S>& z, const Stream& stream) {
            if (projects_first) project_in(krylov_loops::of_loop<S>(r, z), stream);
            preconditioner_->apply(r, z, stream);
            project_in(z, stream);
          }};
}

template <class S>
FieldView<const S> KrylovSolver<S>::precondition(const FieldView<const S>& r,
                                                 const FieldView<S>& z) {
  if (!preconditioner_) return r;
  preconditioner_->apply(r, z, stream_);
  project(z);
  return z;
}

template <class S>
FieldView<S> KrylovSolver<S>::spare(const Place& place) const {
  if (method_.info.image < 0) return {};
  return place.vectors.work[static_cast<std::size_t>(method_.info.image - 2)];
}

template <class S>
Workspace KrylovSolver<S>::workspace_of_loop(const LinearOperator<S>& matrix,
                                             [[maybe_unused]] std::size_t systems) const {
  if constexpr (may_be_on_gpu<S>) {
    if (!device_.on_gpu()) return {};
    if (form_of_loop(matrix) == LoopForm::persistent) {
      return cuda::workspace_of_persistent(cuda::persistent_method(method_.info),
                                           components_in_one_kernel(method_.program, method_.info),
                                           *matrix.product_on_gpu(), preconditioner_ != nullptr,
                                           device_);
    }
    const bool joins = preconditioner_ && preconditioner_->rows_on_gpu() != nullptr;
    return cuda::workspace_of_device_loop<S>(method_.program, matrix, joins, max_basis_, systems);
  }
  return {};
}

template <class S>
bool KrylovSolver<S>::has_narrow_basis() const {
  return max_basis_ > 0 && options_.basis_precision == StoredScalar::single &&
         std::is_same_v<S, double>;
}

template <class S>
long long KrylovSolver<S>::basis_bytes() const {
  return Offset(matrix_.rows()) * matrix_.row_components() * max_basis_ * method_.program.bases() *
         static_cast<long long>(has_narrow_basis() ? sizeof(float) : sizeof(S));
}

template <class S>
detail::BasisRoom KrylovSolver<S>::make_basis() {
  detail::BasisRoom room;
  if (max_basis_ == 0) return room;
  room.most = max_basis_;
  room.stride = room.stride_of(Offset(matrix_.rows()) * matrix_.row_components());
  room.scalar_bytes = static_cast<int>(has_narrow_basis() ? sizeof(float) : sizeof(S));
  const auto scalars = static_cast<std::size_t>(room.stride * room.most) *
                       static_cast<std::size_t>(method_.program.bases());
  if (has_narrow_basis()) {
    room.data = narrow_storage_.emplace_back(scalars, device_).data();
  } else {
    room.data = storage_.emplace_back(scalars, device_).data();
  }
  return room;
}

template <class S>
std::unique_ptr<detail::MethodLoop<S>> KrylovSolver<S>::make_loop(const LinearOperator<S>& matrix,
                                                                  std::size_t systems) {
  std::vector<detail::LoopVectors<S>> vectors;
  vectors.reserve(systems);
  for (std::size_t k = 0; k < systems; ++k) vectors.push_back(places_[k].vectors);
  if constexpr (may_be_on_gpu<S>) {
    if (device_.on_gpu()) {
      const LoopForm form = form_of_loop(matrix);
      auto preconditioner = preconditioner_of_loop();
      if (form == LoopForm::persistent) {
        return cuda::make_persistent_loop<S>(
            cuda::persistent_method(method_.info),
            components_in_one_kernel(method_.program, method_.info), *matrix.product_on_gpu(),
            preconditioner_ ? preconditioner.rows->inverses() : nullptr, device_);
      }
      cuda::DeviceLoopParts<S> parts;
      parts.program = method_.program;
      parts.matrix = &matrix;
      parts.preconditioner = std::move(preconditioner);
      parts.systems = std::move(vectors);
      parts.form = form;
      parts.device = device_;
      return cuda::make_device_loop<S>(std::move(parts));
    }
  }
  detail::LoopParts<S> parts;
  parts.matrix = &matrix;
  parts.preconditioner = preconditioner_.get();
  if (!null_space_.vectors.empty()) {
    const auto project_in = [this](const FieldView<S>& field) { project(field); };
    parts.project = project_in;
    if (preconditioner_ && krylov_loops::projects_first(method_.info)) {
      const auto both =
          std::make_shared<krylov_loops::ProjectingFirst<S>>(*preconditioner_, project_in);
      parts.preconditioner = both.get();
      parts.project = [project_in, both](const FieldView<S>& field) { project_in(field); };
    }
  }
  parts.systems = std::move(vectors);
  parts.reduction = &reduction_;
  return detail::make_host_loop(method_.program, *method_.host, std::move(parts));
}

template <class S>
detail::MethodLoop<S>& KrylovSolver<S>::loop_over(const LinearOperator<S>& matrix,
                                                  std::size_t systems) {
  Loops& loops = systems == 1 ? of_one_ : of_all_;
  auto& in_floats = systems == 1 ? in_floats_.of_one : in_floats_.of_all;
  auto& loop = &matrix == &matrix_                  ? loops.on_matrix
               : &matrix == in_floats_.matrix.get() ? in_floats
                                                    : loops.on_copy;
  if (!loop) loop = make_loop(matrix, systems == 1 ? 1 : places_.size());
  return *loop;
}

template <class S>
bool KrylovSolver<S>::take_floats() {
  auto floats = matrix_.iterated_in_floats();
  if (floats == nullptr) return false;
  if (floats != in_floats_.matrix) in_floats_ = {std::move(floats), nullptr, nullptr};
  return true;
}

namespace {

/// Passes over fields that a listing's steps make, to load and to store. `most`: vectors of a full
/// basis, which on average is half full. `halves`: size of each of its vectors in half fields.
int passes_of(const detail::MethodProgram& program, bool on_gpu, int most, int halves) {
  const methods::Facts& facts = program.iteration;
  int passes = 0;
  for (int i = 0; i < facts.steps; ++i) {
    const methods::StepFacts& step = facts.step[i];
    if (step.kind == methods::StepKind::update) {
      passes += std::popcount(facts.loads(i)) + std::popcount(step.writes);
    }
    if (step.kind == methods::StepKind::orthogonalize) {
      // The passes over the basis, and those over two vectors and the memory that stores them.
      passes += (on_gpu ? 2 : 3) * halves * (most + 1) / 4 + (on_gpu ? 6 : 4);
      if (on_gpu && program.is_flexible) passes += halves * (most + 1) / 4 + 2;
    }
    if (step.kind == methods::StepKind::precondition && step.in != step.out) {
      // After an update, the preconditioner takes what that has in registers.
      const bool follows = i > 0 && facts.step[i - 1].kind == methods::StepKind::update;
      passes += follows && !(on_gpu && program.ring != Ring::real) ? 1 : 2;
    }
    if (step.kind != methods::StepKind::product || step.sums == 0) continue;
    // Sums that the product does not form itself are a pass; otherwise the product reads the
    // operands that it does not have.
    unsigned operands = 0;
    for (int s = step.first_sum; s < step.first_sum + step.sums; ++s) {
      operands |= (1U << facts.sum[s].left) | (1U << facts.sum[s].right);
    }
    const unsigned own = (1U << step.in) | (1U << step.out);
    passes += std::popcount(on_gpu || step.sums == 1 ? operands & ~own : operands);
  }
  return passes;
}

}  // namespace

template <class S>
typename KrylovSolver<S>::Cost KrylovSolver<S>::cost() const {
  const methods::Facts& facts = method_.program.iteration;
  int products = 0;
  for (int i = 0; i < facts.steps; ++i) {
    products += facts.step[i].kind == methods::StepKind::product ? 1 : 0;
  }
  return {passes_of(method_.program, device_.on_gpu(), max_basis_, has_narrow_basis() ? 1 : 2),
          products};
}

template <class S>
long long KrylovSolver<S>::bytes_per_iteration(std::size_t systems) const {
  const long long alone = iterated().bytes_of_product();
  if (alone == 0) return 0;
  const Cost work = cost();
  const long long field_bytes =
      places_.front().residual.scalars() * static_cast<long long>(sizeof(S));
  const long long of_matrix = std::max(0LL, alone - 2 * field_bytes);
  const long long product = alone - of_matrix + of_matrix / static_cast<long long>(systems);
  return work.products * product + work.passes * field_bytes +
         (preconditioner_ ? work.products * preconditioner_->bytes_of_application() : 0);
}

template <class S>
bool KrylovSolver<S>::suits_method() {
  if (!needs_hermitian() && !method_.info.needs_symmetric) return true;
  if (suits_method_) return *suits_method_;
  const bool is_plain = method_.info.needs_symmetric && ring_ == Ring::complex;
  const Place& place = places_.front();
  detail::ProbeFields<S> fields{place.kept, place.verified, place.residual,
                                place.vectors.work.front()};
  if (is_plain) fields.turned = place.vectors.work.at(1);
  suits_method_ =
      detail::has_symmetry(is_plain ? detail::Symmetry::plain : detail::Symmetry::hermitian,
                           matrix_, fields, reduction_, stream_);
  if (!*suits_method_ && !is_plain && ring_ == Ring::complex && method_.program.vectors > 3) {
    fields.turned = place.vectors.work[1];
    is_complex_symmetric_ =
        detail::has_symmetry(detail::Symmetry::plain, matrix_, fields, reduction_, stream_);
  }
  return *suits_method_;
}

#define HEDDLE_LOOPS(S)                                                                        \
  template bool KrylovSolver<S>::has_foreign_work() const;                                     \
  template long long KrylovSolver<S>::unwatched_iterations(long long) const;                   \
  template void KrylovSolver<S>::apply_foreign_work_once();                                    \
  template LoopForm KrylovSolver<S>::form_of_loop(const LinearOperator<S>&) const;             \
  template std::size_t KrylovSolver<S>::systems_at_once(std::size_t) const;                    \
  template cuda::LoopPreconditioner<S> KrylovSolver<S>::preconditioner_of_loop();              \
  template FieldView<const S> KrylovSolver<S>::precondition(const FieldView<const S>&,         \
                                                            const FieldView<S>&);              \
  template FieldView<S> KrylovSolver<S>::spare(const Place&) const;                            \
  template Workspace KrylovSolver<S>::workspace_of_loop(const LinearOperator<S>&, std::size_t) \
      const;                                                                                   \
  template bool KrylovSolver<S>::has_narrow_basis() const;                                     \
  template long long KrylovSolver<S>::basis_bytes() const;                                     \
  template detail::BasisRoom KrylovSolver<S>::make_basis();                                    \
  template std::unique_ptr<detail::MethodLoop<S>> KrylovSolver<S>::make_loop(                  \
      const LinearOperator<S>&, std::size_t);                                                  \
  template detail::MethodLoop<S>& KrylovSolver<S>::loop_over(const LinearOperator<S>&,         \
                                                             std::size_t);                     \
  template long long KrylovSolver<S>::bytes_per_iteration(std::size_t) const;                  \
  template bool KrylovSolver<S>::take_floats();                                                \
  template bool KrylovSolver<S>::suits_method();
HEDDLE_LOOPS(float)
HEDDLE_LOOPS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_LOOPS(long double))
#undef HEDDLE_LOOPS

}  // namespace heddle
