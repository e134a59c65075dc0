"""Solves as functions of PyTorch, where that is installed: ``heddle.torch``."""

import gc
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from gpu_packages import needs_gpu

import heddle

torch = pytest.importorskip("torch", minversion="2.11")
heddle_torch = pytest.importorskip("heddle.torch")
warnings.filterwarnings("ignore", "Sparse", UserWarning)

tight = {"rtol": 1e-13}
devices = ["cpu", pytest.param("cuda", marks=needs_gpu)]


def system(size, dtype, hermitian, blocks=1, seed=1):
    """A dense matrix with a diagonal that dominates, zeros in blocks, and the generator."""
    rng = np.random.default_rng(seed)
    shape = size * blocks, size * blocks

    def draw(shape):
        numbers = rng.standard_normal(shape)
        return numbers + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else numbers

    kept = rng.random((size, size)) < 0.5
    A = draw(shape) * np.kron(kept | kept.T if hermitian else kept, np.ones((blocks, blocks)))
    A = (A + A.conj().T) / 2 if hermitian else A
    A = A + 6 * np.sqrt(size * blocks) * np.eye(len(A))
    return torch.as_tensor(A.astype(dtype)), lambda *shape: torch.as_tensor(draw(shape).astype(dtype))


def rebuild(layout, A):
    """The values of A in that layout, and the function that makes A of them."""
    if layout == "coo":
        A = A.to_sparse().coalesce()
        return A.values(), lambda v: torch.sparse_coo_tensor(A.indices(), v, A.shape)
    if layout == "csr":
        A = A.to_sparse_csr()
        places = A.crow_indices(), A.col_indices()
        return A.values(), lambda v: torch.sparse_csr_tensor(*places, v, A.shape)
    if layout == "dense":
        return A, lambda v: v
    A = A.to_sparse_bsr((layout, layout))
    places = A.crow_indices(), A.col_indices()
    return A.values(), lambda v: torch.sparse_bsr_tensor(*places, v, A.shape)


cases = [(layout, dtype, hermitian) for layout in ("csr", "coo", "dense", 2, 3, 4, 6)
         for dtype in (np.float64, np.complex128) for hermitian in (False, True)
         if dtype == np.float64 or layout not in (2, 4, 6)]  # fmt: skip


@pytest.mark.parametrize("device", devices)
@pytest.mark.parametrize("layout, dtype, hermitian", cases)
def test_gradients(layout, dtype, hermitian, device):
    blocks = layout if isinstance(layout, int) else 1
    A, draw = system(5 if blocks < 4 else 3, dtype, hermitian, blocks)
    A = A.to(device)
    values, make = rebuild(layout, A)
    values = values.clone().requires_grad_()
    for shape in ((len(A),), (len(A), 3)):
        b = draw(*shape).to(device).requires_grad_()

        if A.is_complex() and layout in ("csr", 3):  # which PyTorch does not make with a graph
            solver = heddle_torch.Solver(make(values.detach()), **tight)
        else:
            solver = None

        def solution(values, b):
            if solver is not None:
                return solver.solve(b, values)
            return heddle_torch.solve(make(values), b, **tight)

        expected = torch.linalg.solve(A, b)
        torch.testing.assert_close(solution(values, b), expected, rtol=1e-11, atol=1e-11)
        assert solution(values, b).device == b.device
        assert torch.autograd.gradcheck(solution, (values, b))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradients_of_linalg(dtype, seed):
    A, draw = system(17 + seed, dtype, False, seed=seed)
    b, weight = draw(len(A), 2), draw(len(A), 2)
    dense, right = A.clone().requires_grad_(), b.clone().requires_grad_()
    (torch.linalg.solve(dense, right) * weight).sum().abs().backward()
    for layout in (torch.sparse_csr, torch.sparse_coo, torch.strided):
        own = A.clone() if layout is torch.strided else A.to_sparse(layout=layout)
        own.requires_grad_()
        b_own = b.clone().requires_grad_()
        (heddle_torch.solve(own, b_own, **tight) * weight).sum().abs().backward()
        assert own.grad.layout is layout and own.grad.shape == A.shape
        of_A = dense.grad
        if layout is not torch.strided:
            assert own.grad._nnz() == own._nnz()
            of_A = torch.where(A != 0, of_A, 0)
        torch.testing.assert_close(own.grad.to_dense(), of_A, rtol=1e-9, atol=1e-11)
        torch.testing.assert_close(b_own.grad, right.grad, rtol=1e-9, atol=1e-11)


