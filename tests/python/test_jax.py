"""Solves as functions of JAX, where that is installed: ``heddle.jax``."""

import functools
import gc
import pathlib
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from gpu_packages import needs_gpu

import heddle

jax = pytest.importorskip("jax")
heddle_jax = pytest.importorskip("heddle.jax")
jnp = jax.numpy
sparse = pytest.importorskip("jax.experimental.sparse")
test_util = pytest.importorskip("jax.test_util")
jax.config.update("jax_enable_x64", True)

tight = {"rtol": 1e-13}
has_gpu = any(device.platform == "gpu" for device in jax.devices())
needs_jax_gpu = pytest.mark.skipif(not has_gpu, reason="JAX has no GPU here")
devices = ["cpu", pytest.param("gpu", marks=[needs_gpu, needs_jax_gpu])]


@pytest.fixture(autouse=True)
def where(request):
    """The device of arrays; ``where`` as a parameter of a test names it."""
    name = getattr(request, "param", "cpu")
    with jax.default_device(jax.devices(name)[0]):
        yield name


on_each_device = pytest.mark.parametrize("where", devices, indirect=True)


def system(size, dtype, hermitian=False, seed=None, blocks=1):
    """A dense matrix with a diagonal that dominates, zeros in blocks, and the generator."""
    rng = np.random.default_rng(seed)
    shape = size * blocks, size * blocks

    def draw(*shape):
        numbers = rng.standard_normal(shape)
        if np.dtype(dtype).kind == "c":
            numbers = numbers + 1j * rng.standard_normal(shape)
        return jnp.asarray(numbers.astype(dtype))

    kept = rng.random((size, size)) < 0.5
    kept = np.kron(kept | kept.T if hermitian else kept, np.ones((blocks, blocks)))
    A = np.asarray(draw(*shape), np.result_type(dtype, np.float64)) * kept
    A = (A + A.conj().T) / 2 if hermitian else A
    A = A + 6 * np.sqrt(size * blocks) * np.eye(len(A))
    return A.astype(dtype), draw


def entries_of(A, blocks):
    """A dense matrix as a ``heddle.Matrix`` of blocks."""
    size = len(A) // blocks
    tiles = A.reshape(size, blocks, size, blocks).swapaxes(1, 2)
    row, column = np.nonzero(abs(tiles).max((2, 3)))
    return heddle.Matrix((tiles[row, column], (row, column)), (size, size))


def entries_at(own, dense, blocks):
    """The blocks of a dense matrix at the places of ``own``."""
    row = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    tiles = np.asarray(dense).reshape(own.shape[0], blocks, -1, blocks).swapaxes(1, 2)
    return tiles[row, own.indices]


def check_derivatives(f, *arguments, order=1):
    """Against differences, and those of the compiled function against them."""
    test_util.check_grads(f, arguments, order, ["fwd", "rev"], atol=1e-5, rtol=1e-5)
    test_util.check_grads(jax.jit(f), arguments, 1, ["rev"], atol=1e-5, rtol=1e-5)


def check_close(found, expected, limit=1e-10):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and np.isfinite(found).all()
    assert np.linalg.norm(found - expected) <= limit * (1 + np.linalg.norm(expected))


formats = {"bcsr": sparse.BCSR, "bcoo": sparse.BCOO}
dtypes = [np.float32, np.float64, np.complex64, np.complex128]


@on_each_device
@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("name", formats)
def test_solves(name, dtype, where):
    A, draw = system(30, dtype)
    own = formats[name].fromdense(jnp.asarray(A))
    is_single = np.dtype(dtype).name in ("float32", "complex64")
    how, limit = ({}, 1e-4) if is_single else (tight, 1e-11)
    wide = A.astype(np.result_type(dtype, np.float64))
    solver = heddle_jax.Solver(own, **how)
    for shape in ((30,), (30, 3), (30, 0)):
        b = draw(*shape)
        expected = np.linalg.solve(wide, b).astype(dtype)
        for x in (heddle_jax.solve(own, b, **how), solver.solve(b), jax.jit(solver.solve)(b),
                  jax.jit(solver.solve)(b, own.data)):  # fmt: skip
            assert x.dtype == dtype and x.devices() == b.devices()
            check_close(x, expected, limit)


