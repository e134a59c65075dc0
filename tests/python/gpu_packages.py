"""Packages whose arrays lie in a GPU's memory, and systems, for the tests there."""

import numpy as np
import pytest

import heddle


def _has_gpu():
    try:
        heddle.Solver(np.eye(2), device="cuda")
    except heddle.DeviceError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not _has_gpu(), reason="no GPU works here")


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
