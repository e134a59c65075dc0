// The equations of a model on a device: matrix, mass, loads and the forces of its elements, all in
// the basis and layout of the matrix. Once it is made, only `deflate` and what follows it allocate.
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
/// Three numbers a vertex.
using VertexField = Field<Block>;
using VertexView = FieldView<double>;
using ConstVertexView = FieldView<const double>;

/// In the order of the mesh.
std::vector<Point> points_of(const VertexField& field);

struct SystemOptions {
  bool corotational = false;
  bool with_mass = false;
  double tolerance = 1e-10;
  long long max_iterations = 10000;
  std::size_t earlier_solutions = 0;                        // that guesses are made of
  bool multigrid = false;                                   // in place of Jacobi's preconditioner
  StoredScalar level_precision = StoredScalar::own;         // of its levels
  long long deflation = 0;                                  // eigenvectors that `deflate` takes
  std::function<bool(const SolveProgress&)> observer = {};  // of the solver
};

class ElasticSystem {
 public:
  /// Nothing of the model or the pattern is kept. Throws `Error` for a plan that does not suit or
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

  /// A zero field in the basis and layout of the matrix, and one of a vector for each vertex.
  VertexField field() const { return matrix_.field(); }
  VertexField field_of(const std::vector<Point>& values) const;
  /// What the model gives: displacements of fixed components, and velocities with zero there.
  VertexField given_displacement() const { return given_displacement_; }
  VertexField given_velocity() const { return given_velocity_; }

  /// Forces, energies and rotations of the elements at a displacement; what follows uses them.
  void deform(const VertexField& displacement);
  /// mass_scale M + stiffness_scale K into the matrix.
  void set_matrix(double mass_scale, double stiffness_scale);
  /// base + scale (loads - forces), zero in fixed components; without a base it is zero.
  void residual(const VertexField* base, double scale, VertexField& result);

  /// Solves with the matrix from the guess in x, or a better one from earlier solutions.
  Report solve(const VertexField& b, VertexField& x);
  /// Takes approximate eigenvectors of the matrix as it is, which deflate all solves to come, if
  /// the options ask for any. Throws `Error` (memory) where these do not fit.
  void deflate();
  /// Makes no more guesses from the solutions so far.
  void forget_solutions();
  /// Motions, three numbers a vertex in the order of the mesh, that solutions have no part of.
  void project_out(const std::vector<std::vector<double>>& motions);
  /// y = M x; of a system with mass.
  void apply_mass(const VertexField& x, VertexField& y);
  /// to += scale x.
  void add(double scale, const VertexField& x, VertexField& to);

  /// Of the elements as they were last deformed.
  double elastic_energy();
  /// Of the loads along a displacement from rest.
  double work(const VertexField& displacement);
  /// x . y / 2, of a velocity and its momentum.
  double half_product(const VertexField& x, const VertexField& y);

  /// Cauchy's stress of each element, six numbers, and von Mises' equivalent; elements in the order
  /// of the mesh, in the device's memory.
  void find_stress(const VertexField& displacement);
  const Array<double>& stress() const { return stress_; }
  const Array<double>& equivalent_stress() const { return equivalent_; }

  /// Of the solver's preconditioner; none but with `SystemOptions::multigrid`.
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
  Operator<Block> matrix_;          // a handle of what is assembled
  std::array<double, 2> scales_{};  // of M and K in it
  std::unique_ptr<Operator<MassEntry>> mass_;
  std::unique_ptr<ConjugateGradient<double>> solver_;
  std::shared_ptr<Multigrid<double>> multigrid_;  // null with Jacobi's preconditioner
  std::shared_ptr<Deflation<double>> deflated_;   // null where solves are not
  std::unique_ptr<EarlierSolutions<double>> earlier_;
  Reduction<double> of_vertices_;
  Reduction<double> of_elements_;

  // Elements.
  Array<Index> corner_;
  Array<double> gradient_, material_, volume_;
  Array<double> force_, energy_, ones_;
  Array<double> rotation_, turned_;  // of corotational ones
  Array<double> stress_, equivalent_;
  // Vertices.
  Array<unsigned char> fixed_;
  VertexField load_, given_displacement_, given_velocity_;
};

}  // namespace heddle::elastic
