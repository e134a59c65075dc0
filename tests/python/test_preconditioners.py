"""Preconditioners that loops of other packages apply."""

import copy
import gc

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def laplacian(n, dtype=np.float64):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsr().astype(dtype)


def iterations(solve, A, b, M, **options):
    counted = []
    x, info = solve(A, b, M=M, callback=counted.append, **options)
    assert info == 0
    assert np.linalg.norm(b - A @ x) <= 1e-4 * np.linalg.norm(b)
    return len(counted)


@pytest.mark.parametrize("text", ["none", "auto", "jacobi", "fsai", "multigrid", "jacobi*fsai*jacobi"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_scipy_takes_them(text, dtype):
    A, b = laplacian(30, dtype), np.random.default_rng(1).random(900).astype(dtype)
    M = heddle.preconditioner(A, text)
    assert M.shape == A.shape and M.dtype == A.dtype
    alone = iterations(spla.cg, A, b, None, rtol=1e-5)
    expected = heddle.solve(A, b, method="cg", preconditioner=text, rtol=1e-5).iterations
    for given in (M, M.aspreconditioner()):
        found = iterations(spla.cg, A, b, given, rtol=1e-5)
        assert abs(found - expected) <= 1 + expected // 20 and found <= alone
    assert iterations(spla.gmres, A, b, M, rtol=5e-5, restart=60, maxiter=3, callback_type="pr_norm")
    z = M @ b
    assert (M.aspreconditioner() @ b == z).all() and (M.matvec(b) == z).all()
    assert M.apply(b[:, None]).shape == (900, 1)


def test_pyamg_takes_them():
    krylov = pytest.importorskip("pyamg").krylov
    A, b = laplacian(30), np.ones(900)
    x, info = krylov.fgmres(A, b, M=heddle.preconditioner(A, "multigrid").aspreconditioner(), tol=1e-8)
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-7 * np.linalg.norm(b)


def test_heddles_own_solvers_take_them():
    A = heddle.Matrix(laplacian(40))
    b = np.random.default_rng(2).random(1600)
    M = heddle.preconditioner(A, "multigrid")
    by_text = heddle.Solver(A, "cg", "multigrid").solve(b)
    by_object = heddle.Solver(A, "cg", M).solve(b)
    assert by_object.iterations == by_text.iterations and (by_object.x == by_text.x).all()
    other = heddle.Solver(A, "cg", M, plan="pJDS").solve(b)  # another storage of that matrix
    assert other.converged and abs(other.iterations - by_text.iterations) <= 1
    x, info = heddle.cg(A, b, M=M.aspreconditioner())
    assert info == 0
    assert heddle.Solver(A, "cg", M.H).solve(b).converged


@pytest.mark.parametrize("problem, width", [("elasticity", 3), ("dirac", 4)])
def test_entries_have_the_forms_of_their_matrix(problem, width):
    A = heddle.generate(problem, 500)
    M = heddle.preconditioner(A, "multigrid")
    rows = A.shape[0]
    assert M.shape == (width * rows, width * rows)
    r = np.random.default_rng(3).random((rows, width))
    z = np.empty_like(r)
    assert M.apply(r, out=z) is z and (M @ r == z).all()
    assert (M @ r.ravel() == z.ravel()).all()
    n = width * rows
    operator = spla.LinearOperator((n, n), matvec=lambda x: A @ x, dtype=np.float64)
    own = heddle.solve(A, r, method="cg", preconditioner="multigrid", rtol=1e-8).iterations
    counted = []
    _, info = spla.cg(operator, r.ravel(), M=M, rtol=1e-8, callback=counted.append)
    assert info == 0 and abs(len(counted) - own) <= 1


def test_rigid_bodies_reach_multigrid():
    A = heddle.generate("elasticity", 2000)
    points = np.random.default_rng(4).random((A.shape[0], 3))
    plain = heddle.preconditioner(A, "multigrid")
    given = heddle.preconditioner(A, "multigrid", coordinates=points, smoother="jacobi")
    r = np.ones((A.shape[0], 3))
    assert not np.allclose(plain @ r, given @ r)
    fields = np.ones((2, A.shape[0], 3))
    fields[1, :, 1:] = 0
    assert np.isfinite(heddle.preconditioner(A, "multigrid", candidates=fields) @ r).all()
    assert np.isfinite(heddle.preconditioner(A, "multigrid", candidates="adaptive") @ r).all()


def test_adjoints():
    generator = np.random.default_rng(5)
    A = sp.random_array((200, 200), density=0.02, rng=generator) + 1j * sp.random_array(
        (200, 200), density=0.02, rng=generator) + 5 * sp.eye_array(200)  # fmt: skip
    x, y = (generator.random(200) + 1j * generator.random(200) for _ in range(2))
    for text in ("jacobi", "block-jacobi:3", "neumann*jacobi", "direct", "direct*jacobi"):
        M = heddle.preconditioner(A, text)
        assert np.vdot(M @ x, y) == pytest.approx(np.vdot(x, M.H @ y))
        assert (M.aspreconditioner().rmatvec(y) == M.H @ y).all() and (M.H.H @ x == M @ x).all()
    with pytest.raises(heddle.UnsupportedError, match="isai has no adjoint"):
        heddle.preconditioner(A, "isai").H @ x
    L = heddle.preconditioner(laplacian(10), "multigrid")
    b = np.ones(100)
    assert (L @ b == L.H @ b).all()


def test_new_values_are_taken_when_asked():
    A = heddle.Matrix(laplacian(20))
    b = np.ones(400)
    M = heddle.preconditioner(A, "multigrid")
    before = M @ b
    A.update_values(4 * A.data)
    assert (M @ b == before).all()
    M.update()
    np.testing.assert_allclose(M @ b, before / 4, rtol=1e-12)
    jacobi = heddle.preconditioner(A, "jacobi")
    A.update_values(np.nan * A.data)
    with pytest.raises(heddle.SingularError, match="row 0 .*not finite"):
        jacobi.update()


def test_a_tree_takes_no_new_values():
    A = heddle.Matrix(laplacian(20))
    M = heddle.preconditioner(A, "jacobi", storage="hisparse")
    z = M @ np.ones(400)
    M.update()
    A.update_values(4 * A.data)
    with pytest.raises(heddle.UsageError, match="a tree cannot take"):
        M.update()
    assert (M @ np.ones(400) == z).all()


def test_what_they_keep_outlives_the_matrix():
    A = heddle.Matrix(laplacian(20))
    M = heddle.preconditioner(A, "multigrid")
    expected = M @ np.ones(400)
    del A
    gc.collect()
    other = M.aspreconditioner()
    assert (copy.copy(M) @ np.ones(400) == expected).all()
    del M
    gc.collect()
    assert (other @ np.ones(400) == expected).all()


def test_bad_input_is_refused():
    A = heddle.generate("dirac", 100)
    rows = A.shape[0]
    M = heddle.preconditioner(A, "jacobi")
    r, kept = np.ones((rows, 4)), np.full((rows, 4), 7.0)
    for given, error in (
        (np.ones((rows - 1, 4)), heddle.SizeError), (np.ones(rows), heddle.SizeError),
        (r.astype(complex), heddle.UnsupportedError), ("r", heddle.UsageError),
        (None, heddle.UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            M.apply(given, out=kept)
    for out in (r, r.T, kept.astype(np.float32), kept[:-1], kept[::-1]):
        with pytest.raises((heddle.UnsupportedError, heddle.SizeError, heddle.UsageError)):
            M.apply(r, out=out)
    assert (kept == 7).all()
    with pytest.raises(heddle.UsageError, match="stream"):
        M.update(stream=5)
    with pytest.raises(heddle.UsageError, match="did you mean"):
        heddle.preconditioner(A, "jacobi", coordnates=r)
    with pytest.raises(heddle.UsageError, match="multigrid"):
        heddle.preconditioner(A, "jacobi", smoother="jacobi")
    with pytest.raises(heddle.UsageError):
        heddle.preconditioner(A, "jakobi")
    with pytest.raises(heddle.SizeError, match="square"):
        heddle.preconditioner(np.ones((3, 2)), "jacobi")
    with pytest.raises(heddle.SingularError):
        heddle.preconditioner(np.array([[0.0, 1], [1, 0]]), "isai")
    assert np.isnan(M @ np.full((rows, 4), np.nan)).all()
    assert "jacobi" in repr(M) and "adjoint" in repr(M.H)
