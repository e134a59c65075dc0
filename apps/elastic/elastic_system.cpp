#include "elastic_system.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "heddle/tools/team.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::elastic {

using namespace points;

namespace {

/// Same layout, in which fields must agree, but products use the mass's own numbers.
Plan plan_for_mass(Plan plan) {
  plan.layout.stored = StoredScalar::own;
  return plan;
}

Nodal<const double> nodal(const VertexField& field) {
  const ConstVertexView view = field.view();
  return {view.data, view.entry_stride, view.component_stride};
}

Vector3 vector(const Point& p) { return {{p[0], p[1], p[2]}}; }

}  // namespace

std::vector<Point> points_of(const VertexField& field) {
  std::vector<Point> values(static_cast<std::size_t>(field.size()));
  permute<double>(field.view(), VertexView(values.front().data(), field.size(), 3), 1,
                  field.stream());
  return values;
}

ElasticSystem::ElasticSystem(const Model& model, const ElementPattern& pattern, const Plan& plan,
                             const Device& device, const SystemOptions& options)
    : device_(device),
      options_(options),
      elements_(model.elements()),
      assembly_(pattern, plan, device),
      matrix_(assembly_.matrix()),
      of_vertices_(model.vertices(), device),
      of_elements_(static_cast<Index>(model.elements()), device) {
  if (options.with_mass) {
    const std::vector<double> mass = consistent_mass(model, pattern);
    const CsrView<MassEntry> view{pattern.nodes(),
                                  pattern.nodes(),
                                  pattern.view().offsets,
                                  pattern.column.data(),
                                  mass.data(),
                                  row_major,
                                  device};
    mass_ = std::make_unique<Operator<MassEntry>>(view, plan_for_mass(plan), matrix_.row_basis());
  }
  place_vertices(model);
  place_elements(model);
  set_matrix(options.with_mass ? 1 : 0, 1);
  make_solver(model);
  guesses.most = static_cast<long long>(options.earlier_solutions);
  deflation.most = options.deflation;
  if (options.earlier_solutions > 0) {
    earlier_ = std::make_unique<EarlierSolutions<double>>(matrix_, options.earlier_solutions);
  }
}

void ElasticSystem::make_solver(const Model& model) {
  if (!options_.multigrid) {
    solver_ = std::make_unique<ConjugateGradient<double>>(matrix_, Jacobi<Block>(matrix_),
                                                          solver_options());
    return;
  }
  const auto motions = rigid_body_modes<double>(model.position);
  std::vector<ConstVertexView> candidates;
  candidates.reserve(motions.size());
  for (const auto& motion : motions) candidates.emplace_back(motion.data(), vertices(), 3);
  multigrid_ = std::make_shared<Multigrid<double>>(
      matrix_, MultigridOptions{.level_precision = options_.level_precision}, candidates);
  solver_ = std::make_unique<ConjugateGradient<double>>(
      matrix_, std::shared_ptr<Preconditioner<double>>(multigrid_), solver_options());
}

SolverOptions ElasticSystem::solver_options() const {
  return {.tolerance = options_.tolerance,
          .max_iterations = options_.max_iterations,
          .observer = options_.observer};
}

void ElasticSystem::place_vertices(const Model& model) {
  std::vector<unsigned char> fixed;
  fixed.reserve(static_cast<std::size_t>(model.vertices()));
  for (Index position = 0; position < model.vertices(); ++position) {
    fixed.push_back(model.fixed[static_cast<std::size_t>(matrix_.row_basis()->user_row(position))]);
  }
  fixed_ = Array<unsigned char>(fixed, device_);
  load_ = field_of(model.load);
  given_displacement_ = field_of(model.displacement);
  std::vector<Point> velocity = model.velocity;
  for (std::size_t v = 0; v < velocity.size(); ++v) {
    for (int k = 0; k < 3; ++k) {
      if (is_fixed(model.fixed[v], k)) velocity[v][static_cast<std::size_t>(k)] = 0;
    }
  }
  given_velocity_ = field_of(velocity);
}

void ElasticSystem::place_elements(const Model& model) {
  const auto count = static_cast<std::size_t>(elements_);
  std::vector<Index> corner(4 * count);
  std::vector<double> gradient(12 * count), material(2 * count), volume(count);
  parallel_for(default_threads(), count, [&](std::size_t e) {
    const auto p = model.corners(static_cast<Offset>(e));
    const Vector3 b = vector(p[1] - p[0]), c = vector(p[2] - p[0]), d = vector(p[3] - p[0]);
    const double v6 = dot(b, cross(c, d));
    Vector3 g[4];
    g[1] = (1 / v6) * cross(c, d);
    g[2] = (1 / v6) * cross(d, b);
    g[3] = (1 / v6) * cross(b, c);
    g[0] = Vector3{} - (g[1] + g[2] + g[3]);
    const Lame lame = model.material_in(static_cast<Offset>(e)).lame();
    volume[e] = v6 / 6;
    material[2 * e] = volume[e] * lame.lambda;
    material[2 * e + 1] = volume[e] * lame.mu;
    for (std::size_t a = 0; a < 4; ++a) {
      corner[4 * e + a] = position_of(model.tetrahedron[e][a]);
      std::copy_n(g[a].at, 3, &gradient[12 * e + 3 * a]);
    }
  });
  corner_ = Array<Index>(corner, device_);
  gradient_ = Array<double>(gradient, device_);
  material_ = Array<double>(material, device_);
  volume_ = Array<double>(volume, device_);
  force_ = Array<double>(12 * count, device_);
  energy_ = Array<double>(count, device_);
  ones_ = Array<double>(std::vector<double>(count, 1.0), device_);
  stress_ = Array<double>(6 * count, device_);
  equivalent_ = Array<double>(count, device_);
  if (!options_.corotational) return;
  rotated_ = Array<double>(gradient, device_);
  std::vector<double> unturned(4 * count);
  for (std::size_t e = 0; e < count; ++e) unturned[4 * e] = 1;
  rotation_ = Array<double>(unturned, device_);
}

