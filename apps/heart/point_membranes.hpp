// Membranes at the integration points of tetrahedra, in place of vertices. The potential there is
// interpolated; the other variables of the cells live there (Goektepe and Kuhl, Int. J. Numer.
// Meth. Eng. 79, 2009). The change of the potential in a step is projected to the vertices: M p =
// the sum of the integrals of the change times the function of a vertex.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "membranes/membrane_cells.hpp"
#include "model.hpp"
#include "point_passes.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// For each point: the region of its element, and the stimuli of its nearest corner, so that the
/// currents of stimuli sum to those at vertices.
std::vector<std::uint16_t> region_of_points(const Model& model);
std::vector<std::uint32_t> stimuli_of_points(const Model& model);
/// Values at vertices, in the order of the mesh, from values at points. A vertex between regions
/// takes the value of its own region.
std::vector<double> of_vertices(const Model& model, const std::vector<double>& of_points);

/// Record of a step's solves, in the device's memory.
struct StepRecord {
  const Clock* clock = nullptr;  // clock of the step
  SolveRecord* record = nullptr;
  double scale = 1;  // residuals are relative to this
};

class PointMembranes {
 public:
  /// `mass` already has its values; residuals are at most `tolerance` (mV mm3).
  PointMembranes(const Model& model, const Assembly<Number>& mass, double tolerance,
                 long long max_iterations, const Device& device);

  /// Like `MembraneCells::advance`, for the potential at vertices and cells at points.
  void advance(MembraneCells& cells, double* potential, const double* time, double dt,
               CellRule rule, const BeforeDiffusion& next, const double* diffused,
               const StepRecord& record);
  /// Needed on a GPU before `advance` becomes part of a graph.
  void prepare();

  /// Bytes of the assembly's lists.
  long long lists_memory() const { return mass_.memory(); }
  /// Result of the last projection, which is the guess for the next one, in the basis of the mass.
  const Potential& projected() const { return projected_; }
  Potential& projected() { return projected_; }

 private:
  void project();

  Device device_;
  Assembly<Number> mass_;
  std::unique_ptr<ConjugateGradient<double>> solver_;
  Potential integral_, projected_;
  Array<Index> corner_;           // 4 per element, in the basis of the mass
  Array<double> volume_;          // per element, mm3
  Array<double> before_, after_;  // the potential at points
  Array<DeviceReport> report_;    // for the last projection
};

}  // namespace heddle::heart