@on_each_device
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("name", formats)
def test_derivatives(name, hermitian, dtype, where):
    A, draw = system(6, dtype, hermitian)
    own = formats[name].fromdense(jnp.asarray(A))
    solver = heddle_jax.Solver(own, "gmres", **tight)
    for shape, order in (((6,), 2), ((6, 2), 1)):
        b = draw(*shape)
        check_derivatives(lambda v, b: solver.solve(b, v), own.data, b, order=order)


@on_each_device
def test_the_gradients_of_linalg(where):
    A, draw = system(17, np.complex128)
    b, weight = draw(17, 2), draw(17, 2)
    own = sparse.BCSR.fromdense(jnp.asarray(A))
    solver = heddle_jax.Solver(own, "gmres", **tight)

    def misfit(solve):
        return lambda a, b: abs((solve(a, b) * weight).sum())

    expected = jax.grad(misfit(jnp.linalg.solve), (0, 1))(jnp.asarray(A), b)
    for transform in (lambda f: f, jax.jit):
        found = transform(jax.grad(misfit(lambda v, b: solver.solve(b, v)), (0, 1)))(own.data, b)
        check_close(found[0], expected[0][A != 0])
        check_close(found[1], expected[1])


def test_the_gradient_of_a_sparse_matrix():
    A, draw = system(9, np.float64)
    own, b = sparse.BCOO.fromdense(jnp.asarray(A)), draw(9)
    found = sparse.grad(lambda A, b: heddle_jax.solve(A, b, **tight).sum())(own, b)
    expected = jax.grad(lambda A: jnp.linalg.solve(A, b).sum())(jnp.asarray(A))
    check_close(found.todense(), np.where(A != 0, expected, 0))

    def solution(data, b):
        return heddle_jax.solve(sparse.BCOO((data, own.indices), shape=own.shape), b, **tight)

    test_util.check_grads(solution, (own.data, b), 2, ["fwd", "rev"], atol=1e-5, rtol=1e-5)


def in_columns(x, n):
    """Vectors of any shape as columns of numbers."""
    return x.reshape(n, -1) if x.ndim < 3 else jnp.moveaxis(x, 1, 2).reshape(n, -1)


compound = [(2, np.float64), (3, np.float64), (4, np.float64), (6, np.float64), (3, np.complex128)]


@pytest.mark.parametrize("blocks, dtype", compound)
def test_derivatives_of_blocks(blocks, dtype):
    A, draw = system(3, dtype, blocks=blocks)
    own, n = entries_of(A, blocks), len(A)
    values = jnp.asarray(own.data)
    solver = heddle_jax.Solver(own, "gmres", **tight)
    for b in (draw(n), draw(n, 2), draw(3, blocks), draw(3, 2, blocks)):
        x = solver.solve(b, values)
        assert x.shape == b.shape
        check_close(in_columns(x, n), np.linalg.solve(A, in_columns(b, n)))
    check_derivatives(lambda v, b: solver.solve(b, v), values, b)
    weight = draw(3, 2, blocks)
    of_values = jax.grad(lambda v: abs((solver.solve(b, v) * weight).sum()))(values)
    expected = jax.grad(lambda A: abs((jnp.linalg.solve(A, in_columns(b, n)) * in_columns(weight, n)).sum()))(
        jnp.asarray(A))  # fmt: skip
    check_close(of_values, entries_at(own, expected, blocks))


