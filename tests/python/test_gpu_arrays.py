"""Arrays that say that they lie in a GPU's memory: read and refused, where no GPU is."""

import ctypes

import numpy as np
import pytest

import heddle
from heddle import _gpu

deleter_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DlTensor(ctypes.Structure):
    """DLManagedTensorVersioned of DLPack 1."""

    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", deleter_type), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class ByDlpack:
    """An array of GPU ``gpu``, whose numbers lie nowhere."""

    codes = {"i": 0, "f": 2, "c": 5}

    def __init__(self, array, gpu=0, read_only=False):
        self.shape, self.dtype, self.gpu = array.shape, array.dtype, gpu
        self.streams = []
        self.deleted = 0
        self._deleter = deleter_type(self._delete)
        n = array.ndim
        self._shape = (ctypes.c_int64 * n)(*array.shape)
        self._strides = (ctypes.c_int64 * n)(*(s // array.itemsize for s in array.strides))
        self._tensor = DlTensor(
            1, 0, None, self._deleter, int(read_only), 4096, 2, gpu, n,
            self.codes[array.dtype.kind], 8 * array.itemsize, 1, self._shape, self._strides, 0,
        )  # fmt: skip

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return 2, self.gpu

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
        return make(ctypes.addressof(self._tensor), b"dltensor_versioned", None)


class ByInterface:
    """An array of Numba's kind."""

    def __init__(self, array, stream=None, read_only=False, **more):
        self.shape, self.dtype = array.shape, array.dtype
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (4096, read_only),
            "strides": array.strides, "version": 3, "stream": stream,
        } | more  # fmt: skip


class Gpu:
    """An operator there."""

    def __init__(self, gpu=0):
        self.gpu, self.stream = gpu, 77
        self.waited = []

    def wait_for(self, stream):
        self.waited.append(stream)


kinds = [ByDlpack, ByInterface]


@pytest.mark.parametrize("kind", kinds)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_arrays_tell_where_they_lie(kind, dtype):
    array = kind(np.zeros((5, 4), dtype))
    given = _gpu.gpu_array(array, Gpu(), np.dtype(dtype), "b", writable=True)
    assert _gpu.on_gpu(array) and given.place == (4096, True) and given.shape == (5, 4)
    with pytest.raises(heddle.UnsupportedError, match="convert one of them"):
        _gpu.gpu_array(array, Gpu(), np.dtype(np.int64), "b")


@pytest.mark.parametrize("kind", kinds)
def test_only_contiguous_and_writable_ones_are_taken(kind):
    double = np.dtype(np.float64)
    for array in (np.zeros((5, 4)).T, np.zeros((5, 8))[:, ::2], np.zeros(10)[::-1]):
        with pytest.raises(heddle.UnsupportedError, match="b is not contiguous"):
            _gpu.gpu_array(kind(array), Gpu(), double, "b")
    for array in (np.zeros((0, 4)), np.zeros((7, 1)).T, np.zeros((3, 2))[:1]):
        _gpu.gpu_array(kind(array), Gpu(), double, "b")
    with pytest.raises(heddle.UnsupportedError, match="x cannot be written to"):
        _gpu.gpu_array(kind(np.zeros(3), read_only=True), Gpu(), double, "x", writable=True)


def test_the_other_side_gets_the_streams():
    double, array = np.dtype(np.float64), ByDlpack(np.zeros(3))
    given = [_gpu.gpu_array(array, Gpu(), double, "b", stream=s) for s in (None, 5)]
    assert array.streams == [77, 5] and array.deleted == 0
    del given
    assert array.deleted == 2
    operator = Gpu()
    for stream, own in ((None, None), (9, None), (9, 9), (1, 9)):
        _gpu.gpu_array(ByInterface(np.zeros(3), stream), operator, double, "b", stream=own)
    assert operator.waited == [9, 1]


def test_names_of_streams():
    class Cupy:
        ptr = 0

    class Torch:
        cuda_stream = 11

    class CudaPython:
        def __cuda_stream__(self):
            return 0, 12

    array = ByInterface(np.zeros(3), stream=13)
    given = (Cupy(), Torch(), CudaPython(), 14, 0, None)
    assert [_gpu.stream_number(s, array) for s in given] == [1, 11, 12, 14, 1, 13]
    assert _gpu.stream_number(None, ByDlpack(np.zeros(3))) == 1
    for wrong in ("stream", -1, 2**64, object()):
        with pytest.raises(heddle.UsageError, match="is not a CUDA stream"):
            _gpu.stream_number(wrong, array)


def test_derived_types_are_of_their_package():
    class Tensor(ByInterface):
        __module__ = "torch"

    class Named(Tensor):
        """Of a user's module."""

    class Jax(ByInterface):
        __module__ = "jaxlib._jax"

    class Mine(Jax):
        pass

    array = np.zeros(3)
    assert [_gpu.package_of(kind(array)) for kind in (Tensor, Named, Jax, Mine)] == [
        "torch", "torch", "jaxlib", "jaxlib"]  # fmt: skip
    assert _gpu.package_of(array) == "" == _gpu.package_of(ByInterface(array))
    with pytest.raises(heddle.UnsupportedError, match="cannot be written to"):
        _gpu.gpu_array(Mine(array), Gpu(), np.dtype(np.float64), "x", writable=True)


@pytest.mark.parametrize("kind", kinds)
def test_new_values_are_of_a_package_that_can_copy_them(kind):
    A = heddle.Matrix(np.eye(2))
    with pytest.raises(heddle.UnsupportedError, match="an array of CuPy, PyTorch, JAX or Warp"):
        A.update_values(kind(np.ones(2)))


class CupyLike(ByInterface):
    """What CuPy's arrays have, with numbers that lie in the host's memory."""

    class Device:
        id = 0
        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731
        synchronize = lambda self: None  # noqa: E731

    device = Device()

    def __init__(self, array):
        super().__init__(array)
        self.numbers, self.fetched = array, []

    def copy(self):
        made = CupyLike(self.numbers.copy())
        made.fetched = self.fetched
        return made

    def get(self):
        self.fetched.append(self.numbers)
        return self.numbers.copy()


CupyLike.__module__ = "cupy"


class Taking(Gpu):
    """Storage there."""

    def __init__(self):
        super().__init__()
        self.taken = []

    def update_values_at(self, place, entries):
        self.taken.append((place, entries))


def test_new_values_stay_on_the_gpu_until_the_host_asks():
    A = heddle.Matrix(np.eye(2))
    there = A._operators["cuda:0", 0, 0, None] = Taking()
    data = CupyLike(np.array([3.0, 4.0]))
    A.update_values(data)
    assert there.taken == [((4096, True), 2)] and data.fetched == []
    data.numbers[:] = -1  # the owner may change it again
    assert A.nnz == 2 and data.fetched == []
    np.testing.assert_array_equal(A.data, [3, 4])
    assert A.info()["hermitian_defect"] == 0 and len(data.fetched) == 1
    # The newest entries count, wherever they come from.
    A.update_values(CupyLike(np.array([5.0, 6.0])))
    A.update_values(CupyLike(np.array([7.0, 8.0])))
    np.testing.assert_array_equal(A @ [1.0, 1.0], [7, 8])  # makes storage on the CPU
    del A._operators["cuda:0", 0, 0, None]
    A.update_values([1.0, 2.0])
    np.testing.assert_array_equal(A.data, [1, 2])
    A._operators["cuda:0", 0, 0, None] = there
    A.update_values(CupyLike(np.array([9.0, 10.0])))
    np.testing.assert_array_equal(A @ [1.0, 1.0], [9, 10])
    taken = len(there.taken)
    for wrong, error in (
        (np.ones(3), heddle.SizeError), (np.ones(2, np.float32), heddle.UnsupportedError)):  # fmt: skip
        with pytest.raises(error, match="data"):
            A.update_values(CupyLike(wrong))
    assert len(there.taken) == taken
    np.testing.assert_array_equal(A.data, [9, 10])


def test_each_device_has_one_name():
    for name, one in {"cpu": "cpu", "cuda": "cuda:0", "cuda:1": "cuda:1"}.items():
        assert _gpu.one_name(name) == one
    auto = _gpu.one_name("auto")
    A = heddle.Matrix(np.eye(2))
    assert A.operator("auto") is A.operator(auto)
    assert A.H.operator("auto").gpu == A.operator(auto).gpu


def test_what_queued_solves_use_goes_after_the_solver():
    names = list(vars(heddle.Solver(np.eye(2))))
    assert names.index("_own") < names.index("_queued")


@pytest.mark.parametrize("kind", kinds)
def test_solvers_on_the_cpu_refuse_them(kind):
    A = heddle.generate("dirac", 100)
    n = A.shape[0]
    solver = heddle.Solver(A)
    there, here = kind(np.zeros((n, 4))), np.zeros((n, 4))
    for b, out, x0 in ((there, None, None), (there, here, None), (here, there, None)):
        with pytest.raises(heddle.UsageError, match="is in a GPU's memory"):
            solver.solve(b, out, x0=x0)
    with pytest.raises(heddle.UsageError, match="x0 is in a GPU's memory"):
        solver.solve(here, x0=there)
    with pytest.raises(heddle.UnsupportedError, match="enqueue needs a solver on a GPU"):
        solver.enqueue(there, there)
    with pytest.raises(heddle.UsageError, match="no solve was enqueued"):
        solver.wait()
    solver.cancel()


def test_arrays_of_another_gpu_are_refused():
    with pytest.raises(heddle.UsageError, match="b is on GPU 1, but the solver is on GPU 0"):
        _gpu.gpu_array(ByDlpack(np.zeros(3), gpu=1), Gpu(), np.dtype(np.float64), "b")
    with pytest.raises(heddle.UnsupportedError, match="mask"):
        array = ByInterface(np.zeros(3), mask=np.ones(3, bool))
        _gpu.gpu_array(array, Gpu(), np.dtype(np.float64), "b")


def has_gpu():
    try:
        heddle.Solver(np.eye(2), device="cuda")
    except heddle.DeviceError:
        return False
    return True


@pytest.mark.skipif(has_gpu(), reason="a GPU is here")
@pytest.mark.parametrize("kind", kinds)
def test_without_a_gpu_the_error_says_so(kind):
    b = kind(np.zeros(2))
    for call in (
        lambda: heddle.solve(np.eye(2), b),
        lambda: heddle.cg(np.eye(2), b),
        lambda: heddle.Matrix(np.eye(2)) @ b,
    ):
        with pytest.raises(heddle.DeviceError, match="no GPU can be used"):
            call()