def test_the_gradient_of_blocks_has_their_layout():
    A, draw = system(4, np.float64, False, 3)
    own, b = A.to_sparse_bsr((3, 3)).requires_grad_(), draw(12)
    (of_A,) = torch.autograd.grad(heddle_torch.solve(own, b, **tight).sum(), own)
    assert of_A.layout is torch.sparse_bsr and of_A.values().shape == own.values().shape
    dense = A.clone().requires_grad_()
    torch.linalg.solve(dense, b).sum().backward()
    _, make = rebuild(3, A)
    places = make(torch.ones_like(of_A.values())).to_dense()
    torch.testing.assert_close(of_A.to_dense(), places * dense.grad)


def quaternions(hermitian=False):
    rng = np.random.default_rng(3)
    row, column = np.nonzero((rng.random((6, 6)) < 0.4) | np.eye(6, dtype=bool))
    data = rng.standard_normal((len(row), 4))
    if hermitian:
        conjugate = data * [1, -1, -1, -1]
        data = np.concatenate([data, conjugate])
        row, column = np.concatenate([row, column]), np.concatenate([column, row])
    A = heddle.Matrix((data, (row, column)), (6, 6))
    of_row = np.repeat(np.arange(6), np.diff(A.indptr))
    A.update_values(A.data + 15 * (of_row == A.indices)[:, None] * np.array([1, 0, 0, 0]))
    return A, torch.as_tensor(rng.standard_normal((6, 2, 4)))


@pytest.mark.parametrize("device", devices)
@pytest.mark.parametrize("hermitian", [False, True])
def test_gradients_of_quaternions(hermitian, device):
    A, several = quaternions(hermitian)
    values = torch.as_tensor(A.data.copy(), device=device).requires_grad_()
    columns = several.transpose(1, 2).reshape(24, 2)
    for b in (several[:, 0], several[:, 1].reshape(24), several, columns):
        b = b.to(device).clone().requires_grad_()

        def solution(values, b):
            return heddle_torch.solve(A, b, values=values, **tight)

        x = solution(values, b)
        assert x.shape == b.shape
        assert torch.autograd.gradcheck(solution, (values, b))
    by_columns = heddle_torch.solve(A, columns, **tight)
    by_fields = heddle_torch.solve(A, several, **tight)
    assert torch.equal(by_columns.reshape(6, 4, 2), by_fields.transpose(1, 2))
    np.testing.assert_allclose(A @ by_fields[:, 1].numpy(), several[:, 1], atol=1e-11)


def test_a_kept_solver_has_the_values_of_each_solve():
    A, draw = system(9, np.float64, False)
    values, make = rebuild("csr", A)
    solver, b = heddle_torch.Solver(make(values), "gmres", **tight), draw(9)
    first, second = (values * scale for scale in (1.0, 2.0))
    first.requires_grad_(), second.requires_grad_()
    x, y = solver.solve(b, first), solver.solve(b, second)
    plain = solver.solve(b.requires_grad_())  # with the second values
    assert torch.equal(plain, y) and plain.requires_grad
    (of_plain,) = torch.autograd.grad(plain.sum(), b)
    (of_first,) = torch.autograd.grad(x.sum(), first, retain_graph=True)
    (of_second,) = torch.autograd.grad(y.sum(), second)
    dense = A.clone().requires_grad_()
    (torch.linalg.solve(dense, b).sum()).backward()
    expected = dense.grad[A != 0]
    torch.testing.assert_close(of_first, expected)
    torch.testing.assert_close(of_second, expected / 4)
    torch.testing.assert_close(of_plain, torch.linalg.solve(2 * A.T, torch.ones_like(b)))
    plain = solver.solve(b)
    solver.solve(b, first)
    with pytest.raises(heddle.UsageError, match="new values since"):
        plain.sum().backward()
    with torch.no_grad():
        first.mul_(2)
    with pytest.raises(RuntimeError, match="inplace"):
        x.sum().backward()