@on_each_device
@pytest.mark.parametrize("hermitian", [False, True])
def test_derivatives_of_quaternions(hermitian, where):
    rng = np.random.default_rng()
    row, column = np.nonzero((rng.random((5, 5)) < 0.4) | np.eye(5, dtype=bool))
    data = rng.standard_normal((len(row), 4))
    if hermitian:
        data = np.concatenate([data, data * [1, -1, -1, -1]])
        row, column = np.concatenate([row, column]), np.concatenate([column, row])
    A = heddle.Matrix((data, (row, column)), (5, 5))
    of_row = np.repeat(np.arange(5), np.diff(A.indptr))
    A.update_values(A.data + 15 * (of_row == A.indices)[:, None] * np.array([1, 0, 0, 0]))
    values, several = jnp.asarray(A.data), jnp.asarray(rng.standard_normal((5, 2, 4)))
    solver = heddle_jax.Solver(A, "gmres", **tight)
    columns = several.swapaxes(1, 2).reshape(20, 2)
    for b in (several[:, 0], several[:, 1].reshape(20), several, columns):
        x = solver.solve(b, values)
        assert x.shape == b.shape
        check_derivatives(lambda v, b: solver.solve(b, v), values, b)
    by_fields = np.asarray(heddle_jax.solve(A, several, values=values, method="gmres", **tight))
    np.testing.assert_array_equal(solver.solve(columns).reshape(5, 4, 2), by_fields.swapaxes(1, 2))
    for k in range(2):
        check_close(A @ np.ascontiguousarray(by_fields[:, k]), several[:, k], 1e-11)


@on_each_device
def test_batches(where):
    A, draw = system(11, np.float64)
    own = sparse.BCSR.fromdense(jnp.asarray(A))
    solver = heddle_jax.Solver(own, "gmres", **tight)
    b, c = draw(4, 11), draw(2, 11, 4, 3)
    values = jnp.stack([own.data, 2 * own.data, -own.data, own.data / 3])
    inverse = np.linalg.inv(A)
    for transform in (lambda f: f, jax.jit):
        check_close(transform(jax.vmap(solver.solve))(b), b @ inverse.T)
        twice = jax.vmap(jax.vmap(lambda b: solver.solve(b[:, 0]), 1), 0)
        check_close(transform(twice)(c), np.einsum("ij,zjk->zki", inverse, c[..., 0]))
        scales = np.array([1, 0.5, -1, 3])[:, None]
        check_close(transform(jax.vmap(solver.solve))(b, values), scales * (b @ inverse.T))
        check_close(transform(jax.vmap(solver.solve, (None, 0)))(b[0], values), scales * (inverse @ b[0]))
        check_close(
            transform(jax.vmap(lambda b, x0: solver.solve(b, x0=x0), (0, None)))(b, b[0]), b @ inverse.T)  # fmt: skip
    check_derivatives(jax.vmap(lambda v, b: solver.solve(b, v), (None, 0)), own.data, b[:2])
    check_derivatives(jax.vmap(lambda v, b: solver.solve(b, v)), values[:2], b[:2])


def test_a_batch_is_one_solve_of_several_right_hand_sides(monkeypatch):
    A, draw = system(8, np.float64)
    solver = heddle_jax.Solver(sparse.BCSR.fromdense(jnp.asarray(A)), **tight)
    counts, solve_all = [], solver._own.own.solve_all
    monkeypatch.setattr(
        solver._own.own, "solve_all", lambda b, *rest, **x0: counts.append(len(b)) or solve_all(b, *rest, **x0)
    )
    jax.jit(jax.vmap(solver.solve))(draw(5, 8)).block_until_ready()
    jax.vmap(solver.solve)(draw(5, 8, 3))
    assert counts == [5, 15]


@on_each_device
def test_inside_loops(where):
    A, draw = system(9, np.float64)
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(9)
    solver = heddle_jax.Solver(own, "gmres", **tight)

    def steps(solve, values, b):
        step = lambda x, scale: (solve(values * scale, x) + b, None)
        return jax.lax.scan(jax.checkpoint(step), b, jnp.array([1.0, 2.0, 0.5]))[0].sum()

    dense = jnp.asarray(A)
    expected = jax.grad(functools.partial(steps, jnp.linalg.solve), (0, 1))(dense, b)
    found = jax.grad(functools.partial(steps, lambda v, b: solver.solve(b, v)), (0, 1))(own.data, b)
    check_close(found[0], expected[0][A != 0])
    check_close(found[1], expected[1])


