// Membranes at the integration points of tetrahedra, in place of vertices. The potential there is
// interpolated, the other variables of the cells live there (Goektepe and Kuhl, Int. J. Numer.
// Meth. Eng. 79, 2009). The change of the potential in a step is projected to the vertices:
// M p = the sum of the integrals of the change times the function of a vertex.
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

/// Of each point the region of its element, and the stimuli of its nearest corner, so that the
/// currents of stimuli sum to those at vertices.
std::vector<std::uint16_t> region_of_points(const Model& model);
std::vector<std::uint32_t> stimuli_of_points(const Model& model);
/// Of vertices, in the order of the mesh, from that of points; of a vertex between regions as its
/// own region has it.
std::vector<double> of_vertices(const Model& model, const std::vector<double>& of_points);

/// Where the solves of a step are noted, in the memory of the device.
struct StepRecord {
  const Clock* clock = nullptr;  // of the step
  SolveRecord* record = nullptr;
  double scale = 1;  // what residuals are relative to
};

class PointMembranes {
 public:
  /// `mass` has its values; residuals are at most `tolerance` (mV mm3).
  PointMembranes(const Model& model, const Assembly<Number>& mass, double tolerance,
                 long long max_iterations, const Device& device);

  /// As `MembraneCells::advance`, for the potential of vertices and cells at points.
  void advance(MembraneCells& cells, double* potential, const double* time, double dt,
               CellRule rule, const BeforeDiffusion& next, const double* diffused,
               const StepRecord& record);
  /// On a GPU, before `advance` becomes part of a graph.
  void prepare();

  /// Bytes of the lists of the assembly.
  long long lists_memory() const { return mass_.memory(); }
  /// By the last projection, which is the guess of the next one, in the basis of the mass.
  const Potential& projected() const { return projected_; }
  Potential& projected() { return projected_; }

 private:
  void project();

  Device device_;
  Assembly<Number> mass_;
  std::unique_ptr<ConjugateGradient<double>> solver_;
  Potential integral_, projected_;
  Array<Index> corner_;           // 4 an element, in the basis of the mass
  Array<double> volume_;          // of elements, mm3
  Array<double> before_, after_;  // the potential at points
  Array<DeviceReport> report_;    // of the last projection
};

}  // namespace heddle::heart