def test_only_a_hermitian_matrix_is_its_own_adjoint():
    A, draw = system(8, np.float64, True)
    for apart, is_own in ((0, True), (1e-16, True), (1e-9, False)):
        other = A.clone()
        i, j = torch.nonzero(torch.triu(A, 1))[0]
        other[i, j] *= 1 + apart
        solver = heddle_torch.Solver(other.to_sparse(), **tight)
        b = draw(8).requires_grad_()
        solver.solve(b).sum().backward()
        assert (solver._mirror._kept is None) == is_own
    # Entries that are small next to the largest one are compared with their own row.
    small = torch.block_diag(torch.eye(1), torch.tensor([[2.0, 1.0], [0.0, 2.0]]) * 1e-20).double()
    b = torch.tensor([1.0, 1e-20, 1e-20], dtype=torch.float64, requires_grad=True)
    g = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)
    torch.autograd.backward(heddle_torch.solve(small.to_sparse(), b, method="gmres", **tight), g)
    torch.testing.assert_close(b.grad, torch.linalg.solve(small.T, g))


def test_single_precision_guesses_ranks_and_no_columns():
    A, draw = system(30, np.float32, True)
    b = draw(30, 2)
    x = heddle_torch.solve(A.to_sparse(), b)
    assert x.dtype == torch.float32
    torch.testing.assert_close(x, torch.linalg.solve(A, b), rtol=1e-3, atol=1e-4)
    again = heddle_torch.solve(A.to_sparse(), b, x0=x, maxiter=0)
    torch.testing.assert_close(again, x)
    A, b = A.double(), b.double().requires_grad_()
    shared = heddle_torch.solve(A.to_sparse(), b, method="cg", ranks=2)
    shared.sum().backward()
    torch.testing.assert_close(b.grad, torch.linalg.solve(A.T, torch.ones_like(b)))
    none = torch.zeros(30, 0, dtype=torch.float64, requires_grad=True)
    values, make = rebuild("csr", A)
    values.requires_grad_()
    x = heddle_torch.solve(make(values), none)
    x.sum().backward()
    assert x.shape == (30, 0) and not values.grad.any()


def test_multigrid_takes_tensors():
    grid = heddle.generate("elasticity", 400)
    values = torch.as_tensor(grid.data.copy()).requires_grad_()
    fields = torch.eye(3, dtype=torch.float64).repeat(grid.shape[0], 1)  # translations, in columns
    b = torch.ones(3 * grid.shape[0], dtype=torch.float64, requires_grad=True)
    solver = heddle_torch.Solver(grid, "cg", "multigrid", candidates=fields)
    x = solver.solve(b, values)
    (x @ torch.ones_like(b)).backward()
    torch.testing.assert_close(b.grad, x.detach(), rtol=1e-7, atol=1e-7)
    row = np.repeat(np.arange(grid.shape[0]), np.diff(grid.indptr))
    fields = x.detach().numpy().reshape(-1, 3)
    expected = -fields[row][:, :, None] * fields[grid.indices][:, None, :]
    np.testing.assert_allclose(values.grad, expected, atol=1e-6 * abs(expected).max())


def test_a_solve_that_does_not_converge_raises():
    A, draw = system(40, np.float64, False)
    A[:] += draw(40, 40) * 5
    own = A.to_sparse()
    with pytest.raises(heddle_torch.NotConvergedError, match="iteration limit") as raised:
        heddle_torch.solve(own, draw(40, 2), method="gmres", maxiter=3)
    assert raised.value.status == "iteration limit" and raised.value.residual > 1e-3
    assert isinstance(raised.value, heddle.Error) and len(raised.value.results) == 2
    b = draw(40).requires_grad_()
    x = heddle_torch.solve(own, b, method="gmres", rtol=1e-300, restart=40)  # at the accuracy limit
    torch.testing.assert_close(x, torch.linalg.solve(A, b))
    x = heddle_torch.solve(own, b, method="gmres", maxiter=3, x0=torch.linalg.solve(A, b), rtol=1e-8)
    with pytest.raises(heddle_torch.NotConvergedError, match="adjoint"):
        x.sum().backward()


def test_second_derivatives_are_refused():
    A, draw = system(5, np.float64, False)
    values, make = rebuild("csr", A)
    values, b = values.clone().requires_grad_(), draw(5).requires_grad_()
    x = heddle_torch.Solver(make(values.detach())).solve(b, values)
    of_values, of_b = torch.autograd.grad(x.sum(), (values, b), create_graph=True)
    for gradient, of in ((of_values, values), (of_values, b), (of_b, values)):
        with pytest.raises(heddle.UnsupportedError, match="second derivatives"):
            torch.autograd.grad(gradient.sum(), of, retain_graph=True)


