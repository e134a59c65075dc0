"""Arrays of PyTorch and JAX in the host's memory, where these packages are: used in place."""

import numpy as np
import pytest

import heddle

A = heddle.generate("dirac", 500)
ones = np.ones((A.shape[0], 4))
solver = heddle.Solver(A, "cg", rtol=1e-10)
expected = solver.solve(ones).x


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    b = torch.ones(ones.shape, dtype=torch.float64)
    x = torch.zeros_like(b)
    result = solver.solve(b, out=x)
    assert result.x is x and (x.numpy() == expected).all()
    assert solver.solve(b, out=x, x0=x).iterations == 0
    several = torch.zeros((2, *b.shape), dtype=torch.float64)
    solver.solve_all(torch.stack([b, 2 * b]), several)
    assert (several[0].numpy() == expected).all()
    assert (A @ b == A @ ones).all()
    for refused in (x.T, x.float(), x.clone().requires_grad_()):
        with pytest.raises((heddle.UnsupportedError, heddle.SizeError)):
            solver.solve(b, out=refused)
    with pytest.raises(heddle.UsageError, match="share memory"):
        solver.solve(b, out=b)


def test_gradients_of_pytorch():
    torch = pytest.importorskip("torch")
    B = heddle.Matrix(np.array([[2.0, 1, 0], [0, 3, 1], [1, 0, 4]]))
    forth = heddle.Solver(B, "bicgstab", None, rtol=1e-14)
    back = heddle.Solver(B.H, "bicgstab", None, rtol=1e-14)

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, b):
            return torch.as_tensor(forth.solve(b.detach()).x)

        @staticmethod
        def backward(ctx, gradient):
            return torch.as_tensor(back.solve(gradient.contiguous()).x)

    b = torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Solve.apply, b)


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    b = jax.numpy.ones(ones.shape)
    assert np.asarray(b).ctypes.data == b.unsafe_buffer_pointer()
    x = solver.solve(b).x
    assert (x == expected).all() and (A @ b == A @ ones).all()
    assert (jax.dlpack.from_dlpack(x) == expected).all()
    with pytest.raises(heddle.UnsupportedError, match="writable"):  # JAX's arrays do not change
        solver.solve(b, out=jax.numpy.zeros(ones.shape))
