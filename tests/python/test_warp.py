"""Preconditioners and solvers for NVIDIA Warp, where that is installed: ``heddle.warp``."""

import gc
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from gpu_packages import needs_gpu

import heddle

wp = pytest.importorskip("warp")
sp = pytest.importorskip("scipy.sparse")
spla = pytest.importorskip("scipy.sparse.linalg")
heddle_warp = pytest.importorskip("heddle.warp")
wp.config.quiet = True
linear = wp.optim.linear

devices = ["cpu", pytest.param("cuda:0", marks=needs_gpu)]
scalars = [wp.float32, wp.float64]
rng = np.random.default_rng()


def block_of(size, scalar=wp.float64):
    return scalar if size == 1 else wp.types.matrix(shape=(size, size), dtype=scalar)


def in_warp(S, scalar=wp.float64, device="cpu", spare=0):
    """A SciPy matrix of blocks in Warp. ``spare``: room in the arrays that no entry fills."""
    size, rows = S.blocksize[0], S.shape[0] // S.blocksize[0]
    A = wp.sparse.bsr_zeros(rows, rows, block_of(size, scalar), device=device)
    rest = np.full((spare, size, size), np.nan)
    values = np.concatenate([S.data, rest])
    A.offsets = wp.array(S.indptr, dtype=wp.int32, device=device)
    A.columns = wp.array(np.append(S.indices, np.full(spare, -7)), dtype=wp.int32, device=device)
    A.values = wp.array(values if size > 1 else values.ravel(), dtype=A.dtype, device=device)
    A.nnz = len(S.data) + spare
    return A


def set_values(A, data):
    """New values of A's entries, where the old ones lie."""
    values = A.values.numpy()
    values[: len(data)] = data.reshape(-1, *values.shape[1:])
    A.values.assign(values)


def general(rows, size, dtype=np.float64):
    """Blocks whose diagonal dominates, not symmetric, rounded to that type."""
    S = sp.random_array((rows, rows), density=4 / rows, rng=rng) + sp.eye_array(rows)
    S = sp.kron(S, np.ones((size, size))).tobsr(blocksize=(size, size))
    S.data = rng.standard_normal(S.data.shape)
    S = (S + 12 * size * sp.eye_array(rows * size)).tobsr(blocksize=(size, size))
    S.data = S.data.astype(dtype).astype(np.float64)
    return S


def lattice(m, dim=3):
    """Springs between neighbours of a grid, which is held at one face, and their points."""
    grid = np.array(list(itertools.product(range(m), repeat=dim)))
    points = grid + 0.2 * rng.random(grid.shape)
    steps = [s for s in itertools.product((-1, 0, 1), repeat=dim) if s > (0,) * dim]
    weights = m ** np.arange(dim)[::-1]
    first, second = [], []
    for step in steps:
        ends = grid + step
        inside = ((ends >= 0) & (ends < m)).all(axis=1)
        first.append(np.flatnonzero(inside))
        second.append(ends[inside] @ weights)
    i, j = np.concatenate(first), np.concatenate(second)
    d = points[i] - points[j]
    k = 0.5 + rng.random(len(i))
    k = (k / (d * d).sum(1) ** 1.5)[:, None, None] * d[:, :, None] * d[:, None, :]
    rows = np.concatenate([i, j, i, j])
    columns = np.concatenate([i, j, j, i])
    data = np.concatenate([k, k, -k, -k])
    places = (rows[:, None, None] * dim + np.arange(dim)[:, None] + np.zeros((1, dim), int),
              columns[:, None, None] * dim + np.arange(dim) + np.zeros((dim, 1), int))  # fmt: skip
    S = sp.coo_array((data.ravel(), tuple(p.ravel() for p in places)), (m**dim * dim,) * 2)
    free = np.repeat(grid[:, 0] > 0, dim)
    S = S.tocsr()[free][:, free].tobsr(blocksize=(dim, dim))
    return S, points[grid[:, 0] > 0]


def field(numbers, size, scalar=wp.float64, device="cpu"):
    dtype = scalar if size == 1 else wp.types.vector(length=size, dtype=scalar)
    return wp.array(numbers.reshape(-1, size) if size > 1 else numbers, dtype=dtype, device=device)


