"""Solves on a GPU of arrays that lie there, in CuPy's, PyTorch's and JAX's memory. Skipped where no
GPU works, and for packages that are not installed."""

import importlib

import numpy as np
import pytest

import heddle


def _has_gpu():
    try:
        heddle.Solver(np.eye(2), device="cuda")
    except heddle.DeviceError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_gpu(), reason="no GPU works here")


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        self.stream_type = self.cupy.cuda.Stream

    def array(self, numbers):
        return self.cupy.asarray(numbers)

    def numbers(self, array):
        return array.get()

    def copy(self, to, start):
        to[...] = start

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()

    def on(self, stream):
        return stream

    def address(self, array):
        return array.data.ptr


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        self.stream_type = self.torch.cuda.Stream

    def array(self, numbers):
        return self.torch.as_tensor(numbers, device="cuda")

    def numbers(self, array):
        return array.cpu().numpy()

    def copy(self, to, start):
        to.copy_(start)

    def synchronize(self):
        self.torch.cuda.synchronize()

    def on(self, stream):
        return self.torch.cuda.stream(stream)

    def address(self, array):
        return array.data_ptr()


class ByInterfaceAlone:
    """A CuPy array as Numba's are: without DLPack."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


@pytest.fixture(params=[Cupy, Torch], ids=["cupy", "torch"])
def package(request):
    return request.param()


systems = [
    ("poisson", "cg", np.float64), ("dirac", "cg", np.float64), ("elasticity", "minres", np.float64),
    ("helmholtz", "bicgstab", np.complex128)]  # fmt: skip


def system(problem, dtype, rows=2000):
    A = heddle.generate(problem, rows)
    rng = np.random.default_rng(1)
    shape = (A.shape[0], *heddle._matrix._row_shapes[A.entry])
    b = rng.standard_normal(shape)
    return A, (b + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else b)


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_arrays_of_the_gpu_give_the_bits_of_the_hosts(package, problem, method, dtype):
    A, b = system(problem, dtype)
    solver = heddle.Solver(A, method, device="cuda", rtol=1e-9)
    expected = solver.solve(b)
    assert expected.converged
    there = package.array(b)
    found = solver.solve(there)
    assert type(found.x) is type(there) and found.iterations == expected.iterations
    np.testing.assert_array_equal(package.numbers(found.x), expected.x)
    # From anywhere to anywhere, and from a guess in either memory.
    out = package.array(np.full_like(b, 7))
    assert solver.solve(b, out).x is out
    np.testing.assert_array_equal(package.numbers(out), expected.x)
    host = np.full_like(b, 7)
    assert solver.solve(there, host).x is host
    np.testing.assert_array_equal(host, expected.x)
    assert solver.solve(there, out, x0=expected.x).iterations <= 1
    assert solver.solve(there, out, x0=out).iterations <= 1
    assert solver.solve(there, host, x0=host).iterations <= 1
    flat = solver.solve(there.reshape(-1))
    np.testing.assert_array_equal(package.numbers(flat.x), expected.x.reshape(-1))


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_products_stay_on_the_gpu(package, problem, method, dtype):
    A, x = system(problem, dtype)
    there = package.array(x)
    for B in (A, A.H):
        y = B @ there
        assert type(y) is type(there)
        np.testing.assert_allclose(package.numbers(y), B @ x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("problem", "method", "dtype"), systems)
def test_several_systems_side_by_side(package, problem, method, dtype):
    A, b = system(problem, dtype)
    solver = heddle.Solver(A, method, device="cuda", rtol=1e-9)
    several = np.stack([b, 2 * b[::-1], b**2])
    there = package.array(several)
    results = solver.solve_all(there)
    for one, result in zip(several, results):
        assert result.converged
        np.testing.assert_array_equal(package.numbers(result.x), solver.solve(one).x)
    again = solver.solve_all(there, x0=package.array(np.stack([package.numbers(r.x) for r in results])))
    assert max(result.iterations for result in again) <= 1
    ring = np.diag(np.full(30, 2.0)) - np.roll(np.eye(30), 1, 0) - np.roll(np.eye(30), -1, 0)
    singular = heddle.Solver(ring, "cg", device="cuda", null_space=package.array(np.ones(30)))
    x = package.numbers(singular.solve(package.array(np.arange(30.0))).x)
    np.testing.assert_allclose(ring @ x, np.arange(30.0) - 14.5, atol=1e-7)


def test_functions_go_where_b_is(package):
    A, b = system("poisson", np.float64)
    matrix = heddle.Matrix(np.diag(np.arange(1.0, 9)))
    x, info = heddle.cg(matrix, package.array(np.ones(8)), rtol=1e-10, M="jacobi")
    assert info == 0
    np.testing.assert_allclose(package.numbers(x), 1 / np.arange(1.0, 9))
    result = heddle.solve(A, package.array(b))
    assert result.converged and type(result.x) is type(package.array(b))


def test_solves_wait_for_what_makes_b(package):
    """b is written by a stream that has much to do before."""
    A, b = system("dirac", np.float64, 20000)
    solver = heddle.Solver(A, "cg", device="cuda")
    expected = solver.solve(b).x
    there, source, big = package.array(np.zeros_like(b)), package.array(b), package.array(
        np.random.default_rng(2).random((4000, 4000))
    )
    package.synchronize()
    stream = package.stream_type()
    for _ in range(3):
        with package.on(stream):
            package.copy(there, 0 * source)
            for _ in range(20):
                product = big @ big
            package.copy(there, source + 0 * product[0, 0])
            found = solver.solve(there)
        np.testing.assert_array_equal(package.numbers(found.x), expected)


@pytest.mark.parametrize("plan", ["C=32,T=4,sigma=n,loop=graph", "C=1,loop=persistent"])
def test_enqueued_solves_are_in_stream_order(package, plan):
    A, b = system("dirac", np.float64, 20000)
    solver = heddle.Solver(A, "cg", device="cuda", plan=plan, record_history=True)
    expected = solver.solve(b)
    source, big = package.array(b), package.array(np.random.default_rng(2).random((4000, 4000)))
    there, x = package.array(np.zeros_like(b)), package.array(np.zeros_like(b))
    after = package.array(np.zeros_like(b))
    package.synchronize()
    stream = package.stream_type()
    for given in (stream, None):  # None: the stream on which the package works
        for _ in range(3):
            with package.on(stream):
                for _ in range(20):
                    product = big @ big
                package.copy(there, source + 0 * product[0, 0])
                package.copy(x, 0 * source)
                solver.enqueue(there, x, stream=given)
                package.copy(after, x + 0 * x)  # before anybody waits
            result = solver.wait()
            assert result.converged and result.x is x and np.isnan(result.seconds)
            assert result.iterations == expected.iterations
            np.testing.assert_allclose(result.history, expected.history, rtol=1e-12)
            package.synchronize()
            np.testing.assert_array_equal(package.numbers(after), expected.x)
    # And again as before.
    np.testing.assert_array_equal(solver.solve(b).x, expected.x)


def test_enqueued_solves_take_new_values_and_end_as_solves_do(package):
    A = heddle.Matrix(np.diag([1.0, 2.0, 4.0]))
    solver = heddle.Solver(A, "cg", device="cuda", plan="CSR,loop=graph", maxiter=1)
    b, x = package.array(np.ones(3)), package.array(np.zeros(3))
    solver.enqueue(b, x)
    assert solver.wait().converged  # Jacobi is the inverse
    A.update_values([2.0, 2.0, 2.0])
    package.copy(x, 0 * b)
    package.synchronize()
    solver.enqueue(b, x)
    assert solver.wait().converged
    np.testing.assert_array_equal(package.numbers(x), [0.5, 0.5, 0.5])
    A.update_values([2.0, 0.0, 2.0])
    solver.enqueue(b, x)
    assert solver.wait().status == "breakdown"
    other = heddle.Solver(heddle.generate("poisson", 2000), "cg", None, device="cuda", maxiter=3)
    n = other.A.shape[0]
    right, left = package.array(np.ones(n)), package.array(np.zeros(n))
    other.enqueue(right, left)
    assert other.wait().status == "iteration limit"
    A.update_values([1.0, 1.0, 1.0])
    stepped = heddle.Solver(A, "cg", device="cuda", plan="CSR,loop=stepped")
    with pytest.raises(heddle.UnsupportedError, match="enqueue needs a loop"):
        stepped.enqueue(b, x)
    with pytest.raises(heddle.UsageError, match="host's memory"):
        solver.enqueue(np.ones(3), x)
    with pytest.raises(heddle.UsageError):
        solver.enqueue(b, x, stream="default")


def test_a_solve_becomes_part_of_a_graph():
    torch = Torch().torch
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda", plan="C=32,T=4,sigma=n,loop=graph")
    expected = solver.solve(b).x
    there, x = torch.as_tensor(b, device="cuda"), torch.zeros(b.shape, dtype=torch.float64).cuda()
    solver.prepare_enqueue(there, x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.zero_()
        solver.enqueue(there, x)
        x.mul_(2.0)
    for factor in (1.0, 2.0):
        there.copy_(torch.as_tensor(factor * b))
        graph.replay()
        torch.cuda.synchronize()
        np.testing.assert_allclose(x.cpu().numpy(), 2 * factor * expected, rtol=1e-12)


@pytest.mark.parametrize("plan", ["C=32,T=4,sigma=n,loop=graph", "C=1,loop=persistent"])
def test_solves_between_replays_leave_the_graph_as_it_is(plan):
    torch = Torch().torch
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda", plan=plan)
    there, other = torch.as_tensor(b, device="cuda"), torch.as_tensor(3 * b, device="cuda")
    expected, of_other = solver.solve(there).x.cpu().numpy(), solver.solve(other).x.cpu().numpy()
    x, twice = torch.zeros_like(there), torch.zeros_like(there)
    solver.prepare_enqueue(there, x)
    solver.solve(other)  # which leaves what is prepared
    with pytest.raises(heddle.UsageError, match="has not run"):
        solver.wait()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.zero_()
        solver.enqueue(there, x)
        twice.copy_(2 * x)
    with pytest.raises(heddle.UsageError, match="has not run"):
        solver.wait()
    for _ in range(3):
        x.fill_(7.0)
        graph.replay()
        torch.cuda.synchronize()
        np.testing.assert_array_equal(x.cpu().numpy(), expected)
        np.testing.assert_array_equal(twice.cpu().numpy(), 2 * expected)
        result = solver.wait()
        assert result.converged and result.x is x and result.iterations > 0
        np.testing.assert_array_equal(solver.solve(other).x.cpu().numpy(), of_other)
        with pytest.raises(heddle.UsageError, match="has not run"):
            solver.wait()
    # And one that is enqueued, beside the graph.
    solver.enqueue(other, x)
    assert solver.wait().converged
    assert np.linalg.norm(x.cpu().numpy() - of_other) <= 1e-6 * np.linalg.norm(of_other)


def test_captures_need_preparation_and_are_left_intact():
    torch = Torch().torch
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda", plan="C=32,T=4,sigma=n,loop=graph")
    there, x, y = (torch.as_tensor(b, device="cuda") for _ in range(3))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y.mul_(2.0)
        with pytest.raises(heddle.UsageError, match="call prepare_enqueue"):
            solver.enqueue(there, x)
        y.add_(1.0)
    graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(y.cpu().numpy(), 2 * b + 1)
    assert solver.solve(there).converged


def test_arrays_of_queued_solves_live_until_these_are_over(package):
    A, b = system("dirac", np.float64, 20000)
    solver = heddle.Solver(A, "cg", device="cuda", plan="C=32,T=4,sigma=n,loop=graph")
    expected = solver.solve(b).x
    results = []
    for _ in range(4):
        there, x = package.array(b), package.array(np.zeros_like(b))
        package.synchronize()
        solver.enqueue(there, x)
        results.append(x)
        del there, x
    assert len(solver._queued) == 4
    assert solver.wait().x is results[-1] and len(solver._queued) == 1
    for x in results:
        np.testing.assert_array_equal(package.numbers(x), expected)
    solver.enqueue(package.array(b), package.array(np.zeros_like(b)))
    del solver  # waits


def test_tensors_of_derived_types_keep_their_streams():
    torch = Torch().torch

    class Named(torch.Tensor):
        pass

    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda", plan="C=32,T=4,sigma=n,loop=graph")
    expected = solver.solve(b).x
    stream = torch.cuda.Stream()
    there, x = (torch.as_tensor(a, device="cuda").as_subclass(Named) for a in (b, 0 * b))
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        assert heddle._gpu.stream_number(None, x) == stream.cuda_stream
        solver.enqueue(there, x)
    solver.wait()
    np.testing.assert_array_equal(x.cpu().numpy(), expected)
    assert isinstance(solver.solve(there).x, torch.Tensor)


def test_a_refused_call_leaves_b_as_it_is(package):
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    there = package.array(b)
    for x0 in (None, there, package.array(np.zeros_like(b)), np.zeros_like(b)):
        with pytest.raises(heddle.UsageError, match="b and out share memory"):
            solver.solve(there, there, x0=x0)
    several = package.array(np.stack([b, b]))
    with pytest.raises(heddle.UsageError, match="b and out share memory"):
        solver.solve_all(several, several)
    np.testing.assert_array_equal(package.numbers(there), b)
    np.testing.assert_array_equal(package.numbers(several), np.stack([b, b]))
    with pytest.raises(heddle.UnsupportedError, match="data lies in a GPU's memory"):
        A.update_values(package.array(np.array(A.data)))


def test_arrays_without_dlpack():
    package = Cupy()
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    expected = solver.solve(b).x
    there, x = package.array(b), package.array(np.zeros_like(b))
    solver.solve(ByInterfaceAlone(there), ByInterfaceAlone(x))
    np.testing.assert_array_equal(x.get(), expected)
    x[...] = 0
    solver.enqueue(ByInterfaceAlone(there), ByInterfaceAlone(x))
    solver.wait()
    np.testing.assert_array_equal(x.get(), expected)
    with pytest.raises(heddle.UsageError, match="out is missing"):
        solver.solve(ByInterfaceAlone(there))


def test_right_hand_sides_of_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    package = Cupy()
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    expected = solver.solve(b).x
    there, x = jax.numpy.asarray(b), package.array(np.zeros_like(b))
    solver.solve(there, x)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(x)), expected)
    with pytest.raises(heddle.UnsupportedError, match="cannot be written to"):
        solver.solve(x, there)
    np.testing.assert_array_equal(np.asarray(there), b)


def test_arrays_are_used_in_place(package):
    """A solve allocates nothing on the GPU but x."""
    A, b = system("elasticity", np.float64, 30000)
    solver = heddle.Solver(A, "cg", device="cuda", maxiter=20)
    there, x = package.array(b), package.array(np.zeros_like(b))
    address = package.address(x)
    runtime = pytest.importorskip("cupy").cuda.runtime
    solver.solve(there, x)
    free = runtime.memGetInfo()[0]
    for _ in range(20):
        solver.solve(there, x)
    assert runtime.memGetInfo()[0] >= free
    assert package.address(x) == address


def test_misfits_are_refused(package):
    A, b = system("dirac", np.float64)
    solver = heddle.Solver(A, "cg", device="cuda")
    there = package.array(b)
    with pytest.raises(heddle.UnsupportedError, match="float32"):
        solver.solve(package.array(b.astype(np.float32)))
    with pytest.raises(heddle.UnsupportedError, match="not contiguous"):
        solver.solve(package.array(b.T.copy()).T)
    with pytest.raises(heddle.SizeError, match="b has the shape"):
        solver.solve(there[:-1])
    with pytest.raises(heddle.UsageError):  # b and x share memory
        solver.solve(there, there)
    with pytest.raises(heddle.UsageError, match="on the CPU"):
        heddle.Solver(A, "cg").solve(there)


def test_matrices_of_cupy():
    cupy = Cupy().cupy
    sparse = importlib.import_module("cupyx.scipy.sparse")
    A = sparse.random(50, 50, 0.1, "csr", dtype=np.float64) + 20 * sparse.identity(50)
    x, info = heddle.bicgstab(A.tocsr(), cupy.ones(50), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose((A @ x).get(), np.ones(50), rtol=1e-8)
