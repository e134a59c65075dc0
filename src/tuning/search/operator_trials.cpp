#include "operator_trials.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "heddle/config.hpp"
#include "plan_kernels.hpp"
#include "random_numbers.hpp"
#include "reference_product.hpp"
#include "timed_iterations.hpp"
#include "timed_runs.hpp"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

/// `interval`: for methods that take one, the same for every plan; none for an estimate.
std::unique_ptr<IterationWork> iterations_of(const AnyOperator& A, Objective objective,
                                             const AnyField& b,
                                             const std::optional<SpectralInterval>& interval) {
  SolverOptions options;
  options.interval = interval;
  options.tolerance = 0;
  options.checks = false;
  const MethodInfo& method = *objective.method;
  return iteration_work(
      A, method,
      is_timed_with_jacobi(method) ? PreconditionerKind::automatic : PreconditionerKind::none,
      options, b);
}

EntryBytes entry_bytes(const AnyMatrix& matrix, const Plan& plan) {
  return std::visit([&](const auto& entry) { return entry->bytes(plan); },
                    detail::entry_table_of(matrix));
}

double product_bytes(const MemoryUse& use) { return static_cast<double>(use.product() + use.copy); }

/// One number for each component of each column.
AnyField random_x(const AnyMatrix& matrix) {
  const int components =
      std::visit([](const auto& entry) { return entry->sizes.vector_components; },
                 detail::entry_table_of(matrix));
  return with_random_numbers({matrix.columns(), components, matrix.precision(), Device::cpu()});
}

/// True if iterations read 16 bits.
bool in_words(const Plan& plan) { return is_in_words(plan.layout.stored); }

}  // namespace

void check_objective(const AnyMatrix& matrix, Objective objective) {
  if (objective.is_product()) return;
  if (matrix.rows() != matrix.columns()) {
    throw Error(ErrorKind::usage, "iterations are tuned only for square matrices, this one is " +
                                      std::to_string(matrix.rows()) + " x " +
                                      std::to_string(matrix.columns()) +
                                      "; its product can be tuned");
  }
  const auto [has_an_adjoint, ring] =
      std::visit([](const auto& entry) { return std::pair(entry->has_adjoint, entry->ring); },
                 detail::entry_table_of(matrix));
  if (objective.method->needs_symmetric && ring == Ring::quaternion) {
    throw Error(ErrorKind::unsupported,
                std::string(objective.method->title) +
                    " is for real and complex entries; tune for another solver or the product");
  }
  if (objective.method->needs_hermitian && !has_an_adjoint) {
    throw Error(ErrorKind::unsupported,
                std::string(objective.method->title) +
                    " needs entries with an adjoint, which these lack; tune for bicgstab or "
                    "the product");
  }
}

OperatorTrials::OperatorTrials(const AnyMatrix& matrix, const Device& device, Objective objective)
    : matrix_(matrix),
      device_(device),
      objective_(objective),
      bytes_of_csr_(product_bytes(memory_of(Plan{}))),
      x_(random_x(matrix)) {
  check_objective(matrix, objective);
  if constexpr (has_cuda) {
    if (!device.on_gpu()) return;
    const DeviceProperties target = properties_of(device);
    const auto kernels_of = [this, target](const Plan& plan) {
      const bool in_one_kernel = plan.loop.form == LoopForm::persistent;
      const MemoryUse use = in_one_kernel ? memory_use(matrix_.pattern(), plan,
                                                       entry_bytes(matrix_, plan), Device::cpu(1))
                                          : MemoryUse{};
      return cuda::kernels_of_plan(matrix_, plan, use, objective_, target);
    };
    ahead_ = std::make_unique<AheadCompiler>(
        kernels_of, [device](const auto& source) { cuda::load_kernels(source, device.stream()); });
  }
}

void OperatorTrials::announce(const std::vector<Plan>& plans) {
  if (ahead_) ahead_->announce(plans);
}

void OperatorTrials::announce_later(const std::vector<Plan>& plans) {
  if (ahead_) ahead_->announce_later(plans);
}

const MemoryUse& OperatorTrials::memory_of(const Plan& plan) {
  Plan stored{.layout = plan.layout};
  // The positions of components change no byte count.
  stored.layout.inner = InnerLayout::aos;
  stored.layout.vector = VectorLayout::aos;
  const auto [found, is_new] = uses_.try_emplace(to_string(stored));
  if (is_new) {
    try {
      found->second = memory_use(matrix_.pattern(), stored, entry_bytes(matrix_, stored), device_);
    } catch (...) {
      uses_.erase(found);
      throw;
    }
  }
  return found->second;
}

double OperatorTrials::memory_ratio(const Plan& plan) {
  return product_bytes(memory_of(plan)) / bytes_of_csr_;
}