VertexField ElasticSystem::field_of(const std::vector<Point>& values) const {
  VertexField made = field();
  const ConstVertexView given(values.front().data(), vertices(), 3);
  permute<double>(given, made.view(), 1, device_.stream());
  return made;
}

ElementsAtRest ElasticSystem::at_rest() const {
  return {corner_.data(), gradient_.data(), material_.data()};
}

void ElasticSystem::deform(const VertexField& displacement) {
  timed(times.elements, device_, [&] {
    run(ElementPass{elements_, at_rest(), nodal(displacement), force_.data(), energy_.data(),
                    rotation_.data(), rotated_.data()},
        device_.stream());
  });
}

void ElasticSystem::set_matrix(double mass_scale, double stiffness_scale) {
  const std::array<double, 2> scales{mass_scale, stiffness_scale};
  if (!options_.corotational && scales_ == scales) return;
  timed(times.values, device_, [&] {
    const bool is_rotated = !rotated_.empty();
    // The mass matrix holds the number for a slot at the slot's own place.
    const double* const mass = mass_ ? mass_->values_in_basis().data() : nullptr;
    assemble(assembly_,
             StiffnessKernel{is_rotated ? rotated_.data() : gradient_.data(), material_.data(),
                             mass, fixed_.data(), mass_scale, stiffness_scale});
  });
  scales_ = scales;
}

void ElasticSystem::residual(const VertexField* base, double scale, VertexField& result) {
  timed(times.elements, device_, [&] {
    assemble(assembly_,
             ResidualKernel{force_.data(), fixed_.data(), nodal(std::as_const(load_)),
                            base != nullptr ? nodal(*base) : Nodal<const double>{}, scale},
             result.view());
  });
}

Report ElasticSystem::solve(const VertexField& b, VertexField& x) {
  const cli::Stopwatch watch;
  if (earlier_) guesses.add(earlier_->guess(b.view(), x.view()));
  if (deflated_) timed(deflation.renewal_seconds, device_, [&] { deflated_->refresh(); });
  Report report = solver_->solve(b, x);
  deflation.add(report, deflated_ != nullptr);
  if (earlier_ && report.solved()) earlier_->keep(x.view());
  times.iterate += report.iterate_seconds;
  times.fields += std::max(0.0, watch.seconds() - report.iterate_seconds);
  return report;
}

void ElasticSystem::deflate() {
  if (deflation.most == 0) return;
  timed(times.iterate, device_, [&] {
    deflated_ = deflation_of(matrix_, deflation);
    if (!deflated_) return;
    solver_ = std::make_unique<ConjugateGradient<double>>(
        matrix_, std::shared_ptr<Preconditioner<double>>(deflated_), solver_options());
  });
}

void ElasticSystem::forget_solutions() {
  if (earlier_) earlier_->clear();
}

void ElasticSystem::project_out(const std::vector<std::vector<double>>& motions) {
  std::vector<ConstVertexView> views;
  views.reserve(motions.size());
  for (const auto& motion : motions) views.emplace_back(motion.data(), vertices(), 3);
  solver_->set_null_space(views);
}

void ElasticSystem::apply_mass(const VertexField& x, VertexField& y) {
  timed(times.fields, device_, [&] { mass_->apply(1, x.view(), 0, y.view(), device_.stream()); });
}

void ElasticSystem::add(double scale, const VertexField& x, VertexField& to) {
  timed(times.fields, device_,
        [&] { axpby<double>(scale, x.view(), 1, to.view(), device_.stream()); });
}

double ElasticSystem::elastic_energy() {
  double energy = 0;
  timed(times.elements, device_, [&] {
    const auto count = static_cast<Index>(elements_);
    energy = real_dot<double>({energy_.data(), count}, {ones_.data(), count}, of_elements_,
                              device_.stream());
  });
  return energy;
}

double ElasticSystem::work(const VertexField& displacement) {
  return 2 * half_product(load_, displacement);
}

double ElasticSystem::half_product(const VertexField& x, const VertexField& y) {
  double product = 0;
  timed(times.fields, device_,
        [&] { product = real_dot<double>(x.view(), y.view(), of_vertices_, device_.stream()); });
  return product / 2;
}

void ElasticSystem::find_stress(const VertexField& displacement) {
  timed(times.elements, device_, [&] {
    run(StressPass{elements_, at_rest(), volume_.data(), nodal(displacement), rotation_.data(),
                   stress_.data(), equivalent_.data()},
        device_.stream());
  });
}

}  // namespace heddle::elastic
