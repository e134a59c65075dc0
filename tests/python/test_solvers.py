"""Solvers: SciPy's signatures and numbers, callbacks, arrays that are not copied, threads."""

import inspect
import os
import signal
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import heddle


def laplacian(n, dtype=np.float64):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsr().astype(dtype)


functions = [heddle.cg, heddle.minres, heddle.bicgstab, heddle.gmres]


@pytest.mark.parametrize("function", functions)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_agrees_with_scipy(function, dtype):
    A = laplacian(12, dtype)
    b = np.random.default_rng(1).random(144).astype(dtype)
    rtol = 1e-4 if np.dtype(dtype).char in "fF" else 1e-10
    x, info = function(A, b, rtol=rtol, maxiter=2000)
    assert info == 0 and x.dtype == dtype and x.shape == b.shape
    assert np.linalg.norm(b - A @ x) <= 1.01 * rtol * np.linalg.norm(b)
    name = function.__name__
    options = {"rtol": rtol} if name == "minres" else {"rtol": rtol, "atol": 0.0}
    with warnings.catch_warnings():  # SciPy's MINRES drops imaginary parts of norms
        warnings.simplefilter("ignore")
        y, _ = getattr(spla, name)(A, b, maxiter=2000, **options)
    np.testing.assert_allclose(x, y, rtol=1e4 * rtol, atol=1e4 * rtol)


@pytest.mark.parametrize("function", functions)
def test_signature_is_scipys(function):
    own = inspect.signature(function).parameters
    theirs = inspect.signature(getattr(spla, function.__name__)).parameters
    common = [name for name in theirs if name in own]
    assert common[:3] == ["A", "b", "x0"]
    for name in common:
        assert own[name].kind == theirs[name].kind, name
    assert {"rtol", "maxiter", "M", "callback"} <= own.keys()


@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab", "gmres"])
def test_truncated_solves_have_scipys_iterates(name):
    A, b = laplacian(40), np.ones(1600)
    for steps in (1, 2, 5, 20):
        options = {"maxiter": steps}
        if name == "gmres":  # SciPy counts restarts
            options = {"maxiter": 1, "restart": steps}
        x, info = getattr(heddle, name)(A, b, rtol=1e-12, **options)
        y, _ = getattr(spla, name)(A, b, rtol=1e-12, **options)
        assert info > 0 and x.any()
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-8 * abs(y).max())


def test_a_limit_leaves_the_last_iterate_or_the_best():
    A, b = laplacian(40), np.ones(1600)
    last = heddle.Solver(A, "cg", None, maxiter=5).solve(b)
    best = heddle.Solver(A, "cg", None, maxiter=5, keep="best").solve(b)
    assert (last.status, last.returned) == ("iteration limit", "last") and last.residual > 1
    assert (best.returned, best.residual) == ("guess", 1.0) and not best.x.any()
    exact = spla.spsolve(A.tocsc(), b)
    error = last.x - exact
    assert error @ (A @ error) < 0.9 * exact @ (A @ exact)
    assert heddle.Solver(A, "cg").solve(b).returned == "last"
    with pytest.raises(heddle.UsageError, match="keep must be last or best, not 'first'"):
        heddle.Solver(A, keep="first")


def test_info_is_scipys():
    A, b = laplacian(12), np.ones(144)
    _, info = heddle.cg(A, b, rtol=1e-10, maxiter=3)
    assert info == 3
    _, info = heddle.cg(-A, b)
    assert info < 0
    x, info = heddle.cg(A, np.zeros(144))
    assert info == 0 and not x.any()
    x, info = heddle.cg(A, b, x0=np.full(144, 0.5), rtol=1e-8)
    assert info == 0


def test_gmres_counts_restarts_as_scipy_does():
    n = 60
    A, b = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr(), np.ones(n)
    for options, expected in (
        ({"maxiter": 7, "restart": 3}, 7), ({"maxiter": 2}, 2), ({"restart": 3}, 10 * n),
        ({"restart": 5}, 0),  # after 342 restarts, 1710 iterations
        ({"maxiter": 1, "restart": 1000}, 0)):  # fmt: skip
        assert heddle.gmres(A, b, **options)[1] == expected, options
        assert spla.gmres(A, b, **options)[1] == expected, options
    for wrong in ({"restart": 0}, {"restart": -1}):
        with pytest.raises(heddle.UsageError, match="restart"):
            heddle.gmres(A, b, **wrong)
    for wrong in ({"restart": 2.5}, {"maxiter": 2.5}):
        with pytest.raises(TypeError, match="integer"):
            heddle.gmres(A, b, **wrong)