AnyOperator OperatorTrials::operator_under(const Plan& plan) {
  const auto found = std::find_if(built_.begin(), built_.end(), [&](const AnyOperator& built) {
    return built.plan().layout == plan.layout;
  });
  if (found != built_.end()) {
    std::rotate(built_.begin(), found, found + 1);
    return built_.front().scheduled(plan);
  }
  const MemoryUse& use = memory_of(plan);
  if (use.peak() > device_.available_memory()) built_.clear();
  check_memory(use, device_.available_memory(), matrix_.pattern(), entry_bytes(matrix_, plan),
               device_);
  constexpr std::size_t max_built = 2;
  while (built_.size() >= max_built) built_.pop_back();
  built_.emplace_front(matrix_, plan, device_);
  return built_.front();
}

void OperatorTrials::check_result(const Plan& plan, const AnyField& result,
                                  const std::vector<double>& reference, Objective of) const {
  // Solvers divide sums by one another, which costs a few digits.
  const bool is_product = of.is_product();
  const double max_in_double = is_product ? 1e-12 : 1e-9, max_in_single = is_product ? 1e-5 : 1e-3;
  // Runs on 16 bits restart early: this only checks that their iterates are not zeros.
  const double max_in_words = is_product ? 2e-2 : 0.9;
  const bool in_floats = matrix_.precision() == Precision::single_precision ||
                         plan.layout.stored == StoredScalar::single;
  const double difference = relative_difference(result, reference);
  const double most = in_words(plan) ? max_in_words : in_floats ? max_in_single : max_in_double;
  if (difference <= most) return;
  char text[100];
  std::snprintf(text, sizeof text, "its %s is off by %.1e of the reference's norm",
                is_product ? "product" : "iterate", difference);
  throw WrongResult(text);
}

const OperatorTrials::Iterate& OperatorTrials::reference_iterate(Recurrence recurrence) {
  const auto found = iterates_.find(recurrence);
  if (found != iterates_.end()) return found->second;
  const AnyOperator A(matrix_, Plan{.loop = {.recurrence = recurrence}},
                      Device::cpu(device_.threads()));
  const auto solver = iterations_of(A, objective_, x_, interval_);
  Iterate reference;
  // A solve that ends at its limit returns its best iterate: the last one, where that is better
  // than all before it.
  constexpr long long few = 2, many = 10;
  constexpr double clearly = 0.9;
  const Report first = solver->run(few - 1);
  interval_ = first.interval;
  double before = first.residual;
  for (long long iterations = few; iterations <= many; ++iterations) {
    const Report report = solver->run(iterations);
    if (report.iterations == iterations && report.residual <= clearly * before) {
      AnyField x = A.column_field();
      solver->take(x);
      reference = {iterations, numbers_of(x)};
      break;
    }
    before = report.residual;
  }
  return iterates_.emplace(recurrence, std::move(reference)).first->second;
}

const std::vector<double>& OperatorTrials::reference_product_of_x() {
  if (reference_.empty()) reference_ = reference_product(matrix_, x_);
  return reference_;
}

std::unique_ptr<PreparedPlan> OperatorTrials::prepare(const Plan& plan) {
  const AnyOperator A = operator_under(plan);
  return objective_.is_product() ? prepare_product(A) : prepare_iterations(A);
}

std::unique_ptr<ProductWork> OperatorTrials::check_product(const AnyOperator& A) {
  auto product = product_work(A, x_);
  product->run(device_.stream());
  AnyField y = A.row_field();
  product->take(y);
  check_result(A.plan(), y, reference_product_of_x(), Objective::product());
  return product;
}

std::unique_ptr<PreparedPlan> OperatorTrials::prepare_product(const AnyOperator& A) {
  const std::shared_ptr<ProductWork> product = check_product(A);
  return timed_runs([product](const Stream& stream) { product->run(stream); }, A.bytes_of_product(),
                    device_);
}

/// Checks an iterate, computed by the very kernels that will be timed: on a GPU a product by itself
/// would be one more kernel to compile. The product is checked where no iterate shows enough.
std::unique_ptr<PreparedPlan> OperatorTrials::prepare_iterations(const AnyOperator& A) {
  const Iterate& reference = reference_iterate(A.plan().loop.recurrence);
  if (reference.iterations == 0 || in_words(A.plan())) check_product(A);
  auto solver = iterations_of(A, objective_, x_, interval_);
  const Report first = solver->run(std::max(1LL, reference.iterations));
  if (first.iterations == 0) {
    throw Error(ErrorKind::unsupported,
                std::string(name(objective_)) + " performs no iteration on this matrix (" +
                    std::string(name(first.status)) +
                    (first.detail.empty() ? "" : ": " + std::string(first.detail)) +
                    "); tune it for another objective");
  }
  if (reference.iterations != 0) {
    AnyField x = A.column_field();
    solver->take(x);
    check_result(A.plan(), x, reference.x, objective_);
  }
  if (iterations_ == 0) iterations_ = iterations_worth_timing(*solver, device_);
  return timed_iterations(std::move(solver), iterations_, A.bytes_of_product(), device_);
}

double OperatorTrials::now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace heddle