@on_each_device
def test_a_kept_solver_has_the_values_of_each_solve(where):
    A, draw = system(9, np.float64)
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(9)
    given = heddle.Matrix(A)
    for solver in (heddle_jax.Solver(own, "gmres", **tight), heddle_jax.Solver(given, "gmres", **tight)):
        solve = jax.jit(solver.solve)
        plain = jax.jit(jax.value_and_grad(lambda b: solver.solve(b).sum()))
        x = np.linalg.solve(A, b)
        check_close(solve(b, own.data * 2), x / 2)
        total, of_b = plain(b)  # with the values that A had
        check_close(total, x.sum())
        check_close(of_b, np.linalg.solve(A.T, np.ones(9)))
        check_close(jax.grad(lambda b: solver.solve(b, own.data * 4).sum())(b), of_b / 4)
        given.update_values(given.data * 7)  # does not reach the solver
        check_close(plain(b)[0], x.sum())
        check_close(solve(b, x0=jnp.asarray(x)), x)
        check_close(solver.solve(b, np.asarray(own.data), x0=np.asarray(x)), x)
        given.update_values(given.data / 7)


def test_only_a_hermitian_matrix_is_its_own_adjoint():
    A, draw = system(8, np.float64, True)
    for apart, is_own in ((0, True), (1e-16, True), (1e-9, False)):
        other = A.copy()
        i, j = np.argwhere(np.triu(A, 1))[0]
        other[i, j] *= 1 + apart
        solver = heddle_jax.Solver(sparse.BCSR.fromdense(jnp.asarray(other)), **tight)
        of_b = jax.grad(lambda b: solver.solve(b).sum())(draw(8))
        assert (solver._adjoint is None) == is_own
        check_close(of_b, np.linalg.solve(other.T, np.ones(8)), 1e-11)
    # Entries that are small next to the largest one are compared with their own row.
    small = np.zeros((3, 3))
    small[0, 0], small[1:, 1:] = 1, np.array([[2.0, 1.0], [0.0, 2.0]]) * 1e-20
    solver = heddle_jax.Solver(sparse.BCSR.fromdense(jnp.asarray(small)), "gmres", **tight)
    of_b = jax.grad(lambda b: solver.solve(b).sum())(jnp.array([1.0, 1e-20, 1e-20]))
    check_close(of_b, np.linalg.solve(small.T, np.ones(3)))


def test_values_for_one_place_and_for_none():
    """What JAX's formats allow: several values for one place, values for none, columns in any order."""
    values = jnp.array([1.0, 4.0, 2.0, 1.0, 9.0])
    places = jnp.array([[0, 0], [1, 1], [0, 0], [1, 0], [2, 2]])
    b, dense = jnp.array([3.0, 9.0]), np.array([[3.0, 0.0], [1.0, 4.0]])
    summed = sparse.BCOO((values, places), shape=(2, 2))
    check_close(summed.todense(), dense)
    others = jnp.array([2.0, 5.0, 7.0, 1.0, 8.0])
    mixed = sparse.BCSR((others, jnp.array([1, 0, 1, 0, 2]), jnp.array([0, 2, 4])), shape=(2, 2))
    for A, expected in ((summed, dense), (mixed, np.array([[5.0, 2], [1, 7]]))):
        solver = heddle_jax.Solver(A, "gmres", **tight)
        check_close(heddle_jax.solve(A, b, method="gmres", **tight), np.linalg.solve(expected, b))
        check_close(solver.solve(b, 2 * A.data), np.linalg.solve(2 * expected, b))
        check_derivatives(lambda v, b: solver.solve(b, v), A.data, b)
    of_values = jax.grad(lambda v: solver.solve(b, v).sum())(mixed.data)
    assert of_values[4] == 0


