"""Ranks that are threads, and solvers of edited trees."""

import numpy as np
import pytest

import heddle

A = heddle.generate("dirac", 1500)
b = np.random.default_rng(1).standard_normal((A.shape[0], 4))


def test_ranks_have_the_bits_of_one():
    alone = heddle.Solver(A, "cg", plan="CSR", record_history=True).solve(b)
    for ranks in (1, 2, 3):
        for partition, exchange in (("entries", "task"), ("rows", "vector")):
            solver = heddle.Solver(
                A, "cg", plan="CSR", ranks=ranks, partition=partition, exchange=exchange,
                record_history=True)  # fmt: skip
            result = solver.solve(b)
            assert result.converged and (result.x == alone.x).all()
            assert (result.history == alone.history).all()
            again = solver.solve(b, out=result.x, x0=result.x)
            assert again.iterations == 0 and again.x is result.x
    assert heddle.solve(A, b, ranks=2).converged


@pytest.mark.parametrize("preconditioner", ["multigrid", "fsai", "block-jacobi"])
def test_preconditioners_of_all_rows_have_the_bits_of_one_rank(preconditioner):
    alone = heddle.Solver(A, "cg", preconditioner, plan="CSR").solve(b)
    for ranks in (1, 3):
        result = heddle.Solver(A, "cg", preconditioner, plan="CSR", ranks=ranks).solve(b)
        assert result.converged and result.iterations == alone.iterations
        assert (result.x == alone.x).all()


@pytest.mark.parametrize("method", ["cg", "minres", "cr", "bicgstab", "gmres", "chebyshev"])
def test_a_rank_without_rows_does_what_the_others_do(method):
    """Of 200 rows one rank has all, in solves of more than 100 iterations."""
    n = 200
    line = heddle.Matrix(
        (np.r_[np.full(n, 2.0), np.full(2 * n - 2, -1.0)],
         (np.r_[np.arange(n), np.arange(n - 1), np.arange(1, n)],
          np.r_[np.arange(n), np.arange(1, n), np.arange(n - 1)])),
        (n, n))  # fmt: skip
    right = np.random.default_rng(6).standard_normal(n)
    options = {"plan": "CSR", "maxiter": 400}
    alone = heddle.Solver(line, method, None, **options, ranks=1).solve(right)
    for ranks in (2, 5):
        result = heddle.Solver(line, method, None, **options, ranks=ranks).solve(right)
        assert result.status == alone.status and result.iterations == alone.iterations
        assert (result.x == alone.x).all()


def test_ranks_take_new_values_and_a_shift():
    B = heddle.Matrix((A.data, A.indices, A.indptr), A.shape)
    solver = heddle.Solver(B, "cg", ranks=2, rtol=1e-10)
    first = solver.solve(b).x
    B.update_values(2 * B.data)
    np.testing.assert_allclose(solver.solve(b).x, first / 2, rtol=1e-7, atol=1e-9)
    x = heddle.Solver(A, "cg", ranks=2, shift=0.5).solve(b).x
    assert np.linalg.norm(A @ x + 0.5 * x - b) <= 1e-9 * np.linalg.norm(b)


def test_ranks_solve_several_systems():
    systems = np.stack([b, -b[::-1], b + 1])
    for method, ranks in (("cg", 2), ("block-cg", 3)):
        alone = heddle.Solver(A, method, plan="CSR").solve_all(systems)
        solver = heddle.Solver(A, method, plan="CSR", ranks=ranks)
        shared = solver.solve_all(systems)
        assert [one.iterations for one in shared] == [one.iterations for one in alone]
        assert all(one.converged and (one.x == of.x).all() for one, of in zip(shared, alone))
        x = np.stack([one.x for one in shared])
        assert all(one.iterations == 0 for one in solver.solve_all(systems, x, x0=x))


def test_ranks_split_the_boundary_and_take_first_rows():
    for options in ({"boundary": "split"}, {"partition": "0,512"}):
        result = heddle.Solver(A, "cg", ranks=2, **options).solve(b)
        assert result.converged and np.linalg.norm(A @ result.x - b) <= 2e-10 * np.linalg.norm(b)


def test_the_number_of_ranks_may_be_chosen():
    result = heddle.Solver(A, "cg", ranks="auto").solve(b)  # one processor has one memory
    assert result.converged
    with pytest.raises(heddle.UnsupportedError, match="adjoint"):
        heddle.Solver(A.H, "cg", None, ranks="auto")


def test_ranks_know_the_null_space():
    n = 1200
    ring = heddle.Matrix(
        (np.r_[np.full(n, 2.0), np.full(2 * n, -1.0)],
         (np.tile(np.arange(n), 3), np.r_[np.arange(n), np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)])),
        (n, n))  # fmt: skip
    right = np.random.default_rng(3).standard_normal(n)
    alone = heddle.Solver(ring, "cg", plan="CSR", null_space=np.ones(n)).solve(right)
    assert alone.converged
    for ranks in (1, 3):
        solver = heddle.Solver(ring, "cg", plan="CSR", null_space=np.ones(n), ranks=ranks)
        result = solver.solve(right)
        assert result.converged and (result.x == alone.x).all()


