"""What single methods and preconditioners take, and least squares."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def test_a_shift_is_added_to_the_diagonal():
    A = heddle.generate("dirac", 200)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 4))
    for method in ("auto", "cg", "minres"):
        solver = heddle.Solver(A, method, shift=0.75)
        x = solver.solve(b).x
        np.testing.assert_allclose(A @ x + 0.75 * x, b, atol=1e-8)
    with pytest.raises(heddle.UsageError, match="entries"):
        heddle.Solver(A, "cg", "fsai", shift=0.75)
    A.update_values(2 * A.data)
    x = solver.solve(b).x
    np.testing.assert_allclose(A @ x + 0.75 * x, b, atol=1e-8)
    # Also for operators that store nothing, and for adjoints.
    dense = np.random.default_rng(2).standard_normal((6, 6)) + 9 * np.eye(6)
    of_product = heddle.Solver(spla.aslinearoperator(dense), "gmres", shift=-1.5)
    b = np.arange(6.0)
    np.testing.assert_allclose(of_product.solve(b).x, np.linalg.solve(dense - 1.5 * np.eye(6), b))
    adjoint = heddle.Solver(heddle.Matrix(dense).H, "gmres", shift=-1.5)
    np.testing.assert_allclose(
        adjoint.solve(b).x, np.linalg.solve(dense.T - 1.5 * np.eye(6), b))  # fmt: skip


def test_arrays_precondition_adjoints_and_shifted_matrices():
    dense = np.random.default_rng(3).standard_normal((5, 5)) + 9 * np.eye(5)
    b = np.arange(5.0)
    for A, shift in ((heddle.Matrix(dense).H, 0.0), (heddle.Matrix(dense), 1.0)):
        solver = heddle.Solver(A, "gmres", np.eye(5) / 9, shift=shift)
        assert solver.solve(b).converged


def test_block_cg_solves_systems_in_one_space():
    A = heddle.generate("poisson", 3000)
    b = np.random.default_rng(1).standard_normal((8, A.shape[0]))
    block = heddle.Solver(A, "block-cg", rtol=1e-9)
    results = block.solve_all(b)
    alone = heddle.Solver(A, "cg", rtol=1e-9).solve_all(b)
    for one, result, single in zip(b, results, alone):
        assert np.linalg.norm(one - A @ result.x) <= 1.01e-9 * np.linalg.norm(one)
        assert result.iterations < single.iterations
    assert block.solve(b[0]).converged
    with pytest.raises(heddle.UnsupportedError, match="null space"):
        heddle.Solver(A, "block-cg", null_space=np.ones(A.shape[0]))
    with pytest.raises(heddle.Error, match="16"):
        block.solve_all(np.ones((17, A.shape[0])))


def test_intervals_steps_and_bases():
    A = heddle.generate("poisson", 500)
    b = np.ones(A.shape[0])
    heddle.Solver(A, "chebyshev", None, interval=(0.05, 20)).solve(b)
    assert heddle.Solver(A, "richardson", None, omega=0.1).solve(b).converged
    full, single = (
        heddle.Solver(A, "gmres", None, basis_precision=kind).solve(b) for kind in ("full", "single"))  # fmt: skip
    assert full.converged and single.converged and not np.array_equal(full.x, single.x)
    for wrong in (
        {"interval": (2, 1)}, {"omega": 0}, {"omega": np.inf}, {"interval": (1, 2), "omega": 1.0}):  # fmt: skip
        with pytest.raises(heddle.UsageError):
            heddle.Solver(A, "richardson", None, **wrong)
    with pytest.raises(heddle.UsageError, match="richardson, not for cg"):
        heddle.Solver(A, "cg", None, interval=(1, 2))
    with pytest.raises(heddle.UsageError, match="basis_precision"):
        heddle.Solver(A, "gmres", basis_precision="half")
    with pytest.raises(heddle.UsageError, match="fgmres, not for cg"):
        heddle.Solver(A, "cg", basis_precision="single")


def test_fields_in_single_have_the_residual_of_double():
    A = heddle.generate("dirac", 2000)
    A = heddle.Matrix((A.data, A.indices, A.indptr), A.shape)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 4))
    for method, preconditioner in (("cg", "jacobi"), ("bicgstab", None), ("cg", "multigrid")):
        solver = heddle.Solver(
            A, method, preconditioner, field_precision="single", rtol=1e-12, record_history=True)  # fmt: skip
        result = solver.solve(b)
        assert result.converged and len(result.history) == result.iterations + 1
        assert np.linalg.norm(b - A @ result.x) <= 1.01e-12 * np.linalg.norm(b)
        assert all(one.converged for one in solver.solve_all(np.stack([b, 2 * b])))
    full = heddle.Solver(A, "cg", rtol=1e-12).solve(b).x
    A.update_values(2 * A.data)
    np.testing.assert_allclose(
        heddle.Solver(A, "cg", field_precision="single", rtol=1e-12).solve(b).x, full / 2,
        rtol=1e-7, atol=1e-10)  # fmt: skip
    A.update_values(A.data / 2)
    np.testing.assert_allclose(solver.solve(b).x, full, rtol=1e-7, atol=1e-10)
    with pytest.raises(heddle.UsageError, match="field_precision must be full or single, not 'half'"):
        heddle.Solver(A, "cg", field_precision="half")
    for wrong in ({"shift": 1.0}, {"storage": "hisparse"}, {"ranks": 2}, {"method": "block-cg"},
                  {"preconditioner": lambda r: r}):  # fmt: skip
        with pytest.raises(heddle.UnsupportedError, match="fields in single precision"):
            heddle.Solver(A, **{"method": "cg", "field_precision": "single", **wrong})
    ring = np.array([[2.0, -1, -1], [-1, 2, -1], [-1, -1, 2]])
    singular = heddle.Solver(ring, "cg", null_space=np.ones(3), field_precision="single")
    assert singular.solve([1.0, -1, 0]).converged


def test_multigrid_follows_new_values_of_other_signs():
    size, groups = 10, 60
    n = size * groups
    rows, columns, minus, alternating = [], [], [], []
    for first in range(0, n, size):
        for i in range(size):
            for j in range(size):
                rows.append(first + i)
                columns.append(first + j)
                minus.append(1.0 if i == j else -0.5 / 9)
                alternating.append(1.0 if i == j else (-1) ** (i + j) * 0.5 / 9)
        if first + size < n:
            for i, j in ((first + size - 1, first + size), (first + size, first + size - 1)):
                rows.append(i)
                columns.append(j)
                minus.append(-0.05)
                alternating.append(0.05)
    order = np.lexsort((columns, rows))
    b = np.random.default_rng(0).standard_normal(n)
    for again in (False, True):
        A = heddle.Matrix((np.array(minus), (np.array(rows), np.array(columns))), shape=(n, n))
        solver = heddle.Solver(A, "cg", "multigrid", estimates_again=again)
        assert solver.solve(b).converged
        A.update_values(np.array(alternating)[order])
        assert solver.solve(b).converged


def test_multigrid_takes_motions_and_candidates():
    A = heddle.generate("elasticity", 1000)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 3))
    plain = heddle.Solver(A, "cg", "multigrid").solve(b).iterations
    # The constants of each component are the default candidates.
    constants = np.zeros((3, A.shape[0], 3))
    for k in range(3):
        constants[k, :, k] = 1
    assert heddle.Solver(A, "cg", "multigrid", candidates=constants).solve(b).iterations == plain
    for more in (
        {"strength": 0.3}, {"candidates": "adaptive"}, {"candidates": constants[0]},
        {"estimates_again": True},
        {"coordinates": np.random.default_rng(2).standard_normal((A.shape[0], 3))},
    ):  # fmt: skip
        assert heddle.Solver(A, "cg", "multigrid", **more).solve(b).converged
    assert heddle.Solver(A, "fgmres", "multigrid:k:gauss-seidel", strength=0.1).solve(b).converged
    for wrong in (
        {"strength": 1.0}, {"candidates": "random"}, {"coordinates": np.ones((3, 3))},
        {"candidates": np.ones((2, 5, 3))}, {"candidates": "adaptive", "coordinates": b},
    ):  # fmt: skip
        with pytest.raises(heddle.Error):
            heddle.Solver(A, "cg", "multigrid", **wrong)
    with pytest.raises(heddle.UsageError, match="multigrid"):
        heddle.Solver(A, "cg", "jacobi", strength=0.1)
    with pytest.raises(heddle.UsageError, match="multigrid"):
        heddle.Solver(A, "cg", lambda r: r, strength=0.1)


@pytest.mark.parametrize("preconditioner", [None, "jacobi", "fsai"])
def test_a_tree_solves(preconditioner):
    A = heddle.generate("dirac", 300)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 4))
    solver = heddle.Solver(A, "auto", preconditioner, storage="hisparse", node=16, dense=50, rtol=1e-9)
    assert solver.plan == ""
    x = solver.solve(b).x
    assert np.linalg.norm(b - A @ x) <= 1.01e-9 * np.linalg.norm(b)
    heddle.Solver(A, storage="hisparse")
    with pytest.raises(heddle.UsageError, match="profile"):
        heddle.Solver(A, storage="hisparse", profile="none.json")
    A.update_values(2 * A.data)
    with pytest.raises(heddle.UsageError, match="new values"):
        solver.solve(b)
    for wrong in ({"storage": "tree"}, {"node": 16}, {"storage": "hisparse", "plan": "CSR"},
                  {"storage": "hisparse", "node": 3}, {"dense": 50}, {"launch": "warps=4"},
                  {"storage": "hisparse", "dense": 0}, {"storage": "hisparse", "dense": "half"},
                  {"storage": "hisparse", "launch": "warps=3"}):  # fmt: skip
        with pytest.raises(heddle.UsageError):
            heddle.Solver(A, "cg", **wrong)
    with pytest.raises(heddle.UsageError):
        heddle.Solver(A.H, "cg", storage="hisparse")


@pytest.mark.parametrize("plan", ["iteration-precision=half", "iteration-precision=bfloat",
                                  "iteration-precision=scaled", "iteration-precision=single"])  # fmt: skip
def test_iterations_in_fewer_bits_reach_the_same_residual(plan):
    A = heddle.generate("elasticity", 500)
    b = np.ones((A.shape[0], 3))
    result = heddle.Solver(A, "cg", plan="CSR," + plan, rtol=1e-10).solve(b)
    assert result.converged and np.linalg.norm(b - A @ result.x) <= 1.01e-10 * np.linalg.norm(b)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (40, 40)])
@pytest.mark.parametrize("damp", [0.0, 0.3])
def test_lsmr_is_scipys(dtype, shape, damp):
    rng = np.random.default_rng(1)
    A = sp.random_array(shape, density=0.3, rng=rng, dtype=np.float64).astype(dtype)
    if dtype is np.complex128:
        A = A + 1j * sp.random_array(shape, density=0.3, rng=rng)
    b = rng.standard_normal(shape[0]).astype(dtype)
    x, istop, itn, normr, normar, norma, conda, normx = heddle.lsmr(
        A, b, damp, 1e-12, 1e-12, maxiter=2000)  # fmt: skip
    expected = spla.lsmr(A, b, damp, 1e-12, 1e-12, maxiter=2000, conlim=0)
    np.testing.assert_allclose(x, expected[0], atol=1e-7)
    assert istop in (1, 2) and 0 < itn <= 2000
    np.testing.assert_allclose(normr, np.linalg.norm(b - A @ x), atol=1e-12)
    np.testing.assert_allclose(normx, np.linalg.norm(x))
    assert 0 < norma <= np.linalg.norm(A.toarray()) * 1.01 + damp and conda >= 1
    again = heddle.lsmr(A, b, damp, 1e-6, x0=x)
    assert again[2] <= 2


def test_lsmr_of_compound_entries_and_bad_input():
    A = heddle.generate("dirac", 100)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 4))
    x, istop, *_ = heddle.lsmr(A, b, atol=1e-12, btol=1e-12, maxiter=20000)
    assert istop in (1, 2) and np.linalg.norm(b - A @ x) < 1e-8
    calls = []
    heddle.lsmr(A, b, maxiter=5, callback=lambda *now: calls.append(now))
    assert 5 <= len(calls) <= 6 and heddle.lsmr(A, b, maxiter=5)[1:3] == (7, 5)
    with pytest.raises(ZeroDivisionError):
        heddle.lsmr(A, b, callback=lambda *_: 1 / 0)
    with pytest.raises(heddle.SizeError, match="b has the shape"):
        heddle.lsmr(A, b[:-1])
    with pytest.raises(heddle.UsageError, match="damping"):
        heddle.lsmr(A, b, damp=-1)


def test_functions_give_what_scipys_give():
    A, column = np.diag([1.0, 2.0, 4.0]), np.ones((3, 1))
    for ours, theirs in ((heddle.cg, spla.cg), (heddle.minres, spla.minres),
                         (heddle.bicgstab, spla.bicgstab), (heddle.gmres, spla.gmres)):  # fmt: skip
        x, info = ours(A, column)
        assert info == 0 and x.shape == theirs(A, column)[0].shape == (3,)
        assert ours(np.empty((0, 0)), np.empty(0))[1] == 0
    single = A.astype(np.float32)
    assert heddle.lsmr(single, np.ones(3, np.float32))[0].dtype == np.float64
    assert heddle.lsmr(heddle.Matrix(single), np.ones(3, np.float32))[0].dtype == np.float32