def test_doubles_are_asked_for():
    A = heddle.Matrix(np.diag([2.0, 4.0]))
    with jax.enable_x64(False):
        with pytest.raises(heddle.UnsupportedError, match="b is of float32, but A of float64: jax.config"):
            heddle_jax.solve(A, np.ones(2))
        own = sparse.BCSR.fromdense(jnp.asarray([[2.0, 1.0], [0.0, 4.0]]))
        x = jax.jit(heddle_jax.Solver(own).solve)(jnp.ones(2))
        assert x.dtype == np.float32
        check_close(x, np.array([0.375, 0.25]), 1e-6)


def test_multigrid_and_ranks():
    grid = heddle.generate("elasticity", 400)
    fields = np.tile(np.eye(3), (grid.shape[0], 1))  # translations, in columns
    b, values = jnp.ones(3 * grid.shape[0]), jnp.asarray(grid.data)
    solver = heddle_jax.Solver(grid, "cg", "multigrid", candidates=jnp.asarray(fields), rtol=1e-9)
    x, of_both = solver.solve(b, values), jax.grad(lambda v, b: solver.solve(b, v) @ b / 2, (0, 1))
    of_values, of_b = of_both(values, b)
    check_close(of_b, x, 1e-6)
    row = np.repeat(np.arange(grid.shape[0]), np.diff(grid.indptr))
    fields = np.asarray(x).reshape(-1, 3)
    check_close(of_values, -fields[row][:, :, None] * fields[grid.indices][:, None, :] / 2, 1e-6)
    shared = jax.jit(heddle_jax.Solver(grid, "cg", ranks=2, rtol=1e-9).solve)(b, values)
    check_close(shared, x, 1e-6)


def test_null_spaces_and_shifts():
    ring = 2 * np.eye(6) - np.roll(np.eye(6), 1, 0) - np.roll(np.eye(6), -1, 0)
    flow = ring + 0.5 * (np.roll(np.eye(6), 1, 0) - np.roll(np.eye(6), -1, 0))  # not symmetric
    b, weight = jnp.linspace(-1, 2, 6), jnp.arange(6.0) ** 2
    for A, method in ((ring, "cg"), (flow, "gmres")):
        own = sparse.BCSR.fromdense(jnp.asarray(A))
        solver = heddle_jax.Solver(own, method, None, null_space=jnp.ones(6), **tight)
        check_close(jax.grad(lambda b: solver.solve(b) @ weight)(b), np.linalg.pinv(A).T @ weight)
        solver = heddle_jax.Solver(own, method, shift=0.5, **tight)
        expected = np.linalg.solve(A.T + 0.5 * np.eye(6), weight)
        check_close(jax.jit(jax.grad(lambda b: solver.solve(b) @ weight))(b), expected)


def test_own_preconditioners():
    for hermitian in (True, False):
        A, draw = system(6, np.float64, hermitian)
        diagonal = np.diagonal(A)
        own = sparse.BCSR.fromdense(jnp.asarray(A))
        solver = heddle_jax.Solver(own, "gmres", lambda r: r / diagonal, **tight)
        b, of_b = draw(6), jax.grad(lambda b: solver.solve(b).sum())
        check_close(jax.jit(solver.solve)(b), np.linalg.solve(A, b))
        if hermitian:
            check_close(jax.jit(of_b)(b), np.linalg.solve(A, np.ones(6)))
        else:
            with pytest.raises(heddle.UnsupportedError, match="must be a text"):
                of_b(b)


