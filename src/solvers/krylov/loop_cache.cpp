#include "loop_cache.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "base/long_double.hpp"
#include "solvers/gpu_loops/device_loop_cuda.hpp"
#include "solvers/gpu_loops/loop_workspace_cuda.hpp"
#include "solvers/gpu_loops/persistent_cuda.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

namespace loop_cache {
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
  ProjectingFirst(const Preconditioner<S>& inner, const NullSpace<S>& null_space)
      : inner_(inner), null_space_(null_space) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    null_space_.project(of_loop<S>(r, z));
    inner_.apply(r, z, stream);
  }

 private:
  const Preconditioner<S>& inner_;
  const NullSpace<S>& null_space_;
};

/// Components of a coefficient in the kernel that is a whole loop; 0 for those of the entry.
template <class S>
int components_in_one_kernel(const MethodOver<S>& method) {
  return method.info.needs_positive ? 0 : ring_size(method.program.ring);
}

/// Passes over fields that a listing's steps make, to load and to store. `most`: vectors of a full
/// basis, which on average is half full. `halves`: size of each of its vectors in half fields.
int passes_of(const MethodProgram& program, bool on_gpu, int most, int halves) {
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
}  // namespace loop_cache

template <class S>
LoopForm LoopCache<S>::form(const LinearOperator<S>& matrix) const {
  // If ranks share a basis, hosts join its sums.
  if (inputs_.method.program.bases() > 0 && cuda::are_captured(matrix)) return LoopForm::stepped;
  const LoopForm form = form_of_loop(matrix, inputs_.preconditioner.get(), !null_space_.empty());
  const bool has_one_kernel = inputs_.method.info.has_one_kernel;
  return form == LoopForm::persistent && !has_one_kernel ? LoopForm::graph : form;
}

// docs/inside/tried.md, "Several right-hand sides": the kernel that keeps one system's vectors on
// the chip is as fast as a graph of eight systems, and a product of two systems is slower than two.
template <class S>
std::size_t LoopCache<S>::systems_at_once(std::size_t systems) const {
  const bool has_one_kernel = form(inputs_.matrix.iterated()) == LoopForm::persistent ||
                              form(inputs_.matrix) == LoopForm::persistent;
  // Ranks agree on the end of one system at a time.
  const bool has_ranks = inputs_.stream.share != nullptr;
  if (inputs_.method.program.bases() > 0 || has_one_kernel || has_ranks ||
      (inputs_.device.on_gpu() && systems == 2)) {
    return std::min<std::size_t>(systems, 1);
  }
  return std::min(systems, std::size_t{SolverFields<S>::max_places});
}

template <class S>
Workspace LoopCache<S>::workspace(const LinearOperator<S>& matrix,
                                  [[maybe_unused]] std::size_t systems) const {
  if constexpr (may_be_on_gpu<S>) {
    if (!inputs_.device.on_gpu()) return {};
    const auto* const preconditioner = inputs_.preconditioner.get();
    if (form(matrix) == LoopForm::persistent) {
      return cuda::workspace_of_persistent(cuda::persistent_method(inputs_.method.info),
                                           loop_cache::components_in_one_kernel(inputs_.method),
                                           *matrix.product_on_gpu(), preconditioner != nullptr,
                                           inputs_.device);
    }
    const bool joins = preconditioner != nullptr && preconditioner->rows_on_gpu() != nullptr;
    return cuda::workspace_of_device_loop<S>(inputs_.method.program, matrix, joins,
                                             fields_.max_basis(), systems);
  }
  return {};
}

template <class S>
MethodLoop<S>& LoopCache<S>::over(const LinearOperator<S>& matrix, std::size_t systems) {
  Loops& loops = systems == 1 ? of_one_ : of_all_;
  auto& loop = &matrix == &inputs_.matrix ? loops.on_matrix
               : &matrix == floats_.get() ? loops.on_floats
                                          : loops.on_copy;
  if (!loop) loop = make(matrix, systems == 1 ? 1 : fields_.places());
  return *loop;
}

template <class S>
const LinearOperator<S>* LoopCache<S>::over_floats(std::size_t systems) {
  try {
    auto floats = inputs_.matrix.iterated_in_floats();
    if (floats == nullptr) return nullptr;
    if (floats != floats_) {
      floats_ = std::move(floats);
      of_one_.on_floats.reset();
      of_all_.on_floats.reset();
    }
    over(*floats_, systems);
    return floats_.get();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return nullptr;
  }
}

