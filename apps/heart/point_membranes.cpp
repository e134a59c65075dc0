#include "point_membranes.hpp"

#include <utility>

#include "element_geometry.hpp"
#include "heddle/jacobi.hpp"

namespace heddle::heart {

std::vector<std::uint16_t> region_of_points(const Model& model) {
  std::vector<std::uint16_t> of_points;
  of_points.reserve(points_of_element * model.region.size());
  for (const std::uint16_t region : model.region) {
    of_points.insert(of_points.end(), points_of_element, region);
  }
  return of_points;
}

std::vector<std::uint32_t> stimuli_of_points(const Model& model) {
  std::vector<std::uint32_t> of_points;
  of_points.reserve(points_of_element * model.tetrahedron.size());
  for (const Tetrahedron& corners : model.tetrahedron) {
    for (const Index v : corners) {
      of_points.push_back(model.stimuli_of_vertex[static_cast<std::size_t>(v)]);
    }
  }
  return of_points;
}

std::vector<double> of_vertices(const Model& model, const std::vector<double>& of_points) {
  std::vector<double> values(model.position.size());
  for (std::size_t e = 0; e < model.tetrahedron.size(); ++e) {
    for (std::size_t a = 0; a < 4; ++a) {
      const auto v = static_cast<std::size_t>(model.tetrahedron[e][a]);
      if (model.region[e] == model.region_of_vertex[v]) values[v] = of_points[4 * e + a];
    }
  }
  return values;
}

PointMembranes::PointMembranes(const Model& model, const Assembly<Number>& mass, double tolerance,
                               long long max_iterations, const Device& device)
    : device_(device),
      mass_(mass),
      integral_(mass.matrix().field()),
      projected_(mass.matrix().field()),
      report_(1, device) {
  const Operator<Number>& M = mass_.matrix();
  std::vector<Index> corner;
  std::vector<double> volume;
  for (std::size_t e = 0; e < model.tetrahedron.size(); ++e) {
    for (const Index v : model.tetrahedron[e]) corner.push_back(M.row_basis()->position(v));
    volume.push_back(ElementGeometry(model.corners(e)).volume);
  }
  corner_ = Array<Index>(corner, device);
  volume_ = Array<double>(volume, device);
  before_ = Array<double>(corner.size(), device);
  after_ = Array<double>(corner.size(), device);
  solver_ = std::make_unique<ConjugateGradient<double>>(
      M, Jacobi<Number>(M, Refresh::each_call),
      SolverOptions{
          .tolerance = 0, .absolute_tolerance = tolerance, .max_iterations = max_iterations});
}

void PointMembranes::prepare() {
  if constexpr (has_cuda) {
    solver_->prepare_enqueue(std::as_const(integral_).view(), projected_.view(), report_.data());
  }
}

void PointMembranes::project() {
  const FieldView<const double> b = std::as_const(integral_).view();
  if (device_.on_gpu()) {
    solver_->enqueue(b, projected_.view(), report_.data());
    return;
  }
  const Report report = solver_->solve(b, projected_.view());
  report_[0].status = report.status;
  report_[0].iterations = report.iterations;
  report_[0].residual_norm = report.residual_norm;
}

void PointMembranes::advance(MembraneCells& cells, double* potential, const double* time, double dt,
                             CellRule rule, const BeforeDiffusion& next, const double* diffused,
                             const StepRecord& record) {
  const Stream& stream = device_.stream();
  run(InterpolatePass{static_cast<Offset>(before_.size()), corner_.data(), potential, diffused,
                      before_.data()},
      stream);
  cells.advance(before_.data(), time, dt, stream, rule, {.potential = after_.data()});
  integrate(mass_, {before_.data(), after_.data(), volume_.data()}, integral_.view());
  project();
  run(TakeUpPass{integral_.size(), record.clock, report_.data(), record.record, record.scale,
                 potential, diffused, projected_.scalars().data(), next},
      stream);
}

}  // namespace heddle::heart
