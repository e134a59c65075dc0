"""Callbacks of SciPy's kind, of one argument, next to SciPy's own iterates."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def laplacian(n):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))


@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab"])
@pytest.mark.parametrize("M", [None, "jacobi"])
def test_iterates_are_scipys(name, M):
    A, rng = laplacian(20), np.random.default_rng()
    A.setdiag(4 + rng.random(400))
    b, x0 = rng.standard_normal((2, 400))
    own, theirs = [], []
    x, info = getattr(heddle, name)(A, b, x0, rtol=1e-9, M=M, callback=own.append)
    of_M = None if M is None else spla.LinearOperator(A.shape, lambda r: r / A.diagonal())
    getattr(spla, name)(A, b, x0, rtol=1e-9, M=of_M, callback=lambda x: theirs.append(x.copy()))
    assert info == 0 and len(own) > 12
    np.testing.assert_array_equal(own[-1], x)
    for ours, expected in zip(own[:10], theirs):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("plan", ["", "CSR", "pJDS", "CSR,order=rcm", "C=8,sigma=64,vector-layout=soa"])
@pytest.mark.parametrize("problem", ["poisson", "elasticity", "helmholtz", "dirac"])
def test_iterates_have_the_residuals_that_are_reported(problem, plan):
    methods = {"poisson": ("cg", "minres", "cr", "bicgstab", "bicgstab2", "chebyshev", "richardson"),
               "elasticity": ("cg", "minres"), "helmholtz": ("cocg", "cocr", "bicgstab"),
               "dirac": ("cg", "bicgstab")}  # fmt: skip
    A = heddle.generate(problem, 400)
    rng = np.random.default_rng()
    b = rng.standard_normal((A.shape[0], *A.data.shape[2:])).astype(A.dtype)
    if A.entry == "quaternion":
        b = rng.standard_normal((A.shape[0], 4))
    for scale in (1.0, 1e-200):  # the second is scaled by the solve
        for method in methods[problem]:
            solver = heddle.Solver(A, method, None, maxiter=60, plan=plan or None)
            seen, x = [], np.empty_like(b)

            def look(iteration, residual):
                solver._own.iterate(x)
                true = np.linalg.norm((scale * b - A @ x) / scale) / np.linalg.norm(b)
                seen.append((true, residual))

            result = solver.solve(scale * b, callback=look)
            assert len(seen) > 5, (method, result)
            true, told = np.array(seen[:25]).T
            np.testing.assert_allclose(true, told, rtol=1e-6, atol=1e-9, err_msg=method)


def test_each_iteration_is_shown_in_a_new_array_of_the_shape_of_b():
    for A, shape in ((laplacian(9), (81,)), (laplacian(9), (81, 1)), (heddle.generate("dirac", 100), (92, 4)),
                     (heddle.generate("dirac", 100), (368,))):  # fmt: skip
        b = np.random.default_rng().standard_normal(shape)
        x = []
        solution, info = heddle.cg(A, b, rtol=1e-8, callback=x.append)
        counted = heddle.solve(A, b, method="cg", preconditioner=None, rtol=1e-8)
        assert info == 0 and len(x) == counted.iterations
        assert {one.shape for one in x} == {solution.shape}
        assert len({one.ctypes.data for one in x}) == len(x)
    assert heddle.cg(laplacian(9), np.zeros(81), callback=x.append)[1] == 0
    assert len(x) == counted.iterations  # no iteration, no call


def test_the_signature_decides():
    A, b = laplacian(6), np.ones(36)
    seen = []
    callbacks = [
        (lambda x: seen.append(x), 1), (lambda i, r: seen.append(r), 2),
        (lambda *now: seen.append(now), 2), (lambda x, *, y=3: seen.append(x), 1),
        (lambda x, y=3: seen.append(y), 2), (seen.append, 1)]  # fmt: skip
    for callback, count in callbacks:
        seen.clear()
        assert heddle.cg(A, b, callback=callback)[1] == 0
        assert isinstance(seen[0], np.ndarray) == (count == 1), inspect.signature(callback)
    with pytest.raises(LookupError):
        heddle.cg(A, b, callback=lambda x: {}[0])


def matrix_for_gmres():
    rng = np.random.default_rng(1)
    return rng.random((60, 60)) + 2 * np.eye(60), rng.random(60)


@pytest.mark.parametrize("restart", [2, 7, 60])
def test_gmres_shows_restarts_and_residuals_as_scipys(restart):
    A, b = matrix_for_gmres()
    for kind in ("x", "pr_norm"):
        own, theirs = [], []
        for module, seen in ((heddle, own), (spla, theirs)):
            module.gmres(A, b, rtol=1e-12, restart=restart, maxiter=4, callback_type=kind,
                         callback=lambda now: seen.append(np.copy(now)))  # fmt: skip
        assert len(own) == len(theirs)
        np.testing.assert_allclose(own, theirs, rtol=1e-5, atol=1e-10)
        assert isinstance(theirs[0], np.ndarray)


def test_gmres_counts_iterations_for_legacy_callbacks():
    A, b = matrix_for_gmres()
    seen = []
    with pytest.warns(DeprecationWarning, match="callback_type"):
        x, info = heddle.gmres(A, b, restart=30, maxiter=3, rtol=1e-12, callback=seen.append)
    assert info == len(seen) == 3 and all(isinstance(r, float) for r in seen)
    np.testing.assert_allclose(seen[-1], np.linalg.norm(b - A @ x) / np.linalg.norm(b))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heddle.gmres(A, b, restart=30, maxiter=3, callback=seen.append, callback_type="legacy")
        heddle.gmres(A, b, restart=30, callback=lambda i, r: seen.append(i))
    with pytest.raises(heddle.UsageError, match="there are x, pr_norm, legacy"):
        heddle.gmres(A, b, callback_type="norm")


def test_where_there_is_no_iterate():
    A, b = laplacian(6), np.ones(36)
    with pytest.raises(heddle.UnsupportedError, match="fields in single precision"):
        heddle.cg(A, b, field_precision="single", callback=lambda x: None)
    solver = heddle.Solver(A, "cg")
    with pytest.raises(heddle.UsageError, match="only in an observer"):
        solver._own.iterate(np.zeros(36))
    solver.solve(b, callback=lambda i, r: None)
    with pytest.raises(heddle.UsageError, match="only in an observer"):
        solver._own.iterate(np.zeros(36))
    with pytest.raises(heddle.SizeError):
        solver.solve(b, callback=lambda i, r: solver._own.iterate(np.zeros(35)))
    block = heddle.Solver(A, "block-cg")
    with pytest.raises(heddle.UnsupportedError, match="block-cg"):
        block.solve(b, callback=lambda i, r: block._own.iterate(np.zeros(36)))


def test_minres_subtracts_a_shift():
    A = laplacian(8)
    b = np.random.default_rng().standard_normal(64)
    for M in (None, "jacobi", lambda r: r / 4):
        x, info = heddle.minres(A, b, shift=0.3, rtol=1e-10, M=M, maxiter=500)
        assert info == 0
        np.testing.assert_allclose(A @ x - 0.3 * x, b, atol=1e-8)
    np.testing.assert_allclose(x, spla.minres(A, b, shift=0.3, rtol=1e-12)[0], atol=1e-6)


def test_scikit_fem_solves_with_ours():
    utils = pytest.importorskip("skfem.utils")
    A, b = laplacian(12), np.ones(144)
    for function in (heddle.cg, heddle.minres, heddle.bicgstab):
        x = utils.solve(A, b, solver=utils.solver_iter_krylov(function, rtol=1e-10))
        np.testing.assert_allclose(A @ x, b, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (40, 40)])
def test_lsmr_takes_operators_with_an_adjoint(dtype, shape):
    rng = np.random.default_rng()
    A = rng.standard_normal(shape).astype(dtype)
    if dtype is np.complex128:
        A += 1j * rng.standard_normal(shape)
    b = rng.standard_normal(shape[0])
    x, istop, itn, *_ = heddle.lsmr(spla.aslinearoperator(A), b, atol=1e-12, btol=1e-12, maxiter=800)
    stored = heddle.lsmr(A, b, atol=1e-12, btol=1e-12, maxiter=800)
    assert istop == stored[1] and abs(itn - stored[2]) <= 3 and x.dtype == dtype
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b)[0], atol=1e-8)


def test_lsmr_of_operators_without_an_adjoint():
    A = spla.LinearOperator((5, 4), matvec=lambda x: np.append(x, x[0]), dtype=float)
    with pytest.raises(NotImplementedError):
        heddle.lsmr(A, np.ones(5))

    class Half:
        shape, dtype = (4, 4), np.dtype(float)
        matvec = staticmethod(lambda x: x / 2)

    with pytest.raises(heddle.UsageError, match="no rmatvec"):
        heddle.lsmr(Half(), np.ones(4))
    with pytest.raises(heddle.UsageError, match="stored matrix"):
        heddle.lsmr(spla.aslinearoperator(np.eye(4)), np.ones(4), plan="CSR")
    with pytest.raises(heddle.SizeError, match="square"):
        heddle.cg(spla.aslinearoperator(np.ones((5, 4))), np.ones(5))
