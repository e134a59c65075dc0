// Heddle inside MFEM: a clamped beam that bends under a load, by MFEM's conjugate gradients with
// Heddle's multigrid, and by a solver of Heddle's. Both are compared with MFEM's Gauss-Seidel.
#include <cstdlib>
#include <iostream>
#include <mfem.hpp>

#include "heddle/adapters/mfem.hpp"

using namespace mfem;

int bend(FiniteElementSpace& displacements, const SparseMatrix& A, const Vector& b, Vector& x) {
  heddle::MfemPreconditioner multigrid;
  multigrid.SetElasticityOptions(&displacements);  // blocks, and the motions of a rigid body
  CGSolver cg;
  cg.SetRelTol(1e-9);
  cg.SetMaxIter(1000);
  cg.SetPreconditioner(multigrid);
  cg.SetOperator(A);
  cg.Mult(b, x);
  return cg.GetNumIterations();
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "it does not hold that " << what << "\n";
  std::exit(1);
}

double residual(const SparseMatrix& A, const Vector& b, const Vector& x) {
  Vector r(b);
  A.AddMult(x, r, -1);
  return r.Norml2() / b.Norml2();
}

bool is_near(const Vector& x, const Vector& y) {
  Vector difference(x);
  difference -= y;
  return difference.Norml2() < 1e-5 * y.Norml2();
}

/// Clamped where x = 0, and pulled down where x is largest.
void assemble(FiniteElementSpace& space, double stiffness, BilinearForm& form, SparseMatrix& A,
              Vector& b) {
  Array<int> left(6), right(6), clamped;
  left = 0;
  right = 0;
  left[4] = right[2] = 1;
  space.GetEssentialTrueDofs(left, clamped);
  Vector down(3);
  down = 0.0;
  down[2] = -1e-2;
  VectorConstantCoefficient force(down);
  LinearForm load(&space);
  load.AddBoundaryIntegrator(new VectorBoundaryLFIntegrator(force), right);
  load.Assemble();
  ConstantCoefficient lambda(stiffness), mu(stiffness);
  form.AddDomainIntegrator(new ElasticityIntegrator(lambda, mu));
  form.Assemble();
  GridFunction u(&space);
  u = 0.0;
  Vector x, views_the_load;
  form.FormLinearSystem(clamped, u, load, A, x, views_the_load);
  b = views_the_load;
}

void compare(Mesh& mesh, int order, Ordering::Type ordering) {
  const H1_FECollection elements(order, 3);
  FiniteElementSpace space(&mesh, &elements, 3, ordering);
  BilinearForm form(&space), stiffer(&space);
  SparseMatrix A, twice;
  Vector b, x, expected;
  assemble(space, 1, form, A, b);
  GSSmoother gauss_seidel;
  CGSolver cg;
  cg.SetRelTol(1e-9);
  cg.SetMaxIter(10000);
  cg.SetPreconditioner(gauss_seidel);
  cg.SetOperator(A);
  expected.SetSize(b.Size());
  expected = 0.0;
  cg.Mult(b, expected);

  x.SetSize(b.Size());
  x = 0.0;
  const int iterations = bend(space, A, b, x);
  std::cout << A.Height() << " rows: " << iterations << " iterations, with Gauss-Seidel "
            << cg.GetNumIterations();
  expect(iterations < cg.GetNumIterations() / 4, "multigrid takes a quarter of the iterations");
  expect(is_near(x, expected), "multigrid's solution is MFEM's");

  heddle::MfemSolver solver("cg", "multigrid");
  solver.SetElasticityOptions(&space);
  solver.SetRelTol(1e-9);
  solver.SetOperator(A);
  x = 0.0;
  solver.Mult(b, x);
  std::cout << ", alone " << solver.GetNumIterations() << "\n";
  expect(solver.GetConverged() && residual(A, b, x) < 1.01e-9 && is_near(x, expected),
         "Heddle's solution is MFEM's");
  expect(std::abs(solver.GetFinalNorm() - residual(A, b, x) * b.Norml2()) < 1e-12 * b.Norml2(),
         "the final norm is that of b - A x");
  expect(std::abs(solver.GetNumIterations() - iterations) <= 3, "both loops are alike");

  assemble(space, 2, stiffer, twice, b);
  solver.SetOperator(twice);  // new values, for which the hierarchy stays
  Vector half(x);
  half *= 0.5;
  solver.Mult(b, x);  // from the x of before
  expect(solver.GetConverged() && solver.GetFinalRelNorm() < 1e-9 && is_near(x, half),
         "a stiffer beam bends less");
}

/// GMRES, and the preconditioner alone.
void compare_loops(Mesh& mesh) {
  const H1_FECollection elements(1, 3);
  FiniteElementSpace space(&mesh, &elements, 3, Ordering::byVDIM);
  BilinearForm form(&space);
  SparseMatrix A;
  Vector b;
  assemble(space, 1, form, A, b);
  Vector expected(b.Size()), x(b.Size());
  expected = x = 0.0;
  bend(space, A, b, expected);
  heddle::MfemPreconditioner multigrid("multigrid:2");
  multigrid.SetElasticityOptions(&space);
  GMRESSolver gmres;
  gmres.SetRelTol(1e-9);
  gmres.SetMaxIter(50);
  gmres.SetPreconditioner(multigrid);
  gmres.SetOperator(A);
  gmres.Mult(b, x);
  expect(gmres.GetConverged() && is_near(x, expected), "GMRES finds the same solution");
  multigrid.iterative_mode = true;  // x += M^-1 (b - A x)
  x = 0.0;
  for (int i = 0; i < 100; ++i) multigrid.Mult(b, x);
  expect(is_near(x, expected), "corrections alone find it");
  multigrid.iterative_mode = false;
  Vector transposed(b.Size());
  multigrid.Mult(b, x);
  multigrid.MultTranspose(b, transposed);
  expect(is_near(transposed, x), "multigrid is symmetric");
}

int main() {
  Mesh mesh = Mesh::MakeCartesian3D(32, 4, 4, Element::HEXAHEDRON, 8, 1, 1);
  compare(mesh, 1, Ordering::byNODES);
  compare(mesh, 1, Ordering::byVDIM);
  compare(mesh, 2, Ordering::byNODES);
  compare_loops(mesh);
}
