"""heddle.petsc inside PETSc. scripts/test-doors runs this, with PETSc of real and of complex numbers,
in a virtual environment that has Debian's packages, and so the NumPy that petsc4py was built with:

    apt-get install python3-petsc4py python3-dolfinx
    /usr/bin/python3 -m venv --system-site-packages build/doors/venv
"""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("petsc4py")

from petsc4py import PETSc  # noqa: E402

import heddle  # noqa: E402
import heddle._gpu  # noqa: E402
import heddle.petsc  # noqa: E402

scalar = np.dtype(PETSc.ScalarType)
is_complex = scalar.kind == "c"
prefixes = (f"a{number}_" for number in range(10**6))


def matrix(A, mat_type="aij"):
    """A matrix of heddle as PETSc's, with its block size."""
    size = A.data.shape[1] if A.data.ndim == 3 else 1
    csr = A.indptr.astype(PETSc.IntType), A.indices.astype(PETSc.IntType), A.data
    n = size * A.shape[0]
    if size == 1:
        M = PETSc.Mat().createAIJ((n, n), csr=csr, comm=PETSc.COMM_SELF)
    else:
        M = PETSc.Mat().createBAIJ((n, n), size, csr=csr, comm=PETSc.COMM_SELF)
    M.assemble()
    return M.convert(mat_type, PETSc.Mat()) if mat_type not in M.getType() else M


def problem(name, size=2000):
    A = heddle.generate(name, size)
    return heddle.Matrix((A.data.astype(scalar), A.indices, A.indptr), A.shape)


def ones(M):
    b = M.createVecLeft()
    b.set(1)
    return b


def ksp_of(M, P=None, ksp_type="cg", rtol=1e-8, context=None, **options):
    """A KSP with heddle's PC, and options of a prefix of its own."""
    ksp = PETSc.KSP().create(comm=M.comm)
    prefix = next(prefixes)
    ksp.setOptionsPrefix(prefix)
    database = PETSc.Options(prefix)
    for name, value in options.items():
        database[name] = value
    ksp.setOperators(M, P)
    ksp.setType(ksp_type)
    ksp.setTolerances(rtol=rtol)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    if ksp_type == "python":
        ksp.setPythonContext(context or heddle.petsc.KSP())
    else:
        ksp.getPC().setType("python")
        ksp.getPC().setPythonContext(context or heddle.petsc.PC())
    ksp.setFromOptions()
    return ksp


def solved(M, b=None, **given):
    ksp = ksp_of(M, **given)
    b = ones(M) if b is None else b
    x = b.duplicate()
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    assert (M * x - b).norm() <= 2e-8 * b.norm()
    return ksp


def own_iterations(A, preconditioner="multigrid", **settings):
    b = np.ones(A.shape[0] * (A.data.shape[1] if A.data.ndim == 3 else 1), scalar)
    solver = heddle.Solver(A, "cg", preconditioner, rtol=1e-8, **settings)
    return solver.solve(b).iterations


def applied(pc, x, transposed=False):
    y = x.duplicate()
    (pc.applyTranspose if transposed else pc.apply)(x, y)
    return y.getArray().copy()


def randoms(M, seed=1):
    x, generator = M.createVecRight(), np.random.default_rng(seed)
    values = generator.standard_normal((2, x.getLocalSize()))
    x.setArray(values[0] + 1j * values[1] if is_complex else values[0])
    return x


def held(ksp):
    return ksp.getPC().getPythonContext().preconditioner


@pytest.mark.parametrize("name, mat_type", [
    ("poisson", "aij"), ("elasticity", "aij"), ("elasticity", "baij"), ("elasticity", "sbaij")])  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"type": "jacobi"}, {"type": "fsai", "threads": 1}, {"cycle": "w"}])
def test_iterations_are_heddles_own(name, mat_type, options):
    A = problem(name)
    ksp = solved(matrix(A, mat_type), **{f"pc_heddle_{o}": value for o, value in options.items()})
    own = {"type": "multigrid", **options}
    assert held(ksp).text == own["type"] and held(ksp).entry == A.entry
    assert abs(ksp.getIterationNumber() - own_iterations(A, own.pop("type"), **own)) <= 1


