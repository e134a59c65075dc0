"""Solves on a GPU of arrays that lie there, in CuPy's, PyTorch's and JAX's memory. Skipped where no
GPU works, and for packages that are not installed."""

import importlib

import numpy as np
import pytest
from gpu_packages import ByInterfaceAlone, Cupy, needs_gpu, package, system, systems  # noqa: F401

import heddle

pytestmark = needs_gpu


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_arrays_of_the_gpu_give_the_bits_of_the_hosts(package, problem, method, dtype):
    A, b = system(problem, dtype)
    solver = heddle.Solver(A, method, device="cuda", rtol=1e-9)
    expected = solver.solve(b)
    assert expected.converged
    there = package.array(b)
    found = solver.solve(there)
    assert type(found.x) is type(there) and found.iterations == expected.iterations
    np.testing.assert_array_equal(package.numbers(found.x), expected.x)
    # Solves between all memories, also from a guess in either memory.
    out = package.array(np.full_like(b, 7))
    assert solver.solve(b, out).x is out
    np.testing.assert_array_equal(package.numbers(out), expected.x)
    host = np.full_like(b, 7)
    assert solver.solve(there, host).x is host
    np.testing.assert_array_equal(host, expected.x)
    assert solver.solve(there, out, x0=expected.x).iterations <= 1
    assert solver.solve(there, out, x0=out).iterations <= 1
    assert solver.solve(there, host, x0=host).iterations <= 1
    flat = solver.solve(there.reshape(-1))
    np.testing.assert_array_equal(package.numbers(flat.x), expected.x.reshape(-1))


def test_fields_in_single_have_the_residual_of_double(package):
    A, b = system("dirac", np.float64)
    for plan in (None, "pJDS,iteration-precision=scaled,loop=graph"):
        solver = heddle.Solver(
            A, "cg", device="cuda", plan=plan, field_precision="single", rtol=1e-11)  # fmt: skip
        there = package.array(b)
        found = solver.solve(there)
        assert found.converged and type(found.x) is type(there)
        x = package.numbers(found.x)
        assert np.linalg.norm(b - A @ x) <= 1.01e-11 * np.linalg.norm(b)
        np.testing.assert_array_equal(solver.solve(b).x, x)
        with pytest.raises(heddle.UnsupportedError, match="enqueued"):
            solver.enqueue(there, found.x)


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_products_stay_on_the_gpu(package, problem, method, dtype):
    A, x = system(problem, dtype)
    there = package.array(x)
    for B in (A, A.H):
        y = B @ there
        assert type(y) is type(there)
        np.testing.assert_allclose(package.numbers(y), B @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_several_systems_side_by_side(package, problem, method, dtype):
    A, b = system(problem, dtype)
    solver = heddle.Solver(A, method, device="cuda", rtol=1e-9)
    several = np.stack([b, 2 * b[::-1], b**2])
    there = package.array(several)
    results = solver.solve_all(there)
    for one, result in zip(several, results):
        assert result.converged
        np.testing.assert_array_equal(package.numbers(result.x), solver.solve(one).x)
    again = solver.solve_all(there, x0=package.array(np.stack([package.numbers(r.x) for r in results])))
    assert max(result.iterations for result in again) <= 1
    ring = np.diag(np.full(30, 2.0)) - np.roll(np.eye(30), 1, 0) - np.roll(np.eye(30), -1, 0)
    singular = heddle.Solver(ring, "cg", device="cuda", null_space=package.array(np.ones(30)))
    x = package.numbers(singular.solve(package.array(np.arange(30.0))).x)
    np.testing.assert_allclose(ring @ x, np.arange(30.0) - 14.5, atol=1e-7)


def test_functions_go_where_b_is(package):
    A, b = system("poisson", np.float64)
    matrix = heddle.Matrix(np.diag(np.arange(1.0, 9)))
    x, info = heddle.cg(matrix, package.array(np.ones(8)), rtol=1e-10, M="jacobi")
    assert info == 0
    np.testing.assert_allclose(package.numbers(x), 1 / np.arange(1.0, 9))
    result = heddle.solve(A, package.array(b))
    assert result.converged and type(result.x) is type(package.array(b))


def test_a_refused_call_leaves_b_as_it_is(package):
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    there = package.array(b)
    for x0 in (None, there, package.array(np.zeros_like(b)), np.zeros_like(b)):
        with pytest.raises(heddle.UsageError, match="b and out share memory"):
            solver.solve(there, there, x0=x0)
    several = package.array(np.stack([b, b]))
    with pytest.raises(heddle.UsageError, match="b and out share memory"):
        solver.solve_all(several, several)
    np.testing.assert_array_equal(package.numbers(there), b)
    np.testing.assert_array_equal(package.numbers(several), np.stack([b, b]))


def test_arrays_without_dlpack():
    package = Cupy()
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    expected = solver.solve(b).x
    there, x = package.array(b), package.array(np.zeros_like(b))
    solver.solve(ByInterfaceAlone(there), ByInterfaceAlone(x))
    np.testing.assert_array_equal(x.get(), expected)
    x[...] = 0
    solver.enqueue(ByInterfaceAlone(there), ByInterfaceAlone(x))
    solver.wait()
    np.testing.assert_array_equal(x.get(), expected)
    with pytest.raises(heddle.UsageError, match="out is missing"):
        solver.solve(ByInterfaceAlone(there))


def test_right_hand_sides_of_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    package = Cupy()
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    expected = solver.solve(b).x
    there, x = jax.numpy.asarray(b), package.array(np.zeros_like(b))
    solver.solve(there, x)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(x)), expected)
    with pytest.raises(heddle.UnsupportedError, match="cannot be written to"):
        solver.solve(x, there)
    np.testing.assert_array_equal(np.asarray(there), b)