def test_gmres_is_preconditioned_from_the_right():
    rng = np.random.default_rng(4)
    n, steps = 40, 5
    A = np.eye(n) + 0.2 * rng.standard_normal((n, n))
    M, b = np.diag(rng.uniform(1, 5, n)), rng.standard_normal(n)
    x, _ = heddle.gmres(A, b, rtol=1e-12, restart=steps, maxiter=1, M=M)
    space = [b]
    for _ in range(steps - 1):
        space.append(A @ (M @ space[-1]))
    images = A @ M @ np.stack(space, axis=1)
    least = np.linalg.norm(b - images @ np.linalg.lstsq(images, b)[0])
    assert abs(np.linalg.norm(b - A @ x) - least) <= 1e-8 * least


def test_atol_suffices():
    A, b = laplacian(12), np.full(144, 1e-3)
    x, info = heddle.cg(A, b, rtol=0.0, atol=1e-5)
    assert info == 0 and np.linalg.norm(b - A @ x) <= 1e-5


def test_numbers_are_promoted_as_scipy_does():
    A = laplacian(5)
    assert heddle.cg(A, np.ones(25, complex))[0].dtype == complex
    assert heddle.cg(A.astype(np.float32), np.ones(25))[0].dtype == np.float64
    assert heddle.cg(A.astype(int), np.ones(25, int))[0].dtype == np.float64
    assert heddle.cg(A.toarray().tolist(), [1.0] * 25)[1] == 0
    assert heddle.cg(spla.aslinearoperator(A), np.full(25, 1j))[0].dtype == complex


@pytest.mark.parametrize("kind", ["operator", "matrix", "function", "text"])
def test_preconditioners(kind):
    A = laplacian(12) + sp.diags_array(np.linspace(0, 100, 144))
    inverse = sp.diags_array(1 / A.diagonal())
    M = {
        "operator": spla.aslinearoperator(inverse),
        "matrix": inverse,
        "function": lambda r: r / A.diagonal(),
        "text": "jacobi",
    }[kind]
    b = np.ones(144)
    plain = heddle.solve(A, b, method="cg", preconditioner=None)
    result = heddle.solve(A, b, method="cg", preconditioner=M)
    assert result.converged and result.iterations < plain.iterations
    np.testing.assert_allclose(result.x, plain.x, rtol=1e-6)
    assert heddle.cg(A, b, M=M)[1] == 0


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_operators_in_python(dtype):
    A = laplacian(12, dtype)
    b = np.ones(144, dtype)
    rtol = 1e-4 if dtype == np.complex64 else 1e-10
    x, info = heddle.bicgstab(spla.aslinearoperator(A), b, rtol=rtol)
    assert info == 0
    np.testing.assert_allclose(A @ x, b, atol=1e3 * rtol)


def test_callbacks_see_progress_and_may_raise():
    A, b = laplacian(12), np.ones(144)
    seen = []
    solver = heddle.Solver(A, "cg", record_history=True)
    result = solver.solve(b, callback=lambda *progress: seen.append(progress))
    assert [iteration for iteration, _ in seen] == list(range(1, result.iterations))
    np.testing.assert_array_equal([r for _, r in seen], result.history[1:-1])

    def fails(iteration, residual):
        if iteration == 4:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        solver.solve(b, callback=fails)
    assert solver.solve(b).converged

    def broken(r):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        heddle.solve(A, b, method="cg", preconditioner=broken)
    with pytest.raises(heddle.UnsupportedError, match="complex128"):
        heddle.solve(A, b, method="cg", preconditioner=lambda r: r + 1j)
    with pytest.raises(ValueError):
        heddle.solve(A, b, method="cg", preconditioner=lambda r: r[:5])


def test_results_tell_all():
    A = heddle.generate("dirac", 500)
    b = np.random.default_rng(2).random((A.shape[0], 4))
    result = heddle.solve(A, b)
    assert result.method == "cg" and result.status == "converged" and result.residual <= 1e-10
    assert result.x.shape == b.shape and len(result.history) == result.iterations + 1
    assert repr(result).startswith("<heddle.Result: converged after")
    with pytest.raises(heddle.UsageError, match="record_history"):
        heddle.Solver(A).solve(b).history  # noqa: B018
    assert heddle.solve(-1.0 * laplacian(5), np.ones(25), method="cg").status == "indefinite"