def test_a_matrix_that_is_not_hermitian_has_jacobi():
    A = problem("poisson")
    changed = A.data.copy()
    changed[0] *= 1j if is_complex else 1
    changed[1] *= 2
    ksp = ksp_of(matrix(heddle.Matrix((changed, A.indices, A.indptr), A.shape)), ksp_type="gmres")
    ksp.setUp()
    assert held(ksp).text == "jacobi"


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kept, is_blocked", [(1.0, True), (0.8, True), (0.3, False)])
def test_blocks(size, kept, is_blocked):
    """Every number of the matrix reaches its entry, also where a block is not full."""
    n, generator = 30 * size, np.random.default_rng(size)
    A = np.kron(np.tri(30, k=1) - np.tri(30, k=-2), np.ones((size, size))) * generator.random((n, n))
    A[generator.random((n, n)) > kept] = 0
    A = (A + A.T + 4 * size * np.eye(n)).astype(scalar)
    if kept < 1:
        A[0] = 0
        A[0, 0] = 1
    row, column = np.nonzero(A)
    indptr = np.searchsorted(row, np.arange(n + 1)).astype(PETSc.IntType)
    M = PETSc.Mat().createAIJ(
        (n, n), csr=(indptr, column.astype(PETSc.IntType), A[row, column]), comm=PETSc.COMM_SELF)  # fmt: skip
    M.setBlockSize(size)
    ksp = ksp_of(M, pc_heddle_type="none")
    ksp.setUp()
    fill = len({*zip(row // size, column // size)}) * size * size / len(row)
    takes_size = size == 3 if is_complex else size != 5
    entry = held(ksp).entry
    assert ("block" in entry) == (takes_size and fill <= 1.5) and (fill <= 1.5) == is_blocked
    stored = ksp.getPC().getPythonContext()._rows.matrix
    x = randoms(M)
    np.testing.assert_allclose(stored @ x.array_r, (M * x).array_r, rtol=1e-13, atol=1e-13)
    M.scale(3)
    ksp.getPC().setUp()
    np.testing.assert_allclose(stored @ x.array_r, (M * x).array_r, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("name", ["poisson", "elasticity"])
def test_new_values_and_another_pattern(name):
    A = problem(name)
    M = matrix(A, "aij")
    ksp = solved(M)
    made, x = held(ksp), randoms(M)
    before = applied(ksp.getPC(), x)
    M.scale(4)
    ksp.getPC().setUp()
    assert held(ksp) is made
    np.testing.assert_allclose(applied(ksp.getPC(), x), before / 4, rtol=1e-10, atol=1e-13)
    M.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    last = M.getSize()[0] - 1
    M[0, last] = M[last, 0] = 0.25
    M.assemble()
    ksp.getPC().setUp()
    assert held(ksp) is not made
    expected = heddle.preconditioner(ksp.getPC().getPythonContext()._rows.matrix, "multigrid")
    np.testing.assert_array_equal(applied(ksp.getPC(), x), expected @ x.array_r)
    ksp.solve(x, x.duplicate())
    assert ksp.getConvergedReason() > 0


@pytest.mark.parametrize("name", ["poisson", "elasticity"])
@pytest.mark.parametrize("text", ["jacobi", "block-jacobi:3", "neumann*jacobi"])
def test_transposed(name, text):
    A = problem(name, 500)
    changed = A.data.copy()
    changed += np.random.default_rng(2).random(A.data.shape) * (0.1j if is_complex else 0.1)
    M = matrix(heddle.Matrix((changed, A.indices, A.indptr), A.shape), "aij")
    ksp = ksp_of(M, ksp_type="gmres", pc_heddle_type=text)
    ksp.setUp()
    x, y = randoms(M), randoms(M, 2)
    left = applied(ksp.getPC(), x) @ y.array_r
    assert left == pytest.approx(x.array_r @ applied(ksp.getPC(), y, transposed=True), rel=1e-10)


def test_no_adjoint_is_an_error_of_petsc():
    A = problem("poisson", 200)
    changed = A.data.copy()
    changed[1] *= 2
    M = matrix(heddle.Matrix((changed, A.indices, A.indptr), A.shape))
    ksp = ksp_of(M, ksp_type="gmres", pc_heddle_type="isai")
    with pytest.raises(PETSc.Error, match="isai has no adjoint.*pc_heddle_type isai") as caught:
        applied(ksp.getPC(), ones(M), transposed=True)
    assert isinstance(caught.value.__cause__, heddle.UnsupportedError) and caught.value.ierr == 56


@pytest.mark.parametrize("name, value, words", [
    ("strength", "7", "strength must be a number of at least 0 and below 1"),
    ("strength", "x", "strength must be a number"),
    ("threads", "1.5", "threads must be a whole number"),
    ("cycle", "q", "cycle must be v, w or k"),
    ("cycel", "k", "did you mean cycle"),
    ("rtol", "1e-3", "does not take rtol"),
    ("type", "multigird", "no preconditioner is named 'multigird'"),
    ("plan", "foo", "'foo' is neither"),
    ("smoother", None, "smoother must be")])  # fmt: skip
def test_bad_options_are_named(name, value, words):
    M = matrix(problem("poisson", 200))
    with pytest.raises(PETSc.Error, match=words) as caught:
        ksp_of(M, **{f"pc_heddle_{name}": value}).setUp()
    assert f"_pc_heddle_{name}" in str(caught.value)
    assert isinstance(caught.value.__cause__, heddle.Error)


def test_settings_of_the_program_and_of_options():
    A = problem("poisson")
    M = matrix(A)
    context = heddle.petsc.PC(type="jacobi", threads=1)
    assert held(solved(M, context=context)).text == "jacobi"
    context = heddle.petsc.PC(type="jacobi", threads=1)
    ksp = solved(M, context=context, pc_heddle_type="multigrid", pc_heddle_estimates_again=None)
    assert held(ksp).text == "multigrid"
    made = held(ksp)
    PETSc.Options(ksp.getOptionsPrefix())["pc_heddle_smoother"] = "l1-jacobi"
    ksp.setFromOptions()
    M.stateIncrease()
    ksp.getPC().setUp()
    assert held(ksp) is not made
    own = own_iterations(A, smoother="l1-jacobi")
    assert abs(solved(M, pc_heddle_smoother="l1-jacobi").getIterationNumber() - own) <= 1


def test_options_alone():
    """As a program that does not know of heddle is run."""
    M = matrix(problem("elasticity", 500))
    b = ones(M)
    for kind, more in (("pc", {"pc_heddle_smoother": "jacobi"}), ("ksp", {"ksp_heddle_method": "cg"})):
        ksp, prefix = PETSc.KSP().create(comm=M.comm), next(prefixes)
        ksp.setOptionsPrefix(prefix)
        options = {f"{kind}_type": "python", f"{kind}_python_type": f"heddle.petsc.{kind.upper()}"}
        for name, value in {**options, **more}.items():
            PETSc.Options(prefix)[name] = value
        ksp.setOperators(M)
        ksp.setFromOptions()
        ksp.solve(b, b.duplicate())
        assert ksp.getConvergedReason() > 0
        context = (ksp.getPC() if kind == "pc" else ksp).getPythonContext()
        assert type(context) is getattr(heddle.petsc, kind.upper())
        assert context._database.keys() == {next(iter(more)).rpartition("_")[2]}


def test_a_tree_is_made_again():
    M = matrix(problem("poisson", 200))
    ksp = ksp_of(M, pc_heddle_type="neumann", pc_heddle_storage="hisparse")
    x = randoms(M)
    before = applied(ksp.getPC(), x)
    M.scale(2)
    ksp.getPC().setUp()
    np.testing.assert_allclose(applied(ksp.getPC(), x), before / 2, rtol=1e-12)


def test_a_vec_of_a_gpu_is_used_where_it_lies():
    class Vec:  # this PETSc has none
        held = []
        getType, getLocalSize = lambda self: "mpicuda", lambda self: 5

        def getCUDAHandle(self, mode):
            self.held.append(mode)
            return 4096

        def restoreCUDAHandle(self, handle, mode):
            assert handle == 4096
            self.held.remove(mode)

    class Operator:
        gpu, stream = 0, 1

    for writable in (False, True):
        with heddle.petsc._numbers(Vec(), writable=writable, gpu=True) as numbers:
            assert Vec.held == ["rw" if writable else "r"]
            given = heddle._gpu.gpu_array(numbers, Operator, scalar, "r")
            assert given.place == (4096, True) and given.shape == (5,) and given.contiguous
            assert given.writable == writable
        assert not Vec.held


def test_view(tmp_path):
    A = problem("elasticity", 200)
    M, path = matrix(A), tmp_path / "view"
    viewer = PETSc.Viewer().createASCII(str(path), comm=M.comm)
    for ksp in (solved(M), solved(M, ksp_type="python")):
        ksp.view(viewer)
    viewer.destroy()
    lines = [line.strip() for line in path.read_text().splitlines() if " heddle.P" in line or " heddle.S" in line]
    of = f"for {A.shape[0]} rows of {A.entry} entries"
    assert lines == [f"heddle.Preconditioner: multigrid {of}", f"heddle.Solver: cg {of}"]


def lattice(n):
    """Springs along the edges and diagonals of cubes, clamped at x = 0, and the points that remain:
    elasticity with Poisson's ratio 1/4, whose rigid bodies are the six motions."""
    points = np.stack(np.meshgrid(*3 * [np.arange(n)], indexing="ij"), -1).reshape(-1, 3)
    data, places = [], []
    for step in np.ndindex(3, 3, 3):
        d = np.array(step) - 1
        if not 1 <= d @ d <= 2:
            continue
        other = points + d
        inside = ((other >= 0) & (other < n)).all(axis=1)
        i = np.flatnonzero(inside)
        j = other[inside] @ [n * n, n, 1]
        spring = np.repeat(np.outer(d, d)[None] / (d @ d), len(i), axis=0)
        data += [spring, -spring]
        places += [np.stack([i, i]), np.stack([i, j])]
    data, (row, column) = np.concatenate(data), np.concatenate(places, axis=1)
    free = (row >= n * n) & (column >= n * n)
    row, column = row[free] - n * n, column[free] - n * n
    size = len(points) - n * n
    A = heddle.Matrix((data[free].astype(scalar), (row, column)), (size, size))
    return A, points[n * n :].astype(scalar)


@pytest.mark.parametrize("mat_type", ["aij", "baij"])
def test_a_near_null_space_lowers_iterations(mat_type):
    A, points = lattice(11)
    M = matrix(A, mat_type)
    plain = solved(M)
    coordinates = M.createVecRight()
    coordinates.setBlockSize(3)
    coordinates.setArray(points.ravel())
    bodies = PETSc.NullSpace().createRigidBody(coordinates)
    M.setNearNullSpace(bodies)
    if is_complex:  # multigrid takes six fields over real blocks only
        with pytest.raises(PETSc.Error, match="6 candidates over entries of 3 x 3 numbers"):
            solved(M)
        return
    given = solved(M)
    fields = np.array([vector.array_r for vector in bodies.getVecs()])
    assert len(fields) == 6
    own = own_iterations(A, candidates=fields)
    assert abs(given.getIterationNumber() - own) <= 1
    assert given.getIterationNumber() < plain.getIterationNumber()
    M.stateIncrease()  # the first one takes them too
    plain.solve(ones(M), ones(M))
    assert plain.getIterationNumber() == given.getIterationNumber()
    assert solved(M, pc_heddle_type="jacobi")  # which takes no fields


def test_the_solver():
    A = problem("elasticity")
    M = matrix(A, "aij")
    b, x = ones(M), ones(M)
    seen = []
    ksp = ksp_of(M, ksp_type="python", ksp_heddle_preconditioner="multigrid", ksp_heddle_threads=1)
    ksp.setMonitor(lambda _, iteration, norm: seen.append((iteration, norm)))
    ksp.setConvergenceHistory()
    ksp.solve(b, x)
    own = heddle.solve(A, np.ones(b.getSize(), scalar), method="cg", preconditioner="multigrid",
                       rtol=1e-8, threads=1)  # fmt: skip
    context = ksp.getPythonContext()
    assert context.solver.method == "cg" and context.result.converged
    assert (x.array_r == own.x).all() and ksp.getIterationNumber() == own.iterations
    assert ksp.getResidualNorm() == own.residual_norm
    assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.CONVERGED_RTOL
    assert [iteration for iteration, _ in seen] == list(range(1, own.iterations + 1))
    assert ksp.getConvergenceHistory().tolist() == [norm for _, norm in seen]
    assert (M * x - b).norm() == pytest.approx(ksp.getResidualNorm(), rel=1e-3)

    made = context.solver
    ksp.setInitialGuessNonzero(True)  # which has converged
    ksp.solve(b, x)
    assert ksp.getIterationNumber() == 0
    M.scale(2)
    ksp.setInitialGuessNonzero(False)
    ksp.solve(b, x)
    assert context.solver is made
    np.testing.assert_allclose(x.array_r, own.x / 2, rtol=1e-5, atol=1e-9)

    ksp.setTolerances(rtol=1e-30, atol=1e-3 * b.norm())
    ksp.solve(b, x)
    assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.CONVERGED_ATOL
    ksp.setTolerances(rtol=1e-8, max_it=2)
    ksp.solve(b, x)
    assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.DIVERGED_MAX_IT
    assert ksp.getIterationNumber() == 2


def test_the_solver_of_a_singular_system():
    n = 200  # a ring
    A = np.roll(np.eye(n), 1, axis=1)
    A = (2 * np.eye(n) - A - A.T).astype(scalar)
    M = PETSc.Mat().createDense((n, n), array=A, comm=PETSc.COMM_SELF).convert("aij", PETSc.Mat())
    M.setNullSpace(PETSc.NullSpace().create(constant=True, comm=PETSc.COMM_SELF))
    b = randoms(M)
    x = b.duplicate()
    ksp = ksp_of(M, ksp_type="python", ksp_heddle_method="cg")
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0
    b.shift(-b.sum() / n)
    assert (M * x - b).norm() <= 1e-7 * b.norm() and abs(x.sum()) <= 1e-8


def test_what_the_solver_refuses():
    M = matrix(problem("poisson", 200))
    b = ones(M)
    with pytest.raises(PETSc.Error, match="takes one matrix"):
        ksp_of(M, M.copy(), ksp_type="python").solve(b, b.duplicate())
    with pytest.raises(PETSc.Error, match="does not use the KSP's PC.*ksp_heddle_preconditioner"):
        ksp_of(M, ksp_type="python", pc_type="jacobi").solve(b, b.duplicate())
    with pytest.raises(PETSc.Error, match="ksp_heddle_maxiter.*does not take maxiter"):
        ksp_of(M, ksp_type="python", ksp_heddle_maxiter=3)
    with pytest.raises(PETSc.Error, match="no solver is named 'cgg'.*_ksp_heddle_method cgg"):
        ksp_of(M, ksp_type="python", ksp_heddle_method="cgg").solve(b, b.duplicate())
    ksp = ksp_of(M, ksp_type="python", ksp_heddle_method="cg")
    M.scale(-1)
    ksp.solve(b, b.duplicate())
    assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.DIVERGED_INDEFINITE_MAT


def test_a_singular_matrix_is_an_error_of_petsc():
    A = problem("poisson", 200)
    M = matrix(heddle.Matrix((0 * A.data, A.indices, A.indptr), A.shape))
    with pytest.raises(PETSc.Error, match="row 0") as caught:
        ksp_of(M, pc_heddle_type="fsai").setUp()
    assert isinstance(caught.value.__cause__, heddle.SingularError)
    x, y = randoms(M), M.createVecLeft()
    del caught
    x.copy(y)  # no lock is left
    assert x.norm() == y.norm()


ranks = """
    import numpy as np
    from petsc4py import PETSc
    import heddle, heddle.petsc

    def main():
        n = 51
        line = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        A = np.kron(line, np.eye(n)) + np.kron(np.eye(n), line)
        M = PETSc.Mat().createAIJ((n * n, n * n), nnz=5)
        first, last = M.getOwnershipRange()
        for i in range(first, last):
            for j in np.flatnonzero(A[i]):
                M[i, j] = A[i, j]
        M.assemble()
        b = M.createVecLeft()
        b.setRandom()
        x = b.duplicate()
        ksp = PETSc.KSP().create()
        ksp.setOperators(M)
        ksp.setType("cg")
        ksp.getPC().setType("python")
        ksp.getPC().setPythonType("heddle.petsc.PC")
        ksp.solve(b, x)
        assert ksp.getConvergedReason() > 0
        ksp.getPC().apply(b, x)
        own = heddle.preconditioner(A[first:last, first:last].astype(PETSc.ScalarType), "multigrid", threads=1)
        assert (x.array_r == own @ b.array_r).all()
        ksp.setType("python")
        ksp.setPythonType("heddle.petsc.KSP")
        try:
            ksp.solve(b, x)
        except PETSc.Error as error:
            assert M.comm.size == 2 and "is for one rank" in str(error)
        else:
            raise AssertionError("it solved on ranks")

    main()
"""


def test_ranks_have_their_own_blocks(tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun")
    program = tmp_path / "ranks.py"
    program.write_text(textwrap.dedent(ranks))
    of_mpi = "OMPI_", "PMIX_", "ORTE_"  # set in this process, which is a rank as well
    done = subprocess.run(
        ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, program],
        env={name: value for name, value in os.environ.items() if not name.startswith(of_mpi)},
        capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_dolfinx_elasticity():
    """A box, clamped at x = 0, with the rigid bodies as its near-null space."""
    pytest.importorskip("dolfinx")
    import dolfinx.fem.petsc
    import ufl
    from mpi4py import MPI

    mesh = dolfinx.mesh.create_box(MPI.COMM_SELF, [[0, 0, 0], [2, 1, 1]], [16, 8, 8])
    V = dolfinx.fem.VectorFunctionSpace(mesh, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    strain = ufl.sym(ufl.grad(u))
    stress = 0.77 * strain + 0.58 * ufl.tr(strain) * ufl.Identity(3)
    form = dolfinx.fem.form(ufl.inner(stress, ufl.sym(ufl.grad(v))) * ufl.dx)
    facets = dolfinx.mesh.locate_entities_boundary(mesh, 2, lambda x: np.isclose(x[0], 0))
    dofs = dolfinx.fem.locate_dofs_topological(V, 2, facets)
    clamped = dolfinx.fem.dirichletbc(np.zeros(3, scalar), dofs, V)
    M = dolfinx.fem.petsc.assemble_matrix(form, bcs=[clamped])
    M.assemble()
    coordinates = M.createVecRight()
    coordinates.setArray(V.tabulate_dof_coordinates().ravel())
    bodies = PETSc.NullSpace().createRigidBody(coordinates)
    plain = solved(M)
    M.setNearNullSpace(bodies)
    given = solved(M)
    assert held(given).entry == "block3" and held(given).text == "multigrid"
    A = given.getPC().getPythonContext()._rows.matrix
    fields = np.array([vector.array_r for vector in bodies.getVecs()])
    assert abs(given.getIterationNumber() - own_iterations(A, candidates=fields)) <= 1
    assert given.getIterationNumber() < plain.getIterationNumber()
    by_heddle = solved(M, ksp_type="python", ksp_heddle_preconditioner="multigrid")
    assert abs(by_heddle.getIterationNumber() - given.getIterationNumber()) <= 1
