"""Heddle's solvers under lineax, where that is installed: ``heddle.lineax``."""

import subprocess
import sys

import numpy as np
import pytest

import heddle

jax = pytest.importorskip("jax")
lx = pytest.importorskip("lineax")
eqx = pytest.importorskip("equinox")
heddle_lineax = pytest.importorskip("heddle.lineax")
sparse = pytest.importorskip("jax.experimental.sparse")
test_util = pytest.importorskip("jax.test_util")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)

solver = heddle_lineax.Solver(rtol=1e-13)
dtypes = [np.float64, np.complex128]


@pytest.fixture(autouse=True)
def on_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def system(size, dtype, hermitian=False):
    rng = np.random.default_rng()

    def draw(*shape):
        numbers = rng.standard_normal(shape)
        if np.dtype(dtype).kind == "c":
            numbers = numbers + 1j * rng.standard_normal(shape)
        return jnp.asarray(numbers)

    A = draw(size, size) * (rng.random((size, size)) < 0.5)
    A = (A + A.conj().T) / 2 if hermitian else A
    return A + 6 * np.sqrt(size) * jnp.eye(size), draw


def check_close(found, expected, limit=1e-10):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and np.isfinite(found).all()
    assert np.linalg.norm(found - expected) <= limit * (1 + np.linalg.norm(expected))


@pytest.mark.parametrize("dtype", dtypes)
def test_dense_operators(dtype):
    A, draw = system(7, dtype)
    b = draw(7)

    def solution(A, b):
        return lx.linear_solve(lx.MatrixLinearOperator(A), b, solver).value

    for solve in (solution, jax.jit(solution)):
        check_close(solve(A, b), np.linalg.solve(A, b))
    test_util.check_grads(jax.jit(solution), (A, b), 2, ["fwd", "rev"], atol=1e-5, rtol=1e-5)
    several = draw(4, 7)
    for axes, right in (((None, 0), several), ((0, None), b), ((0, 0), several)):
        left = A if axes[0] is None else jnp.stack([A, 2 * A, -A, A / 3])
        found = jax.vmap(solution, axes)(left, right)
        expected = jax.vmap(jnp.linalg.solve, axes)(left, right)
        check_close(found, expected)


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("kind", [sparse.BCSR, sparse.BCOO])
def test_sparse_operators(kind, dtype):
    A, draw = system(7, dtype)
    own, b = kind.fromdense(A), draw(7)
    operator = heddle_lineax.SparseOperator.of(own)
    check_close(operator.as_matrix(), A)
    check_close(lx.diagonal(operator), jnp.diagonal(A))
    for other, dense in ((operator, A), (operator.T, A.T), (lx.conj(operator), A.conj()),
                         (lx.conj(operator.T), A.conj().T)):  # fmt: skip
        check_close(other.mv(b), dense @ b)
        check_close(lx.linear_solve(other, b, solver).value, np.linalg.solve(dense, b))

    def solution(data, b):
        return lx.linear_solve(operator.with_data(data), b, solver).value

    test_util.check_grads(jax.jit(solution), (own.data, b), 2, ["fwd", "rev"], atol=1e-5, rtol=1e-5)
    solve = eqx.filter_jit(lambda operator, b: lx.linear_solve(operator, b, solver))
    found = solve(operator.with_data(2 * own.data), b)
    check_close(found.value, np.linalg.solve(2 * A, b))
    assert found.stats["num_steps"] > 0


@pytest.mark.parametrize("dtype", dtypes)
def test_states(dtype):
    A, draw = system(9, dtype)
    operator, b = lx.MatrixLinearOperator(A), draw(9)
    state = solver.init(operator, {})
    for flips, other, dense in (
        ((), operator, A), (("transpose",), operator.T, A.T), (("conj",), lx.conj(operator), A.conj()),
        (("conj", "transpose"), lx.conj(operator).T, A.conj().T),
        (("transpose", "conj", "transpose"), lx.conj(operator), A.conj()),
    ):  # fmt: skip
        own = state
        for flip in flips:
            own, options = getattr(solver, flip)(own, {})
            assert options == {}
        check_close(lx.linear_solve(other, b, solver, state=own).value, np.linalg.solve(dense, b))