def test_arrays_are_used_in_place(package):
    """A solve allocates nothing on the GPU but x."""
    A, b = system("elasticity", np.float64, 30000)
    solver = heddle.Solver(A, "cg", device="cuda", maxiter=20)
    there, x = package.array(b), package.array(np.zeros_like(b))
    address = package.address(x)
    runtime = pytest.importorskip("cupy").cuda.runtime
    solver.solve(there, x)
    free = runtime.memGetInfo()[0]
    for _ in range(20):
        solver.solve(there, x)
    assert runtime.memGetInfo()[0] >= free
    assert package.address(x) == address


def test_misfits_are_refused(package):
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    there = package.array(b)
    with pytest.raises(heddle.UnsupportedError, match="float32"):
        solver.solve(package.array(b.astype(np.float32)))
    with pytest.raises(heddle.UnsupportedError, match="not contiguous"):
        solver.solve(package.array(b.T.copy()).T)
    with pytest.raises(heddle.SizeError, match="b has the shape"):
        solver.solve(there[:-1])
    with pytest.raises(heddle.UsageError):  # b and x share memory
        solver.solve(there, there)
    with pytest.raises(heddle.UsageError, match="on the CPU"):
        heddle.Solver(A, "cg").solve(there)


def test_matrices_of_cupy():
    cupy = Cupy().cupy
    sparse = importlib.import_module("cupyx.scipy.sparse")
    A = sparse.random(50, 50, 0.1, "csr", dtype=np.float64) + 20 * sparse.identity(50)
    x, info = heddle.bicgstab(A.tocsr(), cupy.ones(50), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose((A @ x).get(), np.ones(50), rtol=1e-8)


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_new_values_come_from_the_gpu(package, problem, method, dtype):
    A, b = system(problem, dtype)
    B, _ = system(problem, dtype)
    solver = heddle.Solver(A, method, device="cuda", rtol=1e-9)
    expected = heddle.Solver(B, method, device="cuda", rtol=1e-9)
    there = package.array(b)
    for factor in (2.0, 0.5):
        data = package.array(factor * A.data)
        A.update_values(data)
        package.copy(data, package.array(np.full_like(B.data, np.nan)))  # owner may change it again
        B.update_values(factor * B.data)
        np.testing.assert_array_equal(
            package.numbers(solver.solve(there).x), package.numbers(expected.solve(there).x))  # fmt: skip
        np.testing.assert_array_equal(A.data, B.data)
        np.testing.assert_array_equal(package.numbers(A.H @ there), package.numbers(B.H @ there))
    with pytest.raises(heddle.SizeError, match="data has the shape"):
        A.update_values(package.array(A.data[:-1]))
    with pytest.raises(heddle.UnsupportedError, match="convert one of them"):
        A.update_values(package.array(A.data.astype(np.complex64)))


def test_ranks_on_one_gpu():
    A, b = system("dirac", np.float64)
    for device in ("cuda", "cuda:0,cuda:0"):
        result = heddle.Solver(A, "cg", ranks=2, device=device, rtol=1e-8).solve(b)
        assert result.converged
        assert np.linalg.norm(A @ result.x - b) <= 1.01e-8 * np.linalg.norm(b)
    assert heddle.Solver(A, "gmres", ranks=2, device="cuda", rtol=1e-8).solve(b).converged


def test_edited_trees():
    A, b = system("poisson", np.float64)
    solver = heddle.Solver(A, "cg", storage="hisparse", device="cuda", rtol=1e-8)
    edited = solver.edited(add=([2.0, 3.0], ([5, 70], [5, 70])), remove=([1, 0], [0, 1]))
    B = A.edited(add=([2.0, 3.0], ([5, 70], [5, 70])), remove=([1, 0], [0, 1]))
    for own, matrix in ((edited, B), (solver, A)):
        result = own.solve(b)
        assert result.converged
        assert np.linalg.norm(matrix @ result.x - b) <= 1.01e-8 * np.linalg.norm(b)