def test_a_solve_that_does_not_converge_raises():
    A, draw = system(40, np.float64)
    A = A + 5 * np.asarray(draw(40, 40))
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(40, 2)
    solver = heddle_jax.Solver(own, "gmres", maxiter=3)
    with pytest.raises(heddle_jax.NotConvergedError, match="iteration limit") as raised:
        solver.solve(b)
    assert raised.value.status == "iteration limit" and raised.value.residual > 1e-3
    assert isinstance(raised.value, heddle.NotConvergedError) and len(raised.value.results) == 2
    for solve in (jax.jit(solver.solve), jax.jit(jax.vmap(solver.solve, 1, 1))):
        with pytest.raises(jax.errors.JaxRuntimeError, match="the solve ended as 'iteration limit'"):
            solve(b).block_until_ready()
    x = jnp.linalg.solve(jnp.asarray(A), b)
    of_b = jax.grad(lambda b: solver.solve(b, x0=x).sum())
    with pytest.raises(heddle_jax.NotConvergedError, match="the adjoint solve of a gradient"):
        of_b(b)
    with pytest.raises(jax.errors.JaxRuntimeError, match="the adjoint solve of a gradient"):
        jax.jit(of_b)(b).block_until_ready()
    solver = heddle_jax.Solver(own, "gmres", rtol=1e-300, restart=40)  # at the accuracy limit
    check_close(jax.jit(solver.solve)(b), x)
    with pytest.raises(heddle_jax.NotConvergedError, match="right-hand side is not finite"):
        solver.solve(b.at[3].set(jnp.nan))
    with pytest.raises(jax.errors.JaxRuntimeError, match="right-hand side is not finite"):
        jax.jit(solver.solve)(b.at[3].set(jnp.nan)).block_until_ready()
    with pytest.raises(heddle_jax.NotConvergedError, match="entry of A at row"):
        solver.solve(b, own.data.at[3].set(jnp.inf))


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError


errors = [(KeyboardInterrupt(), "KeyboardInterrupt"), (MemoryError("no room"), "MemoryError: no room"),
          (heddle.DeviceError("gone"), "DeviceError: gone"), (Unspeakable(), "Unspeakable")]  # fmt: skip


@pytest.mark.parametrize("error, words", errors, ids=[words for _, words in errors])
def test_any_error_reaches_the_caller(monkeypatch, error, words):
    A, draw = system(5, np.float64)
    solver = heddle_jax.Solver(sparse.BCSR.fromdense(jnp.asarray(A)))

    def fail(*_):
        raise error

    monkeypatch.setattr(solver, "solve_on_host", fail)
    with pytest.raises(jax.errors.JaxRuntimeError, match=words):
        jax.jit(solver.solve)(draw(5)).block_until_ready()
    with pytest.raises(type(error)):
        solver.solve(draw(5))