def test_tags_choose_the_method():
    A, draw = system(8, np.float64, True)
    b = draw(8)
    for tags, sign, method in ((lx.positive_semidefinite_tag, 1, "cg"), (lx.symmetric_tag, 1, "gmres"),
                               (lx.negative_semidefinite_tag, -1, "gmres")):  # fmt: skip
        operator = lx.MatrixLinearOperator(sign * A, tags)
        state = solver.init(operator, {})
        assert state.solver._own.own.method == method
        check_close(lx.linear_solve(operator, b, solver).value, sign * np.linalg.solve(A, b))
    operator = heddle_lineax.SparseOperator.of(sparse.BCSR.fromdense(A), lx.positive_semidefinite_tag)
    assert lx.is_symmetric(operator) and not lx.is_diagonal(operator) and operator.T.tags == operator.tags
    weight = draw(8)
    of_b = jax.grad(lambda b: lx.linear_solve(operator, b, solver).value @ weight)(b)
    check_close(of_b, np.linalg.solve(A, weight))


def test_trees_of_arrays():
    A, draw = system(6, np.float64)
    inside = {"one": jax.ShapeDtypeStruct((2, 2), np.float64), "two": jax.ShapeDtypeStruct((2,), np.float64)}

    def apply(x):
        y = A @ jnp.concatenate([x["one"].reshape(-1), x["two"]])
        return y[:3], y[3:].reshape(3, 1)

    operator = lx.FunctionLinearOperator(apply, inside)
    b = draw(3), draw(3, 1)
    x = lx.linear_solve(operator, b, solver, options={"y0": jax.tree.map(jnp.ones_like, inside)}).value
    assert x["one"].shape == (2, 2)
    for found, expected in zip(apply(x), b):
        check_close(found, expected)


def test_ends():
    A, draw = system(40, np.float64)
    operator = lx.MatrixLinearOperator(A + 5 * draw(40, 40))
    short, b = heddle_lineax.Solver("gmres", maxiter=3), draw(40)
    found = lx.linear_solve(operator, b, short, throw=False)
    assert found.result == lx.RESULTS.max_steps_reached and found.stats["num_steps"] == 3
    with pytest.raises(Exception, match="maximum number of solver steps"):
        lx.linear_solve(operator, b, short)
    again = lx.linear_solve(operator, b, heddle_lineax.Solver("gmres", restart=40), options={"y0": found.value})
    assert again.result == lx.RESULTS.successful
    check_close(again.value, np.linalg.solve(operator.as_matrix(), b), 1e-5)
    singular = lx.MatrixLinearOperator(jnp.ones((4, 4)))
    assert lx.linear_solve(singular, jnp.arange(4.0), solver, throw=False).result != lx.RESULTS.successful
    with pytest.raises(Exception, match="(?i)non-?finite|breakdown"):
        lx.linear_solve(operator, b * jnp.nan, solver)


def test_refuses():
    with pytest.raises(heddle.SizeError, match="square"):
        lx.linear_solve(lx.MatrixLinearOperator(jnp.ones((4, 3))), jnp.ones(4), solver)
    with pytest.raises(heddle.UsageError, match="did you mean rtol"):
        lx.linear_solve(lx.MatrixLinearOperator(jnp.eye(4)), jnp.ones(4), heddle_lineax.Solver(rtoll=1))
    with pytest.raises(heddle.UsageError, match="array or a list"):
        heddle_lineax.Solver("cg", "multigrid", candidates=np.ones((4, 1)))
    with pytest.raises(heddle.UsageError, match="outside of the function"):
        jax.jit(heddle_lineax.SparseOperator.of)(sparse.BCSR.fromdense(jnp.eye(4)))


def test_heddle_does_not_import_lineax():
    program = "import sys, heddle; assert 'jax' not in sys.modules; import heddle.jax; " \
              "assert 'lineax' not in sys.modules; import heddle.lineax"  # fmt: skip
    subprocess.run([sys.executable, "-c", program], check=True)