@pytest.mark.parametrize("kind", ["coordinates", "candidates", "adaptive"])
def test_multigrid_of_ranks_takes_what_it_takes_alone(kind):
    B = heddle.generate("elasticity", 1500)
    right = np.random.default_rng(4).standard_normal((B.shape[0], 3))
    fields = np.stack([np.tile(row, (B.shape[0], 1)) for row in np.eye(3)])
    given = {
        "coordinates": {"coordinates": np.random.default_rng(5).random((B.shape[0], 3))},
        "candidates": {"candidates": fields, "strength": 0.05},
        "adaptive": {"candidates": "adaptive"},
    }[kind]
    alone = heddle.Solver(B, "cg", "multigrid", plan="CSR", **given).solve(right)
    shared = heddle.Solver(B, "cg", "multigrid", plan="CSR", ranks=2, **given).solve(right)
    assert shared.converged and shared.iterations == alone.iterations
    assert (shared.x == alone.x).all()


def test_callbacks_of_ranks_may_raise():
    calls = []
    solver = heddle.Solver(A, "cg", ranks=3)
    result = solver.solve(b, callback=lambda *now: calls.append(now))
    assert len(calls) == result.iterations - 1
    with pytest.raises(ZeroDivisionError):
        solver.solve(b, callback=lambda *_: 1 / 0)
    with pytest.raises(heddle.BusyError):
        solver.solve(b, callback=lambda *_: solver.solve(b))
    assert solver.solve(b).converged


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ranks": 0}, heddle.UsageError, "1 to 1024"),
        ({"device": "cpu,cpu,cpu"}, heddle.UsageError, "names 3 devices"),
        ({"device": "gpu"}, heddle.UsageError, "gpu"),
        ({"partition": "halves"}, heddle.UsageError, "halves"),
        ({"exchange": "never"}, heddle.UsageError, "never"),
        ({"plan": "C=4,sigma=n"}, heddle.UsageError, "sigma=256"),
        ({"preconditioner": lambda r: r}, heddle.UnsupportedError, "by their text"),
        ({"boundary": "thin"}, heddle.UsageError, "thin"),
        ({"partition": "0,5"}, heddle.UsageError, "not a multiple of 256"),
        ({"storage": "hisparse"}, heddle.UnsupportedError, "sliced"),
        ({"null_space": np.ones(3)}, heddle.SizeError, "null_space"),
        ({"candidates": np.ones(b.shape)}, heddle.UsageError, "multigrid"),
    ],
)
def test_what_ranks_do_not_take(options, error, words):
    with pytest.raises(error, match=words):
        heddle.Solver(A, **{"method": "cg", "ranks": 2, **options})


def test_ranks_share_square_matrices_alone():
    with pytest.raises(heddle.SizeError, match="square"):
        heddle.Solver(np.ones((2, 3)), "cg", ranks=2)
    with pytest.raises(heddle.UnsupportedError, match="adjoint"):
        heddle.Solver(A.H, "cg", None, ranks=2)
    singular = heddle.Matrix(([1.0, 1.0], ([0, 1], [1, 0])), (2, 2))
    with pytest.raises(ArithmeticError, match="row 0"):
        heddle.Solver(singular, "minres", "fsai", ranks=1)
    solver = heddle.Solver(A, "cg", ranks=2)
    with pytest.raises((heddle.UnsupportedError, heddle.UsageError), match="ranks"):
        solver.enqueue(b, b)


def test_ranks_enqueue_nothing():
    solver = heddle.Solver(np.eye(3), "cg", ranks=2)
    b, x = np.ones(3), np.zeros(3)
    for call in (
        lambda: solver.enqueue(b, x), lambda: solver.prepare_enqueue(b, x), solver.wait,
        solver.cancel,
    ):  # fmt: skip
        with pytest.raises(heddle.UnsupportedError, match="ranks enqueues nothing"):
            call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edited_trees(dtype):
    rng = np.random.default_rng(2)
    dense = np.diag(np.full(200, 4.0)) + np.diag(np.ones(199), 1) + np.diag(np.ones(199), -1)
    dense = dense.astype(dtype)
    solver = heddle.Solver(heddle.Matrix(dense), "minres", storage="hisparse", rtol=1e-5)
    right = rng.standard_normal(200).astype(dtype)
    before = solver.solve(right).x
    edits = {
        "set": (np.array([7, 7], dtype), ([3, 150], [3, 150])),
        "add": (np.array([1, 1], dtype), ([0, 199], [199, 0])),
        "remove": ([10, 11], [11, 10]),
    }
    edited = solver.edited(**edits)
    for row, column, value in ((3, 3, 7), (150, 150, 7), (0, 199, 1), (199, 0, 1)):
        dense[row, column] = value
    dense[10, 11] = dense[11, 10] = 0
    x = edited.solve(right).x
    assert edited.A is None and edited.method == "minres" and x.dtype == dtype
    assert np.linalg.norm(dense @ x - right) <= 2e-5 * np.linalg.norm(right)
    assert (solver.solve(right).x == before).all()
    again = edited.edited(add=(np.array([1], dtype), ([3], [3])))
    dense[3, 3] += 1
    x = again.solve(right).x
    assert np.linalg.norm(dense @ x - right) <= 2e-5 * np.linalg.norm(right)
    with pytest.raises(heddle.SizeError, match="row 10, column 11"):
        edited.edited(remove=([10], [11]))
    with pytest.raises(heddle.UsageError, match="row 1, column 1"):
        solver.edited(remove=([1], [1]), add=(np.ones(1, dtype), ([1], [1])))
    with pytest.raises(heddle.UsageError, match="storage='hisparse'"):
        heddle.Solver(dense, "minres").edited()
    solver.A.update_values(solver.A.data)
    with pytest.raises(heddle.UsageError, match="remake"):
        solver.edited()