def test_auto_takes_what_the_matrix_allows():
    assert heddle.Solver(heddle.generate("helmholtz", 200)).method == "cocr"
    assert heddle.Solver(heddle.generate("elasticity", 200)).method == "cg"
    assert heddle.Solver(np.array([[2.0, 1.0], [0.0, 2.0]])).method == "bicgstab"
    assert heddle.Solver(np.diag([1.0, -1.0]), preconditioner=None).method == "minres"


def test_arrays_are_not_copied():
    A = heddle.generate("poisson", 100_000)
    solver = heddle.Solver(A, "cg", maxiter=200)
    b, x = np.ones(A.shape[0]), np.zeros(A.shape[0])
    assert solver.solve(b, out=x).x is x and x.any()
    product = A.operator()
    tracemalloc.start()
    solver.solve(b, out=x)
    product.apply(b, x)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10_000, "an array of 800 kB was copied"
    before = b.copy()
    solver.solve(b, out=x, x0=x)
    np.testing.assert_array_equal(b, before)


def test_types_are_never_narrowed():
    single = heddle.Solver(np.eye(3, dtype=np.float32))
    with pytest.raises(heddle.UnsupportedError, match="float64"):
        single.solve(np.ones(3))
    assert single.solve(np.ones(3, np.float32)).x.dtype == np.float32
    double = heddle.Solver(np.eye(3))
    assert double.solve(np.ones(3, np.float32)).x.dtype == np.float64
    assert double.solve([1, 2, 3]).converged
    np.testing.assert_array_equal(double.solve(np.arange(6.0)[::2]).x, [0, 2, 4])
    with pytest.raises(heddle.UnsupportedError):
        double.solve(np.ones(3, complex))
    for out in (np.zeros(3, np.float32), np.zeros(6)[::2], np.zeros(3, complex)):
        with pytest.raises(heddle.UnsupportedError, match="out"):
            double.solve(np.ones(3), out=out)
    for b, out in ((np.ones(4), None), (np.ones(3), np.zeros(4)), (np.ones(()), None)):
        with pytest.raises(heddle.SizeError):
            double.solve(b, out=out)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for out in (frozen, [0.0, 0, 0]):
        with pytest.raises(heddle.UnsupportedError, match="writable"):
            double.solve(np.ones(3), out=out)


def test_only_shapes_of_the_vectors_are_taken():
    A = heddle.generate("dirac", 100)
    solver = heddle.Solver(A)
    b = np.random.default_rng(3).random((A.shape[0], 4))
    x = solver.solve(b).x
    flat = np.empty(x.size)
    assert solver.solve(b.reshape(-1), out=flat, x0=np.zeros_like(b)).x is flat
    np.testing.assert_array_equal(flat, x.reshape(-1))
    for wrong in (b.T, b.reshape(-1, 2), b[1:]):
        with pytest.raises(heddle.SizeError, match="b has the shape"):
            solver.solve(np.ascontiguousarray(wrong))
        with pytest.raises(heddle.SizeError, match="x0 has the shape"):
            solver.solve(b, x0=wrong)
        with pytest.raises(heddle.SizeError, match="out has the shape"):
            solver.solve(b, out=np.empty(wrong.shape))
    column = heddle.Solver(np.eye(4)).solve(np.ones((4, 1)))
    assert column.x.shape == (4, 1)
    with pytest.raises(heddle.SizeError):
        heddle.Solver(np.eye(4)).solve(np.ones((2, 2)))
    with pytest.raises(heddle.SizeError, match="the function's result"):
        heddle.solve(np.eye(4), np.ones(4), preconditioner=lambda r: r.reshape(2, 2))


def test_a_matrix_of_scipys_can_get_new_values():
    solver = heddle.Solver(sp.diags_array([2.0, 4.0]).tocsr(), "cg")
    solver.A.update_values([4.0, 8.0])
    np.testing.assert_array_equal(solver.solve(np.ones(2)).x, [0.25, 0.125])


