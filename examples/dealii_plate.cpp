// Heddle inside deal.II: an elastic plate with a clamped edge that bends under its weight, by
// deal.II's conjugate gradients with Heddle's multigrid, and by a solver of Heddle's. Both are
// compared with UMFPACK.
#include <deal.II/base/function.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_renumbering.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/numerics/vector_tools.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "heddle/adapters/dealii.hpp"

using namespace dealii;

unsigned int bend(const DoFHandler<2>& displacements, const SparseMatrix<double>& A,
                  const Vector<double>& b, Vector<double>& x, bool component_wise) {
  heddle::DealiiPreconditioner::AdditionalData data;
  data.dofs_per_node = 2;
  data.component_wise = component_wise;
  data.coordinates.reinit(displacements.n_dofs());  // for the motions of a rigid body
  VectorTools::interpolate(displacements, Functions::IdentityFunction<2>(), data.coordinates);
  heddle::DealiiPreconditioner multigrid;
  multigrid.initialize(A, data);
  SolverControl control(1000, 1e-9 * b.l2_norm());
  SolverCG<Vector<double>>(control).solve(A, x, b, multigrid);
  return control.last_step();
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "it does not hold that " << what << "\n";
  std::exit(1);
}

bool is_near(Vector<double> x, const Vector<double>& y) {
  x -= y;
  return x.l2_norm() < 1e-6 * y.l2_norm();
}

struct Plate {
  Triangulation<2> cells;
  FESystem<2> elements;
  DoFHandler<2> dofs;
  AffineConstraints<double> constraints;
  SparsityPattern pattern;
  SparseMatrix<double> A;
  Vector<double> b;

  Plate(unsigned int degree, bool component_wise) : elements(FE_Q<2>(degree), 2), dofs(cells) {
    GridGenerator::subdivided_hyper_rectangle(cells, {20, 5}, Point<2>(0, 0), Point<2>(4, 1), true);
    cells.refine_global(degree == 1 ? 2 : 1);
    for (const auto& cell : cells.active_cell_iterators()) {  // hanging nodes next to the clamp
      if (cell->center()[0] < 0.5) cell->set_refine_flag();
    }
    cells.execute_coarsening_and_refinement();
    dofs.distribute_dofs(elements);
    if (component_wise) DoFRenumbering::component_wise(dofs);
    DoFTools::make_hanging_node_constraints(dofs, constraints);
    VectorTools::interpolate_boundary_values(dofs, 0, Functions::ZeroFunction<2>(2), constraints);
    constraints.close();
    DynamicSparsityPattern entries(dofs.n_dofs());
    DoFTools::make_sparsity_pattern(dofs, entries, constraints);
    pattern.copy_from(entries);
    A.reinit(pattern);
    b.reinit(dofs.n_dofs());
    assemble();
  }

 private:
  void assemble() {
    const QGauss<2> points(elements.degree + 1);
    FEValues<2> values(elements, points, update_values | update_gradients | update_JxW_values);
    const FEValuesExtractors::Vector displacement(0);
    const unsigned int n = elements.n_dofs_per_cell();
    FullMatrix<double> stiffness(n, n);
    Vector<double> weight(n);
    std::vector<types::global_dof_index> rows(n);
    for (const auto& cell : dofs.active_cell_iterators()) {
      values.reinit(cell);
      stiffness = 0;
      weight = 0;
      for (const unsigned int q : values.quadrature_point_indices()) {
        for (const unsigned int i : values.dof_indices()) {
          const auto strain = values[displacement].symmetric_gradient(i, q);
          weight(i) -= values[displacement].value(i, q)[1] * values.JxW(q);
          for (const unsigned int j : values.dof_indices()) {
            stiffness(i, j) +=
                (2 * strain * values[displacement].symmetric_gradient(j, q) +
                 values[displacement].divergence(i, q) * values[displacement].divergence(j, q)) *
                values.JxW(q);
          }
        }
      }
      cell->get_dof_indices(rows);
      constraints.distribute_local_to_global(stiffness, weight, rows, A, b);
    }
  }
};

void compare(unsigned int degree, bool component_wise) {
  Plate plate(degree, component_wise);
  const Vector<double>& b = plate.b;
  Vector<double> expected(b.size()), x(b.size());
  SparseDirectUMFPACK umfpack;
  umfpack.initialize(plate.A);
  umfpack.vmult(expected, b);
  PreconditionSSOR<SparseMatrix<double>> ssor;
  ssor.initialize(plate.A, 1.2);
  SolverControl by_ssor(10000, 1e-9 * b.l2_norm());
  SolverCG<Vector<double>>(by_ssor).solve(plate.A, x, b, ssor);

  x = 0;
  const unsigned int iterations = bend(plate.dofs, plate.A, b, x, component_wise);
  std::cout << b.size() << " rows: " << iterations << " iterations, with SSOR "
            << by_ssor.last_step();
  expect(iterations < by_ssor.last_step() / 4, "multigrid takes a quarter of the iterations");
  expect(is_near(x, expected), "multigrid's solution is UMFPACK's");

  heddle::DealiiSolver::AdditionalData data;
  data.dofs_per_node = 2;
  data.component_wise = component_wise;
  DoFTools::extract_constant_modes(plate.dofs, ComponentMask(), data.constant_modes);
  ReductionControl control(1000, 0, 1e-9);
  heddle::DealiiSolver solver(control);
  solver.initialize(plate.A, data);
  x = 0;
  solver.solve(x, b);
  std::cout << ", alone without rotations " << control.last_step() << "\n";
  Vector<double> rest(b.size());
  const double norm = plate.A.residual(rest, x, b);
  expect(is_near(x, expected), "Heddle's solution is UMFPACK's");
  expect(norm < 1.1e-9 * b.l2_norm() && std::abs(norm - control.last_value()) < 1e-10 * b.l2_norm(),
         "the last value is the norm of b - A x, up to rounding");

  plate.A *= 2;
  solver.initialize(plate.A, data);  // new values, for which the hierarchy stays
  solver.solve(x, b);                // from the x of before
  x *= 2;
  expect(is_near(x, expected), "a stiffer plate bends less");
  Vector<double> transposed(b.size());
  solver.vmult(x, b);
  solver.Tvmult(transposed, b);
  expect(is_near(transposed, x), "the matrix is symmetric");

  ReductionControl too_few(1, 0, 1e-9);
  heddle::DealiiSolver impatient(too_few);
  impatient.initialize(plate.A, data);
  bool is_thrown = false;
  try {
    impatient.vmult(x, b);
  } catch (const SolverControl::NoConvergence&) {
    is_thrown = true;
  }
  expect(is_thrown, "one iteration is too few");
}

int main() {
  compare(1, false);
  compare(1, true);
  compare(2, false);
  compare(3, true);
}
