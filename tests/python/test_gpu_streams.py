"""Solves in the order of a GPU's streams, and in graphs of PyTorch's. Skipped as test_gpu.py."""

import numpy as np
import pytest
from gpu_packages import Torch, needs_gpu, package, system  # noqa: F401

import heddle

pytestmark = needs_gpu


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
                package.copy(after, x + 0 * x)  # before any stream waits
            result = solver.wait()
            assert result.converged and result.x is x and np.isnan(result.seconds)
            assert result.iterations == expected.iterations
            np.testing.assert_allclose(result.history, expected.history, rtol=1e-12)
            package.synchronize()
            np.testing.assert_array_equal(package.numbers(after), expected.x)
    # And once more as before.
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
    solver.solve(other)  # the prepared graph is left unchanged
    with pytest.raises(heddle.UsageError, match="no solve was enqueued"):
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
    # A solve can also be enqueued along with the graph.
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