def test_errors_of_two_threads_keep_their_words():
    A = heddle.Matrix(np.eye(2))
    wrong = []

    def fail(name):
        for _ in range(300):
            try:
                heddle.Solver(A, name)
            except heddle.UsageError as error:
                if f"'{name}'" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=fail, args=(name,)) for name in ("short", "longer" * 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_that_is_refused_leaves_b_as_it_is():
    memory = np.arange(1.0, 11)
    before = memory.copy()
    solver = heddle.Solver(np.diag([1.0, 2, 3]))
    b = memory[:3]
    for out, x0 in ((b, None), (b, b), (b, [4.0, 5, 6]), (memory[2:5], None), (memory[2:5], b)):
        with pytest.raises(heddle.UsageError, match="b and out share memory"):
            solver.solve(b, out=out, x0=x0)
    with pytest.raises(heddle.UsageError, match="x0 and out share memory"):
        solver.solve(b, out=memory[4:7], x0=memory[5:8])
    several = memory[:6].reshape(2, 3)
    for out, x0 in ((several, None), (memory[3:9].reshape(2, 3), np.ones((2, 3)))):
        with pytest.raises(heddle.UsageError, match="b and out share memory"):
            solver.solve_all(several, out, x0=x0)
    np.testing.assert_array_equal(memory, before)
    assert solver.solve(b, out=memory[3:6], x0=b).converged  # the guess may share memory with b
    np.testing.assert_array_equal(memory[:3], before[:3])


def test_refuses_devices_methods_and_options():
    A = np.eye(3)
    for options in ({"device": "abacus"}, {"method": "soap"}, {"preconditioner": "soap"},
                    {"plan": "soap"}, {"rtol": -2.0}, {"restart": 0}):  # fmt: skip
        with pytest.raises(heddle.UsageError):
            heddle.Solver(A, **options)
    with pytest.raises(heddle.DeviceError):
        heddle.Solver(A, device="cuda:977")
    with pytest.raises(heddle.SingularError, match="row 1"):
        heddle.Solver(np.array([[1.0, 0], [0, 0]]), "cg", "fsai").solve(np.ones(2))
    with pytest.raises(heddle.SizeError):
        heddle.Solver(np.ones((2, 3)))


def test_texts_end_where_they_end():
    A = heddle.Matrix(np.eye(3))
    calls = [
        lambda: heddle.Solver(A, "cg\0"),
        lambda: heddle.Solver(A, device="cpu\0x"),
        lambda: heddle.Solver(A, plan="CSR\0"),
        lambda: heddle.Solver(A, "cg", "none\0", ranks=1),
        lambda: heddle.read("a\0b"),
        lambda: heddle.generate("poisson\0", 10),
        lambda: A.describe(scaling="nvlink\0"),
        lambda: heddle.tune(A, "cg\0"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="null character"):
            call()


def test_auto_is_a_gpu_or_the_cpu():
    assert heddle.Solver(np.eye(3), device="auto").solve(np.ones(3)).converged


def test_a_matrix_may_die_before_its_solver():
    def make():
        return heddle.Solver(heddle.generate("poisson", 512), "cg", lambda r: r)

    assert make().solve(np.ones(512)).converged


def test_threads_solve_at_once_and_one_solver_refuses_two():
    A = heddle.generate("poisson", 30_000)
    b = np.ones(A.shape[0])
    expected = heddle.solve(A, b).x
    found = [None] * 4

    def work(k):
        found[k] = heddle.Solver(A).solve(b).x

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x in found:
        np.testing.assert_array_equal(x, expected)

    solver = heddle.Solver(A)

    def nested(iteration, residual):
        solver.solve(b)

    with pytest.raises(heddle.BusyError):
        solver.solve(b, callback=nested)


def test_the_interpreters_lock_is_given_up():
    # Python's thread counts while another one solves for a second; this solve does not end before.
    A = heddle.generate("helmholtz", 100_000)
    solver = heddle.Solver(A, "gmres", None, rtol=1e-14, maxiter=10**9, time_limit=1.0)
    thread = threading.Thread(target=solver.solve, args=(np.ones(A.shape[0], dtype=complex),))
    thread.start()
    counts = 0
    while thread.is_alive():
        counts += 1
        time.sleep(0.001)
    assert counts > 20


def test_ctrl_c_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs lack it
    A = heddle.generate("helmholtz", 100_000)
    solver = heddle.Solver(A, "gmres", None, rtol=1e-14, maxiter=10**9, time_limit=120)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve(np.ones(A.shape[0], complex))


def test_a_forked_child_solves():
    A = heddle.generate("poisson", 30_000)
    solver = heddle.Solver(A)
    b = np.ones(A.shape[0])
    expected = solver.solve(b).x
    child = os.fork()
    if child == 0:
        same = np.array_equal(solver.solve(b).x, expected)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("method", ["cr", "cg", "minres"])
def test_levels_in_floats_serve_every_hermitian_method(method):
    A = heddle.generate("poisson", 3000)
    solver = heddle.Solver(A, method, "multigrid:single", rtol=1e-10, maxiter=200)
    result = solver.solve(np.ones(A.shape[0]))
    assert result.converged, result
