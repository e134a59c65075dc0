"""Operators and preconditioners of CuPy on a GPU."""

import numpy as np
import pytest
from gpu_packages import needs_gpu

import heddle

pytestmark = needs_gpu
cupy = pytest.importorskip("cupy")


class Line:
    """4 x_i - x_(i-1) - x_(i+1), without a matrix."""

    def __init__(self, rows, dtype):
        self.shape, self.dtype, self.calls = (rows, rows), dtype, 0

    def matvec(self, x):
        assert type(x) is cupy.ndarray and x.dtype == self.dtype
        self.calls += 1
        y = 4 * x
        y[1:] -= x[:-1]
        y[:-1] -= x[1:]
        return y


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_operators_of_cupy(dtype):
    line = Line(1000, np.dtype(dtype))
    rng = np.random.default_rng(1)
    b = rng.standard_normal(1000).astype(dtype)
    if np.dtype(dtype).kind == "c":
        b += 1j * rng.standard_normal(1000)
    tolerance = 1e-5 if dtype == np.float32 else 1e-10
    for method in ("cg", "bicgstab", "gmres"):
        solver = heddle.Solver(line, method, device="cuda", rtol=tolerance)
        for given in (b, cupy.asarray(b)):
            result = solver.solve(given)
            assert result.converged and line.calls > 0
            residual = cupy.asnumpy(line.matvec(cupy.asarray(result.x))) - b
            assert np.linalg.norm(residual) <= 2 * tolerance * np.linalg.norm(b)


@pytest.mark.parametrize("problem", ["poisson", "dirac", "elasticity"])
def test_preconditioners_of_cupy(problem):
    A = heddle.generate(problem, 2000)
    b = np.random.default_rng(2).standard_normal(A.shape[:1] + A.data.shape[1:2])
    seen = []

    def half(r):
        seen.append(r.shape)
        return r / 2

    plain = heddle.Solver(A, "cg", None, device="cuda").solve(b)
    result = heddle.Solver(A, "cg", half, device="cuda").solve(b)
    assert result.converged and seen[0] == b.shape
    assert abs(result.iterations - plain.iterations) <= 1 + plain.iterations // 50
    np.testing.assert_allclose(result.x, plain.x, rtol=1e-6, atol=1e-6 * abs(plain.x).max())


def test_functions_that_fail():
    A = heddle.generate("poisson", 1000)
    b = np.ones(A.shape[0])

    def raises(r):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        heddle.Solver(A, "cg", raises, device="cuda").solve(b)
    with pytest.raises(heddle.UnsupportedError, match="complex128"):
        heddle.Solver(A, "cg", lambda r: 1j * r, device="cuda").solve(b)
    with pytest.raises(heddle.SizeError):
        heddle.Solver(A, "cg", lambda r: r[1:], device="cuda").solve(b)
    solver = heddle.Solver(Line(1000, np.dtype(float)), "cg", device="cuda")
    x, there = cupy.zeros(1000), cupy.ones(1000)
    with pytest.raises(heddle.UnsupportedError):
        solver.enqueue(there, x)
    assert solver.solve(there, x).converged


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_lsmr_of_cupy(dtype):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((60, 40)).astype(dtype)
    b = rng.standard_normal(60).astype(dtype)
    there, start = cupy.asarray(b), cupy.zeros(40, np.result_type(dtype, np.float64))
    for x0 in (None, start):
        x, istop, *_ = heddle.lsmr(
            cupy.asarray(A), there, atol=1e-10, btol=1e-10, maxiter=400, x0=x0)  # fmt: skip
        assert istop == 2 and x.dtype == start.dtype and isinstance(x, cupy.ndarray)
        expected = np.linalg.lstsq(A.astype(start.dtype), b.astype(start.dtype))[0]
        np.testing.assert_allclose(x.get(), expected, rtol=1e-7, atol=1e-9)
    with pytest.raises(heddle.UsageError):
        heddle.lsmr(A, there, x0=np.zeros(40))
