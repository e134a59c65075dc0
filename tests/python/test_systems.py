"""Several right-hand sides, null spaces, adjoint systems."""

import numpy as np
import pytest
import scipy.sparse as sp

import heddle


@pytest.mark.parametrize("problem", ["poisson", "dirac", "elasticity", "helmholtz"])
def test_several_systems_have_the_bits_of_each(problem):
    A = heddle.generate(problem, 300)
    shape = 11, A.shape[0], *heddle._matrix._row_shapes[A.entry]
    rng = np.random.default_rng(1)
    b = rng.standard_normal(shape)
    if A.dtype.kind == "c":
        b = b + 1j * rng.standard_normal(shape)
    solver = heddle.Solver(A)
    results = solver.solve_all(b)
    assert len(results) == 11
    for one, result in zip(b, results):
        alone = solver.solve(one)
        np.testing.assert_array_equal(result.x, alone.x)
        assert (result.iterations, result.residual) == (alone.iterations, alone.residual)
        assert result.status == "converged"
    out = np.ones_like(b)
    again = solver.solve_all(b, out, x0=np.stack([result.x for result in results]))
    assert max(result.iterations for result in again) <= 1
    assert all(np.shares_memory(result.x, out) for result in again)
    assert solver.solve_all(b[:0]) == []
    with pytest.raises(heddle.SizeError, match="b has the shape"):
        solver.solve_all(b[0])
    with pytest.raises(heddle.SizeError, match="out has the shape"):
        solver.solve_all(b, out[:5])
    with pytest.raises(heddle.UsageError, match="does not record"):
        results[0].history  # noqa: B018


def test_guesses_of_several_systems_follow_the_rules_of_one():
    solver = heddle.Solver(np.diag([1.0, 2.0, 4.0]))
    b, out = np.ones((2, 3)), np.full((2, 3), 7.0)
    wrong = [
        (np.ones(3), heddle.SizeError),  # nothing is broadcast
        (np.ones((2, 1)), heddle.SizeError),
        (np.ones((2, 3), complex), heddle.UnsupportedError),  # no imaginary part is dropped
        (np.ones((3, 3)), heddle.SizeError),
    ]
    for x0, error in wrong:
        with pytest.raises(error, match="x0"):
            solver.solve_all(b, out, x0=x0)
    np.testing.assert_array_equal(out, np.full((2, 3), 7.0))
    guess = [[1, 1, 1], [1, 1, 1]]  # converted, as b is
    for x0 in (guess, out):
        results = solver.solve_all(b, out, x0=x0)
        assert all(result.converged for result in results)
        np.testing.assert_array_equal(out, [[1, 0.5, 0.25]] * 2)
    assert max(result.iterations for result in results) == 0


def test_null_spaces_are_projected_out():
    n = 50
    ring = sp.diags_array([2.0] * 1, offsets=[0], shape=(n, n)).tolil()
    for i in range(n):
        ring[i, (i + 1) % n] = ring[i, i - 1] = -1
    A, ones = ring.tocsr(), np.ones(n)
    b = np.random.default_rng(2).standard_normal(n)
    for null_space in (ones, ones[None], 3 * ones.reshape(n, 1)):
        result = heddle.Solver(A, "cg", null_space=null_space).solve(b)
        assert result.converged and abs(result.x.sum()) < 1e-9
        np.testing.assert_allclose(A @ result.x, b - b.mean(), atol=1e-8)
    with pytest.raises(heddle.SizeError, match="null_space has the shape"):
        heddle.Solver(A, "cg", null_space=np.ones(n - 1))
    with pytest.raises(heddle.UnsupportedError):
        heddle.Solver(A, "cg", null_space=ones * 1j)


def test_adjoint_systems_follow_their_matrix():
    A = sp.random(40, 40, 0.1, "csr", rng=np.random.default_rng(3)) + 5 * sp.eye_array(40)
    B = heddle.Matrix(A)
    solvers = [heddle.Solver(B.H, "bicgstab", M, rtol=1e-10) for M in (None, "jacobi")]
    b = np.random.default_rng(4).random(40)
    for solver in solvers:
        np.testing.assert_allclose(A.T @ solver.solve(b).x, b, rtol=1e-7)
    B.update_values(2 * B.data)
    for solver in solvers:
        np.testing.assert_allclose(2 * A.T @ solver.solve(b).x, b, rtol=1e-7)
    x, info = heddle.gmres(B.H, b, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(2 * A.T @ x, b, rtol=1e-7)
    with pytest.raises(heddle.UsageError, match="adjoint"):
        heddle.Solver(B.H)
    with pytest.raises(heddle.UsageError, match="plan of its matrix"):
        heddle.Solver(B.H, "bicgstab", None, plan="CSR")


def test_a_guess_may_be_m_times_b():
    A, b = np.diag([1.0, 2.0, 4.0]), np.ones(3)
    M = np.diag([1, 0.5, 0.25])
    for given in (M, lambda r: M @ r):
        x, info = heddle.cg(A, b, x0="Mb", M=given, maxiter=1)
        assert info == 0
        np.testing.assert_array_equal(x, [1, 0.5, 0.25])
    with pytest.raises(heddle.UsageError, match="x0='Mx'"):
        heddle.cg(A, b, x0="Mx")
    with pytest.raises(heddle.UsageError, match="atol=None"):
        heddle.cg(A, b, atol=None)