def test_threads_share_a_solver():
    A, draw = system(60, np.float64)
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(60)
    solver = heddle_jax.Solver(own, "gmres", **tight)
    solve = jax.jit(jax.value_and_grad(lambda v, b: solver.solve(b, v).sum()))
    total, of_values = solve(own.data, b)
    wrong = []

    def work(scale):
        for _ in range(10):
            found = solve(own.data * scale, b)
            close = np.allclose(found[0], total / scale) and np.allclose(found[1], of_values / scale**2)
            wrong.extend([] if close else [scale])

    threads = [threading.Thread(target=work, args=(k + 1.0,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_solvers_live_as_long_as_what_uses_them():
    A, draw = system(5, np.float64)
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(5)

    def kept():
        gc.collect()
        return [one for one in gc.get_objects() if type(one) is heddle_jax.Solver]

    jax.clear_caches()
    before = len(kept())
    jax.grad(lambda b: heddle_jax.solve(own, b).sum())(b)
    assert len(kept()) == before
    check_close(jax.jit(lambda: heddle_jax.solve(own, b, x0=b, **tight))(), np.linalg.solve(A, b))
    jax.clear_caches()
    assert len(kept()) == before
    x, pull = jax.vjp(lambda b: heddle_jax.solve(own, b, **tight), b)
    for _ in range(2):
        check_close(pull(b)[0], np.linalg.solve(A.T, b))
        assert len(kept()) == before + 1
    del pull
    assert len(kept()) == before
    compiled = jax.jit(heddle_jax.Solver(own, "gmres", **tight).solve).lower(b).compile()
    jax.clear_caches()
    check_close(compiled(b), np.linalg.solve(A, b))
    del heddle._jax_primitive._solvers[max(one.key for one in kept())]
    with pytest.raises((RuntimeError, ValueError), match="no longer exists: keep it"):
        compiled(b).block_until_ready()
    del compiled
    assert len(kept()) == before


def test_a_program_may_end_before_its_solve():
    program = """
import jax, numpy, heddle, heddle.jax
jax.config.update("jax_enable_x64", True)
A = heddle.generate("poisson", 100000)
solver = heddle.jax.Solver(A, "cg", None, rtol=1e-13)
x = jax.jit(lambda b: 2 * solver.solve(2 * b))(jax.numpy.ones((A.shape[0], 20)))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


with jax.default_device(jax.devices("cpu")[0]):
    eye, ones = sparse.BCSR.fromdense(jnp.eye(4)), jnp.ones(4)
    batch = sparse.BCSR.fromdense(jnp.ones((2, 4, 4)), n_batch=1)
dual = heddle.Matrix((np.eye(1, 8), ([0], [0])), (1, 1))
refused = [
    ("an A of integers", heddle.UnsupportedError, "A is of int64",
     lambda s: s(sparse.BCSR.fromdense(jnp.eye(4, dtype=int)), ones)),
    ("half precision", heddle.UnsupportedError, "A is of float16",
     lambda s: s(sparse.BCOO.fromdense(jnp.eye(4, dtype=jnp.float16)), ones)),
    ("two dtypes", heddle.UnsupportedError, "b is of float32, but A of float64: convert",
     lambda s: s(eye, ones.astype(np.float32))),
    ("a complex b", heddle.UnsupportedError, "convert", lambda s: s(eye, ones * 1j)),
    ("a dense A", heddle.UsageError, "BCSR.fromdense", lambda s: s(jnp.eye(4), ones)),
    ("no matrix", heddle.UsageError, "A is of the type NoneType", lambda s: s(None, ones)),
    ("an adjoint", heddle.UsageError, "A is of the type Adjoint", lambda s: s(heddle.Matrix(np.eye(4)).H, ones)),
    ("a list", heddle.UsageError, "b is of the type list", lambda s: s(eye, [1.0] * 4)),
    ("not square", heddle.SizeError, "square", lambda s: s(sparse.BCSR.fromdense(jnp.ones((4, 3))), ones)),
    ("a batch", heddle.UnsupportedError, "batches", lambda s: s(batch, ones)),
    ("a short b", heddle.SizeError, r"\(3,\), not \(4,\) or \(4, k\)", lambda s: s(eye, ones[:3])),
    ("a number", heddle.SizeError, r"\(\), not", lambda s: s(eye, ones[0])),
    ("another x0", heddle.SizeError, "x0", lambda s: s(eye, ones, x0=ones[:, None])),
    ("values of a BCSR", heddle.UsageError, "heddle.Matrix", lambda s: s(eye, ones, values=ones)),
    ("short values", heddle.SizeError, r"values has the shape \(3,\), not \(4,\)",
     lambda s: heddle_jax.Solver(eye).solve(ones, ones[:3])),
    ("short values of a matrix", heddle.SizeError, r"\(4,\), not \(1, 8\)",
     lambda s: heddle_jax.Solver(dual).solve(jnp.ones(8), ones)),
    ("an unknown setting", heddle.UsageError, "did you mean rtol", lambda s: s(eye, ones, rtoll=1)),
    ("a traced A", heddle.UsageError, "outside of the function", lambda s: jax.jit(s)(eye, ones)),
    ("a batch of values", heddle.UsageError, "outside of the function",
     lambda s: jax.vmap(lambda v: s(sparse.BCSR((v, eye.indices, eye.indptr), shape=(4, 4)), ones))(
         jnp.ones((2, 4)))),
    ("the gradient of a dual quaternion", heddle.UnsupportedError, "no gradients",
     lambda s: jax.grad(lambda b: s(dual, b).sum())(jnp.ones(8))),
]  # fmt: skip


@pytest.mark.parametrize("error, words, call", [pytest.param(*rest, id=name) for name, *rest in refused])
def test_refuses(error, words, call):
    with pytest.raises(error, match=words):
        call(heddle_jax.solve)


@needs_gpu
@needs_jax_gpu
def test_devices_that_differ():
    own, b = jax.device_put((eye, ones), jax.devices("gpu")[0])
    for solver, b, words in ((heddle_jax.Solver(own), ones, "on a GPU, but JAX solves on"),
                             (heddle_jax.Solver(own, device="cpu"), b, "on the CPU, but JAX solves on")):  # fmt: skip
        for solve in (solver.solve, jax.jit(solver.solve)):
            with pytest.raises(heddle.UsageError, match=words):
                solve(b)


@needs_gpu
@needs_jax_gpu
@pytest.mark.parametrize("where", ["gpu"], indirect=True)
def test_new_values_stay_on_the_gpu(monkeypatch, where):
    A, draw = system(50, np.float64)
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(50)
    solver = heddle_jax.Solver(own, "bicgstab", rtol=1e-12)
    of_both = jax.jit(jax.grad(lambda v, b: solver.solve(b, v).sum(), (0, 1)))
    of_both(own.data, b)  # compiles
    monkeypatch.setattr(heddle._matrix, "to_host", None)
    for scale in (2.0, 3.0, 1.0):
        values = own.data * scale
        with jax.transfer_guard("disallow"):
            found = of_both(values, b)
        expected = jax.grad(lambda A, b: jnp.linalg.solve(A, b).sum(), (0, 1))(jnp.asarray(A) * scale, b)
        check_close(found[0], np.asarray(expected[0])[A != 0])
        check_close(found[1], expected[1])


@needs_gpu
@needs_jax_gpu
@pytest.mark.parametrize("where", ["gpu"], indirect=True)
def test_a_solve_of_a_gpu_that_does_not_converge_is_nan(where):
    A, draw = system(40, np.float64)
    A = A + 5 * np.asarray(draw(40, 40))
    own, b = sparse.BCSR.fromdense(jnp.asarray(A)), draw(40)
    short = heddle_jax.Solver(own, "bicgstab", maxiter=2)
    assert np.isnan(short.solve(b)).all() and np.isnan(jax.jit(short.solve)(b)).all()
    assert np.isnan(jax.grad(lambda v: short.solve(b, v).sum())(own.data)).all()
    two = jnp.stack([b, jnp.zeros(40)])
    x = jax.vmap(short.solve)(two)
    assert np.isnan(x[0]).all() and (x[1] == 0).all()


@needs_gpu
@needs_jax_gpu
@pytest.mark.parametrize("where", ["gpu"], indirect=True)
def test_solves_of_a_gpu_are_in_the_order_of_the_stream(where):
    A = heddle.generate("poisson", 20000)
    solver = heddle_jax.Solver(A, "cg", rtol=1e-12)
    n = A.shape[0]

    @jax.jit
    def steps(b, values, big):
        for scale in (1.0, 2.0, 4.0):
            late = (big @ big)[0, 0] * 0
            b = solver.solve(b * scale + late, values * scale + late)
        return b

    b, big = jnp.ones(n), jnp.asarray(np.random.default_rng().random((3000, 3000)))
    own = heddle.Solver(A, "cg", rtol=1e-12)
    expected = np.ones(n)
    for _ in range(3):
        expected = own.solve(expected).x
    for _ in range(3):
        check_close(steps(b, jnp.asarray(A.data), big), expected, 1e-8)


def test_heddle_does_not_import_jax():
    program = "import sys, heddle; assert 'jax' not in sys.modules; import heddle.jax"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_page_of_the_guide():
    page = pathlib.Path(__file__).parents[2] / "docs/guide/doors.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    own = [program for program in programs if "heddle.jax" in program]
    assert own
    for program in own:
        subprocess.run([sys.executable, "-c", program], check=True)
