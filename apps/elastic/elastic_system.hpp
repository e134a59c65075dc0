// The equations of a model on a device: matrix, mass, loads and the forces of its elements, all in
// the basis and layout of the matrix. Once made, only `deflate` and the calls after it allocate.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../command/guess_record.hpp"
#include "heddle/assembly.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/earlier_solutions.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/operator.hpp"
#include "mass.hpp"
#include "model.hpp"
#include "phase_times.hpp"
#include "run_pass.hpp"
#include "step_deflation.hpp"

namespace heddle::elastic {

using MassEntry = real<double, 3>;
/// Three numbers per vertex.
using VertexField = Field<Block>;
using VertexView = FieldView<double>;
using ConstVertexView = FieldView<const double>;

/// Values in the order of the mesh.
std::vector<Point> points_of(const VertexField& field);

struct SystemOptions {
  bool corotational = false;
  bool with_mass = false;
  double tolerance = 1e-10;
  long long max_iterations = 10000;
  std::size_t earlier_solutions = 0;                        // used for guesses
  bool multigrid = false;                                   // replaces Jacobi's preconditioner
  StoredScalar level_precision = StoredScalar::own;         // for the levels of multigrid
  long long deflation = 0;                                  // eigenvectors for `deflate`
  std::function<bool(const SolveProgress&)> observer = {};  // receives the solver's progress
};

class ElasticSystem {
 public:
  /// Keeps nothing of the model or the pattern. Throws `Error` for a plan that does not suit or
  /// fit.
  ElasticSystem(const Model& model, const ElementPattern& pattern, const Plan& plan,
                const Device& device, const SystemOptions& options);
  ElasticSystem(const ElasticSystem&) = delete;
  ElasticSystem& operator=(const ElasticSystem&) = delete;

  const Operator<Block>& matrix() const { return matrix_; }
  /// Bytes of the assembly's lists.
  long long lists_memory() const { return assembly_.memory(); }
  const Device& device() const { return device_; }
  bool is_corotational() const { return options_.corotational; }
  Index vertices() const { return matrix_.rows(); }
  Offset elements() const { return elements_; }

  /// A zero field in the basis and layout of the matrix, and one made from a vector per vertex.
  VertexField field() const { return matrix_.field(); }
  VertexField field_of(const std::vector<Point>& values) const;
  /// From the model: displacements of fixed components, and velocities that are zero there.
  VertexField given_displacement() const { return given_displacement_; }
  VertexField given_velocity() const { return given_velocity_; }

  /// Computes the elements' forces, energies and rotations at a displacement, for the calls below.
  void deform(const VertexField& displacement);
  /// Sets the matrix to mass_scale M + stiffness_scale K.
  void set_matrix(double mass_scale, double stiffness_scale);
  /// base + scale (loads - forces), zero in fixed components; a null base counts as zero.
  void residual(const VertexField* base, double scale, VertexField& result);

  /// Solves with the matrix from the guess in x, or a better one from earlier solutions.
  Report solve(const VertexField& b, VertexField& x);
  /// Computes approximate eigenvectors of the current matrix, which deflate all later solves, if
  /// the options request any. Throws `Error` (memory) if they do not fit.
  void deflate();
  /// Earlier solutions are no longer used for guesses.
  void forget_solutions();
  /// Excludes motions from solutions: three numbers per vertex each, in the order of the mesh.
  void project_out(const std::vector<std::vector<double>>& motions);
  /// y = M x; for a system with mass.
  void apply_mass(const VertexField& x, VertexField& y);
  /// to += scale x.
  void add(double scale, const VertexField& x, VertexField& to);

  /// Energy of the elements in their last deformation.
  double elastic_energy();
  /// Work of the loads along a displacement from rest.
  double work(const VertexField& displacement);
  /// x . y / 2, for a velocity and its momentum.
  double half_product(const VertexField& x, const VertexField& y);

  /// Computes Cauchy's stress of each element, six numbers, and von Mises' equivalent; elements in
  /// the order of the mesh, in the device's memory.
  void find_stress(const VertexField& displacement);
  const Array<double>& stress() const { return stress_; }
  const Array<double>& equivalent_stress() const { return equivalent_; }

  /// Report of the preconditioner's hierarchy; only with `SystemOptions::multigrid`.
  std::optional<MultigridReport> hierarchy() const {
    return multigrid_ ? std::optional(multigrid_->report()) : std::nullopt;
  }

  PhaseTimes times;
  cli::GuessRecord guesses;
  DeflationRecord deflation;

 private:
  ElementsAtRest at_rest() const;
  SolverOptions solver_options() const;
  void make_solver(const Model& model);
  void place_elements(const Model& model);
  void place_vertices(const Model& model);
  Index position_of(Index vertex) const { return matrix_.row_basis()->position(vertex); }

  Device device_;
  SystemOptions options_;
  Offset elements_;
  Assembly<Block> assembly_;
  Operator<Block> matrix_;          // a handle of the assembled matrix
  std::array<double, 2> scales_{};  // scales of M and K in it
  std::unique_ptr<Operator<MassEntry>> mass_;
  std::unique_ptr<ConjugateGradient<double>> solver_;
  std::shared_ptr<Multigrid<double>> multigrid_;  // null with Jacobi's preconditioner
  std::shared_ptr<Deflation<double>> deflated_;   // null without deflation
  std::unique_ptr<EarlierSolutions<double>> earlier_;
  Reduction<double> of_vertices_;
  Reduction<double> of_elements_;

  // Data of elements.
  Array<Index> corner_;
  Array<double> gradient_, material_, volume_;
  Array<double> force_, energy_, ones_;
  Array<double> rotation_, rotated_;  // corotational elements only
  Array<double> stress_, equivalent_;
  // Data of vertices.
  Array<unsigned char> fixed_;
  VertexField load_, given_displacement_, given_velocity_;
};

}  // namespace heddle::elastic
