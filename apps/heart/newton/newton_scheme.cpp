#include "newton_scheme.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "element_geometry.hpp"
#include "heddle/error.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tuning/measure.hpp"
#include "heddle/vector_operations.hpp"
#include "sum_levels.hpp"

namespace heddle::heart {

namespace newton_scheme {
namespace {

void check_sizes(const NewtonTissue& tissue) {
  const std::size_t count = tissue.tetrahedron.size();
  if (count == 0) throw Error(ErrorKind::usage, "tissue without tetrahedra");
  for (const auto& [size, name] : {std::pair{tissue.fibre.size(), " fibres"},
                                   std::pair{tissue.region.size(), " region numbers"}}) {
    if (size == count) continue;
    throw Error(ErrorKind::size_mismatch, "tissue of " + std::to_string(count) +
                                              " tetrahedra was given " + std::to_string(size) +
                                              name);
  }
}

void check(const NewtonTissue& tissue, const NewtonOptions& options) {
  const auto is_positive = [](double value) { return value > 0 && std::isfinite(value); };
  bool all = is_positive(options.step);
  for (const NewtonRegion& region : tissue.regions) {
    all = all && is_positive(region.across) && is_positive(region.along);
  }
  if (!all) {
    throw Error(ErrorKind::usage, "the time step and the diffusivities of tissue must be above 0");
  }
  if (!is_positive(options.tolerance) || !is_positive(options.least) ||
      !is_positive(options.solver_tolerance) || options.max_iterations < 0) {
    throw Error(ErrorKind::usage,
                "tolerances of Newton's method must be above 0, and its iterations at least 0");
  }
  if (options.max_iterations >= NewtonProgress::max_residuals) {
    throw Error(ErrorKind::usage, "Newton's method takes up to " +
                                      std::to_string(NewtonProgress::max_residuals - 1) +
                                      " iterations");
  }
  check_sizes(tissue);
  for (std::size_t e = 0; e < tissue.fibre.size(); ++e) {
    constexpr double rounding = 1e-12;
    const auto element = [&] { return "tetrahedron " + std::to_string(e); };
    if (!(std::abs(points::length(tissue.fibre[e]) - 1) <= rounding)) {
      throw Error(ErrorKind::usage, "the fibre of " + element() + " does not have length 1");
    }
    if (tissue.region[e] >= tissue.regions.size()) {
      throw Error(ErrorKind::out_of_range,
                  element() + " is in region " + std::to_string(tissue.region[e]) + " of " +
                      std::to_string(tissue.regions.size()) + ", counted from 0");
    }
  }
}

/// Elements of a tissue, after all checks have passed.
ElementsView elements_of(const NewtonTissue& tissue, const NewtonOptions& options) {
  check(tissue, options);
  return {static_cast<Index>(tissue.position.size()),
          static_cast<Offset>(tissue.tetrahedron.size()), tissue.tetrahedron.front().data(), 4};
}

/// In mV, at the nodes.
std::vector<double> resting_potential(const NewtonTissue& tissue) {
  std::vector<std::uint16_t> last(tissue.position.size());
  for (std::size_t e = 0; e < tissue.tetrahedron.size(); ++e) {
    for (const Index node : tissue.tetrahedron[e]) {
      std::uint16_t& of_node = last[static_cast<std::size_t>(node)];
      of_node = std::max(of_node, tissue.region[e]);
    }
  }
  std::vector<double> rest;
  rest.reserve(last.size());
  for (const std::uint16_t region : last) rest.push_back(tissue.regions[region].cell.V_rest);
  return rest;
}

}  // namespace
}  // namespace newton_scheme

NewtonScheme::NewtonScheme(const NewtonTissue& tissue, const Plan& plan, const Device& device,
                           const NewtonOptions& options)
    : device_(options.assembly_on_cpu ? Device::cpu() : device),
      options_(options),
      assembly_(newton_scheme::elements_of(tissue, options),
                options.assembly_on_cpu ? plan : plan_of_step(plan, device), device_),
      solve_(1, device_),
      progress_(1, device_) {
  const Operator<Number>& K = assembly_.matrix();
  const std::size_t count = tissue.tetrahedron.size();
  std::vector<Index> corner;
  std::vector<double> gradient, volume, fibre, of_node(tissue.position.size());
  for (std::size_t e = 0; e < count; ++e) {
    std::array<Point, 4> at{};
    for (std::size_t a = 0; a < 4; ++a) {
      const Index node = tissue.tetrahedron[e][a];
      at[a] = tissue.position[static_cast<std::size_t>(node)];
      corner.push_back(K.row_basis()->position(node));
    }
    const ElementGeometry element(at);
    if (!(element.volume > 0)) {
      throw Error(ErrorKind::singular, "tetrahedron " + std::to_string(e) + " has no volume");
    }
    for (const Point& g : element.gradient) gradient.insert(gradient.end(), g.begin(), g.end());
    volume.push_back(element.volume);
    const NewtonRegion& region = tissue.regions[tissue.region[e]];
    for (std::size_t a = 0; a < 4; ++a) {
      const Point& g = element.gradient[a];
      of_node[static_cast<std::size_t>(tissue.tetrahedron[e][a])] +=
          element.volume *
          (1 / (4 * options.step) + std::max(region.across, region.along) * points::dot(g, g));
    }
    fibre.insert(fibre.end(), tissue.fibre[e].begin(), tissue.fibre[e].end());
  }
  for (const double of : of_node) size_ += of * of;
  constexpr double action_potential = 100;  // mV
  size_ = action_potential * std::sqrt(size_);
  region_of_ = Array<std::uint16_t>(tissue.region, device_);
  regions_ = Array<NewtonRegion>(tissue.regions, device_);
  corner_ = Array<Index>(corner, device_);
  gradient_ = Array<double>(gradient, device_);
  volume_ = Array<double>(volume, device_);
  fibre_ = Array<double>(fibre, device_);
  recovery_before_ = Array<double>(count, device_);
  recovery_ = Array<double>(count, device_);
  source_ = Array<double>(count, device_);
  tangent_ = Array<double>(count, device_);
  slope_ = Array<double>(3 * count, device_);
  potential_ = before_ = stimulus_ = residual_ = change_ = K.field();
  sums_ = sum_levels(1, residual_.size(), device_);
  set_potential(newton_scheme::resting_potential(tissue));
  linearize();
  assemble(assembly_, kernel());
  make_solver(tissue, device);
}

/// The matrix has values by now, of which the preconditioner is made.
void NewtonScheme::make_solver(const NewtonTissue& tissue, const Device& device) {
  SolverOptions options;
  options.tolerance = options_.solver_tolerance;
  options.max_iterations = options_.solver_iterations;
  if (options_.assembly_on_cpu) {
    const ElementPattern pattern = element_pattern(newton_scheme::elements_of(tissue, options_));
    const PatternView view = pattern.view();
    const std::vector<double> values(static_cast<std::size_t>(pattern.entries()));
    const Operator<Number>& K = assembly_.matrix();
    solved_.emplace(CsrView<Number>{view.rows, view.columns, view.offsets, view.column,
                                    values.data(), row_major, device},
                    K.plan(), K.row_basis());
    copy_matrix();
  }
  const Jacobi<Number> jacobi(solved());
  if (device.on_gpu()) {
    solver_ = std::make_unique<ConjugateGradient<double>>(solved(), jacobi, options);
  } else {
    timed_ = std::make_unique<TimedOperator>(solved(), products_);
    solver_ = std::make_unique<ConjugateGradient<double>>(*timed_, jacobi, options);
  }
}

/// Takes the entries to the device in the order of their slots, which is the same there.
void NewtonScheme::copy_matrix() {
  const auto from = std::as_const(assembly_.matrix()).values_in_basis();
  const auto to = solved_->values_in_basis();
  if (from.size() != to.size()) throw Error(ErrorKind::internal, "two matrices of one plan differ");
  detail::copy_bytes(to.data(), from.data(), from.size_bytes(), solved_->device().stream());
  solved_->values_changed();
}

NewtonElements NewtonScheme::elements() const {
  return {corner_.data(), gradient_.data(),  volume_.data(),
          fibre_.data(),  region_of_.data(), regions_.data()};
}
TangentKernel NewtonScheme::kernel() const {
  return {elements(), source_.data(), tangent_.data(), slope_.data()};
}

/// Computes R and the parts of K.
void NewtonScheme::linearize(bool is_after_solve) {
  run(CondensedCellPass{static_cast<Offset>(volume_.size()), elements(), options_.step,
                        potential_.scalars().data(), before_.scalars().data(),
                        stimulus_.scalars().data(), recovery_before_.data(), recovery_.data(),
                        source_.data(), tangent_.data(), slope_.data(), &progress_.data()->parts,
                        is_after_solve},
      device_.stream());
  assemble(assembly_, kernel(), residual_.view());
}

std::vector<double> NewtonScheme::potential() const {
  std::vector<double> values(static_cast<std::size_t>(potential_.size()));
  permute<double>(potential_.view(), FieldView<double>(values), 1, device_.stream());
  return values;
}

void NewtonScheme::put(std::span<const double> of_nodes, Field<Number>& into) const {
  permute<double>(FieldView<const double>(of_nodes), into.view(), 1, device_.stream());
}

void NewtonScheme::set_potential(std::span<const double> millivolts) {
  put(millivolts, before_);
  put(millivolts, potential_);
}

void NewtonScheme::set_stimulus(std::span<const double> of_nodes) { put(of_nodes, stimulus_); }

void NewtonScheme::set_recovery(std::span<const double> of_elements) {
  if (of_elements.size() != recovery_before_.size()) {
    throw Error(ErrorKind::size_mismatch, "the state has " + std::to_string(of_elements.size()) +
                                              " cells, not " +
                                              std::to_string(recovery_before_.size()));
  }
  detail::copy_bytes(recovery_before_.data(), of_elements.data(), of_elements.size_bytes(),
                     device_.stream());
}

bool NewtonScheme::has_graph() const {
  return has_cuda && device_.on_gpu() &&
         assembly_.matrix().plan().layout.stored == StoredScalar::own;
}

void NewtonScheme::decide(bool is_first) {
  const double* const residual = residual_.scalars().data();
  const double* const squares =
      queue_sums(residual, residual, residual_.size(), 1, sums_, device_.stream());
  run(DecidePass{.is_first = is_first,
                 .squares = squares,
                 .solve = solve_.data(),
                 .clock = end_.clock,
                 .of_end = end_.of_end,
                 .tolerance = options_.tolerance,
                 .least = options_.least * size_,
                 .max_iterations = options_.max_iterations,
                 .progress = progress_.data()},
      device_.stream());
}

void NewtonScheme::begin() {
  linearize();
  decide(true);
}

/// On a GPU this only queues the solve, which may become part of a graph.
void NewtonScheme::solve() {
  run(GuessPass{change_.size(), change_.scalars().data(), &progress_.data()->parts},
      device_.stream());
  if (device_.on_gpu()) {
    solver_->enqueue(std::as_const(residual_).view(), change_.view(), solve_.data());
    return;
  }
  if (solved_) copy_matrix();
  const Report report = solver_->solve(residual_, change_);
  solve_[0].status = report.status;
  solve_[0].iterations = report.iterations;
}

void NewtonScheme::iterate() {
  assemble(assembly_, kernel());
  solve();
  axpby<Number>(-1, change_, 1, potential_);
  linearize(true);
  decide(false);
}

void NewtonScheme::settle() {
  const Offset nodes = potential_.size(), elements = static_cast<Offset>(volume_.size());
  run(SettlePass{std::max(nodes, elements), nodes, elements, progress_.data(),
                 before_.scalars().data(), potential_.scalars().data(), recovery_.data(),
                 recovery_before_.data()},
      device_.stream());
  if (end_.queue) {
    end_.queue();
  } else {
    copy<double>(std::as_const(potential_).view(), before_.view(), device_.stream());
  }
}

void NewtonScheme::set_end(NewtonStepEnd end) {
  end_ = std::move(end);
  graphs_.clear();
}

void NewtonScheme::queue_step(bool with_end) {
  const QueueWork end = with_end ? QueueWork([this] { settle(); }) : QueueWork();
  if constexpr (has_cuda) {
    if (has_graph()) {
      std::unique_ptr<cuda::StepGraph>& graph = graphs_[{options_.step, with_end}];
      if (!graph) {
        solver_->prepare_enqueue(std::as_const(residual_).view(), change_.view(), solve_.data());
        const RepeatedWork work{.before = [this] { begin(); },
                                .goes_on = &progress_.data()->goes_on,
                                .again = [this] { iterate(); },
                                .after = end};
        graph = std::make_unique<cuda::StepGraph>(device_.stream(), work);
      }
      return graph->launch();
    }
  }
  begin();
  const auto goes_on = [&] {
    int flag = 0;
    detail::copy_bytes(&flag, &progress_.data()->goes_on, sizeof flag, device_.stream());
    return flag != 0;
  };
  while (goes_on()) iterate();
  if (end) end();
}

void NewtonScheme::take_step() { queue_step(true); }

bool NewtonScheme::try_step(double step) {
  options_.step = step;
  queue_step(false);
  return progress_so_far().converged != 0;
}

void NewtonScheme::undo_step() {
  copy<double>(std::as_const(before_).view(), potential_.view(), device_.stream());
}

double NewtonScheme::product_seconds() const {
  if (timed_) return products_.seconds;
  const NewtonProgress so_far = progress_so_far();
  if (so_far.iterations == 0) return 0;
  constexpr int repetitions = 5;
  const Field<Number> x = solved().field();
  Field<Number> y = x;
  const std::vector<std::function<void(const Stream&)>> product = {
      [&](const Stream& stream) { solved().iterated().apply(1, x.view(), 0, y.view(), stream); }};
  const double seconds = measure(product, repetitions, solved().device())[0].median;
  // In each system also b - A x of the guess, and of the solution.
  return seconds * static_cast<double>(so_far.solver_iterations + 2 * so_far.iterations);
}

NewtonStep NewtonScheme::advance(std::span<const double> guess) {
  if (!guess.empty()) put(guess, potential_);
  take_step();
  const NewtonProgress progress = progress_.to_host()[0];
  return {progress.converged != 0,
          {progress.residual, progress.residual + progress.residuals},
          progress.step.iterations};
}

}  // namespace heddle::heart