def numbers(array):
    return array.numpy().ravel().astype(np.float64)


def distance(x, expected):
    return np.linalg.norm(numbers(x) - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("device", devices)
@pytest.mark.parametrize("scalar", scalars)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_solves_are_those_of_scipy(size, scalar, device):
    dtype = np.dtype(scalar.__name__)
    S = general(60, size, dtype)
    A = in_warp(S, scalar, device, spare=5)
    solver = heddle_warp.Solver(A, "bicgstab", rtol=1e-6 if scalar is wp.float32 else 1e-12)
    bound = 1e-4 if scalar is wp.float32 else 1e-10
    for factor in (1, -2):
        if factor != 1:
            S.data *= factor
            set_values(A, S.data)
            solver.update()
        numbers_of_b = rng.standard_normal(60 * size).astype(dtype).astype(np.float64)
        expected = spla.spsolve(S.tocsc(), numbers_of_b)
        b = field(numbers_of_b, size, scalar, device)
        fields = [wp.zeros_like(b), field(np.zeros(60 * size), 1, scalar, device)]
        fields.append(wp.zeros((60, size), dtype=scalar, device=device))
        for x in fields:
            result = solver.solve(b, x)
            assert result.converged and result.x is x
            assert distance(x, expected) < bound
            assert solver.solve(b, x).iterations == 0  # the guess is the solution


def test_only_the_function_solves():
    S, points = lattice(6)
    b = rng.standard_normal(S.shape[0])
    x = field(0 * b, 3)
    result = heddle_warp.solve(
        in_warp(S), field(b, 3), x, method="cg", preconditioner="multigrid",
        coordinates=wp.array(points, dtype=wp.vec3d, device="cpu"), rtol=1e-12)  # fmt: skip
    assert result.converged and result.method == "cg"
    assert distance(x, spla.spsolve(S.tocsc(), b)) < 1e-9
    seen = []
    heddle_warp.solve(in_warp(S), field(b, 3), field(0 * b, 3), method="cg",
                      callback=lambda iteration, residual: seen.append(residual))  # fmt: skip
    assert seen[-1] < seen[0]


@pytest.mark.parametrize("device", devices)
@pytest.mark.parametrize("method", ["cg", "cr", "bicgstab", "gmres"])
def test_multigrid_inside_warps_solvers(method, device):
    S, points = lattice(7)
    A, numbers_of_b = in_warp(S, device=device), rng.standard_normal(S.shape[0])
    b = field(numbers_of_b, 3, device=device)
    M = heddle_warp.preconditioner(A, "multigrid", coordinates=points)
    iterations = {}
    for name, one in (("diag", linear.preconditioner(A, "diag")), ("multigrid", M)):
        x = wp.zeros_like(b)
        iterations[name], residual, tolerance = getattr(linear, method)(
            A, b, x, M=one, tol=1e-10, check_every=1, maxiter=1000)  # fmt: skip
        assert residual <= tolerance
        assert distance(x, spla.spsolve(S.tocsc(), numbers_of_b)) < 1e-7
    assert 5 * iterations["multigrid"] < iterations["diag"]


@pytest.mark.parametrize("scalar", scalars)
def test_coordinates_are_rigid_bodies(scalar):
    S, points = lattice(24, dim=2)
    A = in_warp(S, scalar)
    points = points.astype(scalar.__name__)
    of_vector = wp.array(points, dtype=wp.types.vector(length=2, dtype=scalar), device="cpu")
    r = field(rng.standard_normal(S.shape[0]), 2, scalar)
    images = []
    for given in ({"coordinates": of_vector}, {"candidates": heddle.rigid_body_modes(points)}, {}):
        z = wp.zeros_like(r)
        heddle_warp.preconditioner(A, "multigrid", **given).apply(r, z)
        images.append(numbers(z))
    np.testing.assert_allclose(images[0], images[1], rtol=1e-3, atol=1e-4)
    assert np.linalg.norm(images[0] - images[2]) > 0.01 * np.linalg.norm(images[0])


@pytest.mark.parametrize("device", devices)
@pytest.mark.parametrize("scalar", scalars)
@pytest.mark.parametrize("size", [1, 3])
def test_matvec_combines(size, scalar, device):
    S = general(30, size)
    n, data = S.shape[0], S.diagonal()
    S.data = S.data.astype(scalar.__name__)
    M = heddle_warp.preconditioner(in_warp(S, scalar, device), "jacobi")
    inverse = np.linalg.inv(S.toarray() * np.kron(np.eye(30), np.ones((size, size))))
    assert M.shape == (n, n) and M.device == wp.get_device(device) and M.scalar_type is scalar
    assert data.all()
    of = [field(rng.standard_normal(n), size, scalar, device) for _ in range(2)]
    x, y = of[0], of[1]
    nan = field(np.full(n, np.nan), size, scalar, device)
    image = inverse @ numbers(x)
    for alpha, beta in ((1, 0), (1.0, 0.0), (2.5, 0), (-1.0, 1.0), (0.5, -3)):
        expected = alpha * image + (beta * numbers(y) if beta else 0)
        apart, same = wp.clone(nan), wp.clone(y)
        M.matvec(x, y if beta else nan, apart, alpha=alpha, beta=beta)
        M.matvec(x, same, same, alpha, beta)
        for z in (apart, same):
            np.testing.assert_allclose(numbers(z), expected, rtol=1e-5, atol=1e-6)
    assert linear.aslinearoperator(M) is M


@pytest.mark.parametrize("device", devices)
def test_new_values_reach_the_preconditioner(device):
    S, points = lattice(7)
    r = field(rng.standard_normal(S.shape[0]), 3, device=device)
    old, kept, fresh = (wp.zeros_like(r) for _ in range(3))
    A = in_warp(S, device=device, spare=3)
    M = heddle_warp.preconditioner(A, "multigrid", coordinates=points)
    M.apply(r, old)
    S.data *= 2
    set_values(A, S.data)
    M.apply(r, kept)
    np.testing.assert_array_equal(kept.numpy(), old.numpy())
    M.update()
    M.apply(r, kept)
    np.testing.assert_allclose(kept.numpy(), old.numpy() / 2, rtol=1e-9, atol=1e-12)
    heddle_warp.preconditioner(A, "multigrid", coordinates=points).apply(r, fresh)
    np.testing.assert_allclose(kept.numpy(), fresh.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device", devices)
def test_rows_with_room_for_more_entries(device):
    S = general(20, 3)
    rows = np.repeat(np.arange(20), np.diff(S.indptr))
    order = rng.permutation(len(rows))
    A = wp.sparse.bsr_zeros(20, 20, wp.mat33d, device=device, row_capacity=20)
    given = (wp.array(one[order], dtype=wp.int32, device=device) for one in (rows, S.indices))
    values = wp.array(S.data[order], dtype=wp.mat33d, device=device)
    wp.sparse.bsr_set_from_triplets(A, *given, values, topology="padded")
    assert A.row_counts is not None
    np.testing.assert_array_equal(heddle_warp.matrix(A).toarray(), S.toarray())
    solver = heddle_warp.Solver(A, "gmres", rtol=1e-12)
    b, x = rng.standard_normal(60), wp.zeros(20, dtype=wp.vec3d, device=device)
    for factor in (1.0, 0.5):
        A.values.assign(A.values.numpy() * factor)
        solver.update()
        assert solver.solve(field(b, 3, device=device), x).converged
        assert distance(x, spla.spsolve(factor * S.tocsc(), b)) < 1e-10


@pytest.mark.parametrize("device", devices)
def test_a_loop_of_queued_solves(device):
    S, points = lattice(6)
    A = in_warp(S, device=device)
    solver = heddle_warp.Solver(A, "cg", "multigrid", coordinates=points, rtol=1e-11)
    b, x = (field(np.zeros(S.shape[0]), 3, device=device) for _ in range(2))
    with pytest.raises(heddle.UsageError, match="no solve was enqueued"):
        solver.wait()
    solver.prepare_enqueue(b, x)
    for _ in range(3):
        S.data *= rng.uniform(0.5, 2)
        set_values(A, S.data)
        numbers_of_b = rng.standard_normal(S.shape[0])
        b.assign(numbers_of_b.reshape(-1, 3))
        solver.update()
        solver.enqueue(b, x)
        result = solver.wait()
        assert result.converged and result.x is x
        assert distance(x, spla.spsolve(S.tocsc(), numbers_of_b)) < 1e-8


def test_only_new_values_are_taken():
    S = general(10, 2)
    A = in_warp(S)
    solver, M = heddle_warp.Solver(A), heddle_warp.preconditioner(A)
    A.columns.assign(np.append(A.columns.numpy()[1:], A.columns.numpy()[0]))
    for one in (solver, M):
        with pytest.raises(heddle.UsageError, match="another pattern.*make another"):
            one.update()
    larger = in_warp(general(11, 2))
    for name in ("nrow", "ncol", "offsets", "columns", "values", "nnz"):
        setattr(A, name, getattr(larger, name))
    with pytest.raises(heddle.UsageError, match="another pattern"):
        solver.update()
    A = in_warp(S)
    solver = heddle_warp.Solver(A, "bicgstab", rtol=1e-12)
    other = in_warp(S)  # other arrays with the same pattern
    A.offsets, A.columns, A.values = other.offsets, other.columns, other.values
    set_values(A, 4 * S.data)
    solver.update()
    b, x = rng.standard_normal(20), field(np.zeros(20), 2)
    solver.solve(field(b, 2), x)
    assert distance(x, spla.spsolve(4 * S.tocsc(), b)) < 1e-10


def test_a_solve_that_does_not_converge_says_so():
    S, _ = lattice(7)
    b = rng.standard_normal(S.shape[0])
    A, x = in_warp(S), field(0 * b, 3)
    result = heddle_warp.solve(A, field(b, 3), x, method="cg", maxiter=3)
    assert result.status == "iteration limit" and result.residual > 1e-3 and not result.converged
    b[4] = np.nan
    result = heddle_warp.solve(A, field(b, 3), x, method="cg")
    assert result.status == "not finite" and not result.converged
    solver = heddle_warp.Solver(A, "cg", None)
    S.data[7] = np.nan
    set_values(A, S.data)
    solver.update()
    result = solver.solve(field(np.ones(S.shape[0]), 3), field(0 * b, 3))
    assert result.status == "not finite" and "the entry of A at row" in result.detail


eye = sp.eye_array(6, format="bsr").tobsr(blocksize=(3, 3))


def vec(n=2, dtype=wp.vec3d):
    return wp.zeros(n, dtype=dtype, device="cpu")


refused = [
    ("a SciPy matrix", heddle.UsageError, "type bsr_array, not a warp.sparse", lambda s: s(eye, vec(), vec())),
    ("a b of NumPy", heddle.UsageError, "b is of the type ndarray", lambda s: s(in_warp(eye), np.ones(6), vec())),
    ("two dtypes", heddle.UnsupportedError, "b is of float32, but A of float64",
     lambda s: s(in_warp(eye), vec(2, wp.vec3f), vec())),
    ("integers", heddle.UnsupportedError, "x is of int32", lambda s: s(in_warp(eye), vec(), vec(6, wp.int32))),
    ("half precision", heddle.UnsupportedError, "A is of float16",
     lambda s: s(in_warp(eye, wp.float16), vec(), vec())),
    ("a short b", heddle.SizeError, r"b has the shape \(1,\) of .*, not \(6,\) or \(2,\) of vectors of 3",
     lambda s: s(in_warp(eye), vec(1), vec())),
    ("a transposed x", heddle.SizeError, r"x has the shape \(3, 2\)",
     lambda s: s(in_warp(eye), vec(), wp.zeros((3, 2), dtype=wp.float64, device="cpu"))),
    ("every second", heddle.UnsupportedError, "b is not contiguous", lambda s: s(in_warp(eye), vec(4)[::2], vec())),
    ("wide blocks", heddle.UnsupportedError, "blocks of 2 x 3",
     lambda s: s(wp.sparse.bsr_zeros(3, 2, wp.types.matrix((2, 3), wp.float64), device="cpu"), vec(), vec())),
    ("blocks of five", heddle.UnsupportedError, "blocks of 5 x 5",
     lambda s: s(wp.sparse.bsr_zeros(1, 1, block_of(5), device="cpu"), vec(), vec())),
    ("not square", heddle.SizeError, "square matrix, not one of 3 x 2",
     lambda s: s(wp.sparse.bsr_zeros(3, 2, wp.mat33d, device="cpu"), vec(), vec())),
    ("another device", heddle.UsageError, "device is that of A",
     lambda s: s(in_warp(eye), vec(), vec(), device="cuda")),
    ("an unknown setting", heddle.UsageError, "did you mean rtol", lambda s: s(in_warp(eye), vec(), vec(), rtoll=1)),
    ("an operator of Warp", heddle.UsageError, "LinearOperator of Warp",
     lambda s: s(in_warp(eye), vec(), vec(), preconditioner=heddle_warp.preconditioner(in_warp(eye)))),
    ("shared memory", heddle.UsageError, "share memory", lambda s: (lambda b: s(in_warp(eye), b, b))(vec())),
]  # fmt: skip


@pytest.mark.parametrize("error, words, call", [pytest.param(*rest, id=name) for name, *rest in refused])
def test_refuses(error, words, call):
    with pytest.raises(error, match=words) as raised:
        call(heddle_warp.solve)
    assert "\n" not in str(raised.value)


def test_preconditioners_refuse():
    A = in_warp(eye)
    with pytest.raises(heddle.UsageError, match="did you mean cycle"):
        heddle_warp.preconditioner(A, "multigrid", cycles="w")
    with pytest.raises(heddle.SizeError, match="coordinates"):
        heddle_warp.preconditioner(A, "multigrid", coordinates=vec(3))
    M = heddle_warp.preconditioner(A, "jacobi")
    with pytest.raises(heddle.SizeError, match="z has the shape"):
        M.apply(vec(), vec(5))
    with pytest.raises(heddle.UnsupportedError, match="y is of float32"):
        M.matvec(vec(), vec(2, wp.vec3f), vec(), 2.0, 1.0)


def test_a_capture_of_the_cpu_is_refused():
    A, b, x = in_warp(eye), vec(), vec()
    solver, M = heddle_warp.Solver(A), heddle_warp.preconditioner(A)
    calls = [solver.update, M.update, lambda: solver.solve(b, x), lambda: solver.enqueue(b, x),
             lambda: M.apply(b, x), lambda: heddle_warp.Solver(A)]  # fmt: skip
    with wp.ScopedCapture(device="cpu"):
        for call in calls:
            with pytest.raises(heddle.UsageError, match="records kernels of Warp alone"):
                call()
    assert solver.solve(b, x).converged


def test_nothing_is_kept():
    gc.collect()
    gc.disable()
    try:
        A, x = in_warp(eye), vec()
        M = heddle_warp.preconditioner(A, "jacobi")
        M.matvec(vec(), x, x, 1.0, 0.0)
        heddle_warp.solve(A, vec(), x)
        del M
        kinds = heddle_warp.Solver, heddle_warp.Preconditioner, heddle_warp._Entries
        kept = [one for one in gc.get_objects() if type(one) in kinds]
    finally:
        gc.enable()
    assert not kept


def test_heddle_does_not_import_warp():
    program = "import sys, heddle; assert 'warp' not in sys.modules; import heddle.warp"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_page_of_the_guide():
    page = pathlib.Path(__file__).parents[2] / "docs/guide/doors.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    own = [program for program in programs if "heddle.warp" in program]
    assert own
    for program in own:
        exec(program, {"__name__": "__main__"})


@needs_gpu
def test_devices_that_differ():
    A, there = in_warp(eye), wp.zeros(2, dtype=wp.vec3d, device="cuda:0")
    with pytest.raises(heddle.UsageError, match="b is on the device cuda:0, but A on cpu"):
        heddle_warp.solve(A, there, vec())
    with pytest.raises(heddle.UsageError, match="x is on the device cpu, but A on cuda:0"):
        heddle_warp.solve(in_warp(eye, device="cuda:0"), there, vec())


@needs_gpu
def test_steps_stay_on_the_gpu(monkeypatch):
    S, points = lattice(6)
    A = in_warp(S, device="cuda:0")
    b, x, r, z = (field(np.ones(S.shape[0]), 3, device="cuda:0") for _ in range(4))
    solver = heddle_warp.Solver(A, "cg", "jacobi", rtol=1e-11)
    M = heddle_warp.preconditioner(A, "multigrid", coordinates=points)
    solver.prepare_enqueue(b, x)
    M.apply(r, z)
    double = wp.array(2 * S.data, dtype=wp.mat33d, device="cuda:0")
    with monkeypatch.context() as patch:
        patch.setattr(wp.array, "numpy", None)
        wp.copy(A.values, double)
        solver.update()
        M.update()
        solver.enqueue(b, x)
        M.apply(r, z)
    assert solver.wait().converged
    assert distance(x, spla.spsolve(2 * S.tocsc(), np.ones(S.shape[0]))) < 1e-8


@needs_gpu
@pytest.mark.parametrize("text", ["jacobi", "multigrid"])
def test_a_step_becomes_a_graph_on_the_gpu(text):
    S, points = lattice(6)
    arrays = {"coordinates": points} if text == "multigrid" else {}
    A, new = (in_warp(S, device="cuda:0") for _ in range(2))
    b, x = (field(np.zeros(S.shape[0]), 3, device="cuda:0") for _ in range(2))
    solver = heddle_warp.Solver(A, "cg", text, rtol=1e-11, **arrays)

    def step():
        wp.copy(A.values, new.values)
        solver.update()
        solver.enqueue(b, x)
        wp.copy(b, x)

    step()  # compiles, allocates
    with wp.ScopedCapture(device="cuda:0") as capture:
        step()
        with pytest.raises(heddle.UsageError, match="call enqueue"):
            solver.solve(b, x)
    for _ in range(3):
        S.data *= rng.uniform(0.5, 2)
        set_values(new, S.data)
        numbers_of_b = rng.standard_normal(S.shape[0])
        b.assign(numbers_of_b.reshape(-1, 3))
        wp.capture_launch(capture.graph)
        wp.synchronize_device("cuda:0")
        assert solver.wait().converged
        expected = spla.spsolve(S.tocsc(), numbers_of_b)
        assert distance(x, expected) < 1e-8 and distance(b, expected) < 1e-8


@needs_gpu
def test_warps_cg_becomes_a_graph_on_the_gpu():
    S, points = lattice(7)
    A = in_warp(S, device="cuda:0")
    M = heddle_warp.preconditioner(A, "multigrid", coordinates=points)
    b, x = (field(np.ones(S.shape[0]), 3, device="cuda:0") for _ in range(2))
    state = linear.cg(A, b, x, M=M, tol=1e-10, check_every=0, run=False)
    state(A, b, x, M)  # applies M to the arrays of that state
    with wp.ScopedCapture(device="cuda:0") as capture:
        M.update()
        iterations, _, _ = state(A, b, x, M)
    for _ in range(2):
        S.data *= 2
        set_values(A, S.data)
        numbers_of_b = rng.standard_normal(S.shape[0])
        b.assign(numbers_of_b.reshape(-1, 3))
        wp.capture_launch(capture.graph)
        assert distance(x, spla.spsolve(S.tocsc(), numbers_of_b)) < 1e-7
        assert 0 < iterations.numpy()[0] < 60


@needs_gpu
def test_captures_on_the_gpu_name_what_they_cannot_hold():
    S, _ = lattice(5)
    A = in_warp(S, device="cuda:0")
    b, x = (field(np.ones(S.shape[0]), 3, device="cuda:0") for _ in range(2))
    M = heddle_warp.preconditioner(A, "multigrid:1:v:gauss-seidel")
    M.apply(b, x)
    solver = heddle_warp.Solver(A, "cg")
    with wp.ScopedCapture(device="cuda:0"):
        with pytest.raises(heddle.UsageError, match="cannot become part of a graph"):
            M.update()
        with pytest.raises(heddle.UsageError, match="prepare_enqueue"):
            solver.enqueue(b, x)
        with pytest.raises(heddle.UsageError, match="which a capture does not"):
            heddle_warp.Solver(A)