template <class S>
std::unique_ptr<MethodLoop<S>> LoopCache<S>::make(const LinearOperator<S>& matrix,
                                                  std::size_t systems) {
  std::vector<LoopVectors<S>> vectors;
  vectors.reserve(systems);
  for (std::size_t k = 0; k < systems; ++k) vectors.push_back(fields_[k].vectors);
  if constexpr (may_be_on_gpu<S>) {
    if (inputs_.device.on_gpu()) {
      cuda::DeviceLoopParts<S> parts;
      parts.preconditioner = preconditioner();
      parts.form = form(matrix);
      if (parts.form == LoopForm::persistent) {
        const auto* const rows = parts.preconditioner.rows;
        return cuda::make_persistent_loop<S>(
            cuda::persistent_method(inputs_.method.info),
            loop_cache::components_in_one_kernel(inputs_.method), *matrix.product_on_gpu(),
            inputs_.preconditioner ? rows->inverses() : nullptr, inputs_.device);
      }
      parts.program = inputs_.method.program;
      parts.matrix = &matrix;
      parts.systems = std::move(vectors);
      parts.device = inputs_.device;
      return cuda::make_device_loop<S>(std::move(parts));
    }
  }
  LoopParts<S> parts;
  parts.matrix = &matrix;
  parts.preconditioner = inputs_.preconditioner.get();
  if (!null_space_.empty()) {
    parts.project = [this](const FieldView<S>& field) { null_space_.project(field); };
    if (inputs_.preconditioner && loop_cache::projects_first(inputs_.method.info)) {
      const auto both =
          std::make_shared<loop_cache::ProjectingFirst<S>>(*inputs_.preconditioner, null_space_);
      parts.preconditioner = both.get();
      parts.project = [this, both](const FieldView<S>& field) { null_space_.project(field); };
    }
  }
  parts.systems = std::move(vectors);
  parts.reduction = &inputs_.reduction;
  return make_host_loop(inputs_.method.program, *inputs_.method.host, std::move(parts));
}

template <class S>
cuda::LoopPreconditioner<S> LoopCache<S>::preconditioner() const {
  const Preconditioner<S>* const inner = inputs_.preconditioner.get();
  if (inner == nullptr) return {};
  if (is_fused(*inner, !null_space_.empty())) return {inner->rows_on_gpu(), {}};
  const bool projects_first = loop_cache::projects_first(inputs_.method.info);
  return {nullptr, [inner, projects_first, &null_space = null_space_](
                       const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) {
            if (projects_first) null_space.queue(loop_cache::of_loop<S>(r, z), stream);
            inner->apply(r, z, stream);
            null_space.queue(z, stream);
          }};
}

template <class S>
long long LoopCache<S>::bytes_per_iteration(std::size_t systems) const {
  const long long alone = iterated_->bytes_of_product();
  if (alone == 0) return 0;
  const MethodProgram& program = inputs_.method.program;
  const methods::Facts& facts = program.iteration;
  const auto products = std::count_if(facts.step, facts.step + facts.steps, [](const auto& step) {
    return step.kind == methods::StepKind::product;
  });
  const int passes = loop_cache::passes_of(program, inputs_.device.on_gpu(), fields_.max_basis(),
                                           fields_.has_narrow_basis() ? 1 : 2);
  const long long field_bytes = bytes_of_field(inputs_.matrix);
  const long long of_matrix = std::max(0LL, alone - 2 * field_bytes);
  const long long product = alone - of_matrix + of_matrix / static_cast<long long>(systems);
  const long long of_application =
      inputs_.preconditioner ? inputs_.preconditioner->bytes_of_application() : 0;
  return products * (product + of_application) + passes * field_bytes;
}

template <class S>
bool LoopCache<S>::has_foreign_work() const {
  return inputs_.matrix.product_on_gpu() == nullptr ||
         (inputs_.preconditioner && !is_fused(*inputs_.preconditioner, !null_space_.empty()));
}

template <class S>
long long LoopCache<S>::unwatched_iterations(long long bytes_of_iteration) const {
  // Access to clock and host is slow, except compared with iterations that take a fraction of a
  // millisecond or, on slow GPUs, more.
  constexpr long long worth_watching = 1LL << 30;
  // Ranks make their requests between two bodies.
  constexpr long long unwatched_on_ranks = 7;
  const bool is_stepped = form(*iterated_) == LoopForm::stepped;
  if (!is_stepped && cuda::are_captured(*iterated_)) return unwatched_on_ranks;
  const bool is_watched = has_foreign_work() || bytes_of_iteration >= worth_watching || is_stepped;
  return is_watched ? 0 : device::usually_unwatched;
}

template <class S>
void LoopCache<S>::apply_foreign_work_once() {
  const LinearOperator<S>& matrix = inputs_.matrix;
  const Stream& stream = inputs_.stream;
  if (is_applied_ || !has_foreign_work() || form(matrix) == LoopForm::stepped) return;
  const FieldView<S>&from = fields_.first().residual, to = fields_.first().kept;
  fill<S>(S(0), from, stream);
  fill<S>(S(0), to, stream);
  if (inputs_.preconditioner) inputs_.preconditioner->apply(from, to, stream);
  if (matrix.product_on_gpu() == nullptr) {
    matrix.apply(S(1), from, S(0), to, stream);
    matrix.apply(S(-1), from, S(1), to, stream);
  }
  is_applied_ = true;
}

template class LoopCache<float>;
template class LoopCache<double>;
HEDDLE_IN_LONG_DOUBLE(template class LoopCache<long double>;)

}  // namespace heddle::detail