def test_null_spaces_and_shifts():
    ring = torch.eye(6, dtype=torch.float64)
    ring = 2 * ring - ring.roll(1, 0) - ring.roll(-1, 0)
    flow = ring + 0.5 * (torch.eye(6).roll(1, 0) - torch.eye(6).roll(-1, 0))  # not symmetric
    b = torch.linspace(-1, 2, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.arange(6, dtype=torch.float64) ** 2
    for A, method in ((ring, "cg"), (flow, "gmres")):
        own = A.to_sparse()
        x = heddle_torch.solve(own, b, method=method, null_space=torch.ones_like(b), preconditioner=None)
        (of_b,) = torch.autograd.grad(x @ weight, b)
        torch.testing.assert_close(of_b, torch.linalg.pinv(A).T @ weight)
        (of_b,) = torch.autograd.grad(heddle_torch.solve(own, b, method=method, shift=0.5) @ weight, b)
        torch.testing.assert_close(of_b, torch.linalg.solve(A.T + 0.5 * torch.eye(6), weight))


def test_own_preconditioners():
    for hermitian in (True, False):
        A, draw = system(6, np.float64, hermitian)
        diagonal = torch.diagonal(A).numpy()
        b = draw(6).requires_grad_()
        own = {"method": "gmres", "preconditioner": lambda r: r / diagonal}
        x = heddle_torch.solve(A.to_sparse(), b, **own)
        if hermitian:
            x.sum().backward()
            torch.testing.assert_close(b.grad, torch.linalg.solve(A, torch.ones_like(b)))
        else:
            with pytest.raises(heddle.UnsupportedError, match="must be a text"):
                x.sum().backward()


def test_conjugate_views_and_strides():
    A, draw = system(7, np.complex128, False)
    b = draw(7, 14)[:, ::2].conj()
    x = heddle_torch.solve(A.conj().T.contiguous().to_sparse(), b, **tight)
    torch.testing.assert_close(x, torch.linalg.solve(A.conj().T, b))


def test_columns_in_any_order():
    values = torch.tensor([2.0, 5, 7, 1], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([3.0, 9], dtype=torch.float64, requires_grad=True)
    offsets, columns = torch.tensor([0, 2, 4]), torch.tensor([1, 0, 1, 0])
    A = torch.sparse_csr_tensor(offsets, columns, values.detach(), (2, 2))
    solver = heddle_torch.Solver(A, **tight)
    dense = torch.tensor([[5.0, 2], [1, 7]], dtype=torch.float64)
    torch.testing.assert_close(solver.solve(b, values), torch.linalg.solve(dense, b))
    assert torch.autograd.gradcheck(lambda values, b: solver.solve(b, values), (values, b))


def test_uncoalesced_places_are_added():
    place = torch.tensor([[0, 1, 0, 1], [0, 1, 0, 0]])
    values = torch.tensor([1.0, 4, 2, 1], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([3.0, 9], dtype=torch.float64)

    def solution(values):
        return heddle_torch.solve(torch.sparse_coo_tensor(place, values, (2, 2)), b, **tight)

    torch.testing.assert_close(solution(values), torch.tensor([1.0, 2], dtype=torch.float64))
    assert torch.autograd.gradcheck(solution, values)


eye, ones = torch.eye(4, dtype=torch.float64).to_sparse_csr(), torch.ones(4, dtype=torch.float64)
dual = heddle.Matrix((np.eye(1, 8), ([0], [0])), (1, 1))
refused = [
    ("an A of integers", heddle.UnsupportedError, "A is of int64", lambda s: s(eye.to(torch.int64), ones)),
    ("half precision", heddle.UnsupportedError, "A is of float16", lambda s: s(eye.half(), ones.half())),
    ("two dtypes", heddle.UnsupportedError, "b is of float32, but A of float64", lambda s: s(eye, ones.float())),
    ("a complex b", heddle.UnsupportedError, "convert", lambda s: s(eye, ones.cfloat())),
    ("no tensor", heddle.UsageError, "A is of the type ndarray", lambda s: s(np.eye(4), ones)),
    ("an adjoint", heddle.UsageError, "A is of the type Adjoint", lambda s: s(heddle.Matrix(np.eye(4)).H, ones)),
    ("a b of NumPy", heddle.UsageError, "b is of the type ndarray", lambda s: s(eye, np.ones(4))),
    ("a sparse b", heddle.UnsupportedError, "b is of the layout", lambda s: s(eye, eye)),
    ("not square", heddle.SizeError, "square", lambda s: s(torch.ones(4, 3), ones)),
    ("a vector", heddle.UsageError, "1 dimensions", lambda s: s(ones, ones)),
    ("a batch", heddle.UsageError, "batches", lambda s: s(torch.ones(2, 4, 4), ones)),
    ("a short b", heddle.SizeError, r"\(3,\), not \(4,\) or \(4, k\)", lambda s: s(eye, ones[:3])),
    ("a number", heddle.SizeError, r"\(\), not", lambda s: s(eye, ones[0])),
    ("another x0", heddle.SizeError, "x0", lambda s: s(eye, ones, x0=ones[:, None])),
    ("columns compressed", heddle.UnsupportedError, "to_sparse_csr",
     lambda s: s(eye.to_dense().to_sparse_csc(), ones)),
    ("wide blocks", heddle.UsageError, r"\(1, 2\)", lambda s: s(torch.ones(4, 4).to_sparse_bsr((1, 2)), ones)),
    ("another device", heddle.UnsupportedError, "device meta", lambda s: s(eye, ones.to("meta"))),
    ("values of a tensor", heddle.UsageError, "heddle.Matrix", lambda s: s(eye, ones, values=ones)),
    ("short values", heddle.SizeError, r"values has the shape \(4,\), not \(1, 8\)",
     lambda s: s(dual, ones[:1].repeat(8), values=ones)),
    ("an unknown setting", heddle.UsageError, "did you mean rtol", lambda s: s(eye, ones, rtoll=1)),
    ("the gradient of a dual quaternion", heddle.UnsupportedError, "no gradients",
     lambda s: s(dual, torch.ones(8, dtype=torch.float64, requires_grad=True)).sum().backward()),
]  # fmt: skip


@pytest.mark.parametrize("error, words, call", [pytest.param(*rest, id=name) for name, *rest in refused])
def test_refuses(error, words, call):
    with pytest.raises(error, match=words):
        call(heddle_torch.solve)


@needs_gpu
def test_devices_that_differ():
    A, b = eye.cuda().requires_grad_(), ones
    with pytest.raises(heddle.UsageError, match="A is on the device cuda:0, but b on cpu"):
        heddle_torch.solve(A, b)
    with pytest.raises(heddle.UsageError, match="but b on cuda:0"):
        heddle_torch.solve(eye, b.cuda())


@needs_gpu
def test_new_values_stay_on_the_gpu(monkeypatch):
    A, draw = system(50, np.float64, False)
    values, make = rebuild("csr", A.cuda())
    solver, b = heddle_torch.Solver(make(values), "bicgstab"), draw(50).cuda()
    solver.solve(b, values.requires_grad_()).sum().backward()  # finds out about the pattern
    monkeypatch.setattr(heddle_torch, "_on_host", None)
    monkeypatch.setattr(heddle._matrix, "to_host", None)
    for scale in (2.0, 3.0):
        values.grad = None
        solver.solve(b, values * scale).sum().backward()
        dense = A.clone().requires_grad_()
        torch.linalg.solve(dense * scale, b.cpu()).sum().backward()
        torch.testing.assert_close(values.grad.cpu(), dense.grad[A != 0])


def test_nothing_is_kept_after_backward():
    A, draw = system(5, np.float64, False)
    gc.collect()
    gc.disable()
    try:
        b = draw(5).requires_grad_()
        heddle_torch.solve(A.to_sparse(), b).sum().backward()
        kept = [one for one in gc.get_objects() if type(one) is heddle_torch.Solver]
    finally:
        gc.enable()
    assert not kept


def test_tensors_are_sent_to_the_module_that_takes_them():
    A, b = torch.eye(4).to_sparse_csr(), torch.ones(4)
    for call in (heddle.Matrix, heddle.Solver, lambda A: heddle.solve(A, b)):
        with pytest.raises(heddle.UsageError, match=r"heddle.torch.solve\(A, b\) and heddle.torch"):
            call(A)


def test_a_solver_has_the_results_of_its_last_solve():
    solver = heddle_torch.Solver(2 * torch.eye(4).to_sparse_csr(), "cg")
    assert solver.results == []
    solver.solve(torch.ones(4, 3))
    assert [result.converged for result in solver.results] == [True] * 3


def test_heddle_does_not_import_torch():
    program = "import sys, heddle; assert 'torch' not in sys.modules; import heddle.torch"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_page_of_the_guide():
    page = pathlib.Path(__file__).parents[2] / "docs/guide/doors.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    own = [program for program in programs if "heddle.torch" in program]
    assert own
    for program in own:
        exec(program, {"__name__": "__main__"})
