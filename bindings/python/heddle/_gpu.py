"""Arrays in a GPU's memory, of CuPy, PyTorch, JAX, Numba, Warp: DLPack and
``__cuda_array_interface__`` say where they lie, and none is copied."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from . import _heddle
from ._arrays import numbers
from ._arrays import writable as writable_here
from ._errors import UnsupportedError, UsageError

# DLPack's device types: a GPU's memory, and memory that it shares with the host.
_cuda_types = 2, 13
# cudaStreamLegacy, the default stream: here 0 means no stream.
_default_stream = 1
# Packages whose arrays do not change, whatever they export.
_immutable = "jax", "jaxlib"
_packages = "torch", "cupy", "cupyx", "warp", *_immutable


def _dlpack_gpu(array: Any) -> int | None:
    """The number of the GPU by DLPack, if DLPack names one."""
    tell = getattr(array, "__dlpack_device__", None)
    if tell is None:
        return None
    kind, number = tell()
    return int(number) if int(kind) in _cuda_types else None


def on_gpu(array: Any) -> bool:
    """True for an array in a GPU's memory.

    >>> import numpy as np
    >>> on_gpu(np.ones(3))
    False
    """
    if isinstance(array, np.ndarray):
        return False
    return _dlpack_gpu(array) is not None or hasattr(array, "__cuda_array_interface__")


def gpu_of(array: Any) -> int | None:
    """The number of the GPU; ``None`` if the array does not say."""
    number = _dlpack_gpu(array)
    if number is None:  # arrays of CuPy and Numba
        number = getattr(getattr(array, "device", None), "id", None)
    return number


def device_of(array: Any) -> str:
    """The array's GPU, as ``Solver(device=...)`` names it."""
    number = gpu_of(array)
    return "cuda" if number is None else f"cuda:{number}"


@functools.cache
def one_name(device: str) -> str:
    """One name for each device: ``"cuda"`` and ``"auto"`` become names with their GPU's number."""
    if device == "cuda":
        return "cuda:0"
    if device == "auto":
        point = _heddle.Matrix.generate("poisson", 1, 0)
        settings = _heddle.Settings({"device": device, "threads": "1", "plan": "CSR"})
        gpu = _heddle.Operator.of_matrix(point, settings).gpu
        return "cpu" if gpu < 0 else f"cuda:{gpu}"
    return device


def dtype_of_array(array: Any) -> np.dtype:
    """NumPy's name for the numbers of any array, PyTorch's too. Raises ``UnsupportedError``."""
    given = array.dtype
    try:
        return np.dtype(given)
    except TypeError:
        name = str(given).removeprefix("torch.")
    try:
        return np.dtype(name)
    except TypeError:
        raise UnsupportedError(f"an array of {name}") from None


class GpuArray:
    """The place and the content of an array; keeps the array alive."""

    def __init__(
        self, owner: Any, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None,
        dtype: str, writable: bool,
    ) -> None:  # fmt: skip
        self.owner = owner
        self.place = address, True
        self.shape = shape
        self.strides = strides  # in elements; None: contiguous
        self.dtype = dtype
        self.writable = writable

    @property
    def contiguous(self) -> bool:
        if self.strides is None or 0 in self.shape:
            return True
        stride = 1
        for size, own in zip(reversed(self.shape), reversed(self.strides)):
            if size != 1 and own != stride:
                return False
            stride *= size
        return True


def gpu_array(
    array: Any, operator: _heddle.Operator, dtype: np.dtype, name: str, *,
    stream: int | None = None, writable: bool = False,
) -> GpuArray:  # fmt: skip
    """The array as it is, with numbers of ``dtype``, for work of ``operator`` that is queued after
    the work queued for the array so far. ``stream``: where that work is ordered, if not on the
    operator's own stream."""
    here = operator.gpu
    if here < 0:
        raise UsageError(
            f"{name} is in a GPU's memory, but the solver is on the CPU: make it with "
            f"device={device_of(array)!r}"
        )
    number = gpu_of(array)
    if number is not None and number != here:
        raise UsageError(
            f"{name} is on GPU {number}, but the solver is on GPU {here}: copy it there first"
        )
    if _dlpack_gpu(array) is not None:
        given = _by_dlpack(array, stream or operator.stream)
    else:
        given = _by_interface(array, operator, stream, name)
    if given.dtype != dtype.name:
        raise UnsupportedError(
            f"{name} has dtype {given.dtype}, but the matrix has {dtype}: convert one of them"
        )
    if not given.contiguous:
        raise UnsupportedError(f"{name} is not contiguous: arrays of a GPU are not copied")
    if writable and (not given.writable or package_of(array) in _immutable):
        raise UnsupportedError(f"{name} cannot be written to")
    return given


def place_of(
    array: Any, operator: _heddle.Operator, dtype: np.dtype, name: str, *, stream: int | None,
    writable: bool,
) -> tuple[Any, tuple[int, bool]]:  # fmt: skip
    """An array in either memory, for work of ``operator``: the object that keeps it alive, and
    where it lies. ``stream``: only for a GPU's arrays."""
    if on_gpu(array):
        given = gpu_array(array, operator, dtype, name, stream=stream, writable=writable)
        return given, given.place
    if stream is not None:
        raise UsageError(f"{name} is in the host's memory; enqueue needs a GPU's")
    here = writable_here(array, dtype, name) if writable else numbers(array, dtype, name)
    return here, (here.ctypes.data, False)


def _by_dlpack(array: Any, stream: int) -> GpuArray:
    # The array's package makes `stream` wait for the array.
    try:
        capsule = array.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # an older version
        capsule = array.__dlpack__(stream=stream)
    held = _heddle.Exported(capsule)
    return GpuArray(
        (array, held), held.address, held.shape, held.strides, held.dtype, held.writable
    )


def _by_interface(
    array: Any, operator: _heddle.Operator, stream: int | None, name: str
) -> GpuArray:
    interface = array.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise UnsupportedError(f"{name} has a mask")
    address, read_only = interface["data"]
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if strides is not None:  # strides are in bytes
        if any(step % dtype.itemsize for step in strides):
            raise UnsupportedError(f"{name} is not contiguous: arrays of a GPU are not copied")
        strides = tuple(step // dtype.itemsize for step in strides)
    earlier = interface.get("stream")
    if earlier is not None and earlier != stream:
        operator.wait_for(earlier)
    kind = dtype.name if dtype.isnative else dtype.str
    return GpuArray(array, address or 0, tuple(interface["shape"]), strides, kind, not read_only)


def stream_number(stream: Any, array: Any) -> int:
    """The cudaStream_t of a stream of CuPy, PyTorch or CUDA Python, or of a number; for ``None``,
    the one on which the array's package works now, else the default stream."""
    if stream is None:
        stream = _current_stream(array)
    if hasattr(stream, "__cuda_stream__"):  # version, address
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        stream = getattr(stream, name, stream)
    try:
        number = int(stream)
    except (TypeError, ValueError):
        raise UsageError(f"{stream!r} is not a CUDA stream") from None
    if not 0 <= number < 2**64:
        raise UsageError(f"{number} is not a CUDA stream")
    return number or _default_stream


def _current_stream(array: Any) -> Any:
    package = package_of(array)
    if package == "torch":
        return sys.modules["torch"].cuda.current_stream(array.device)
    if package == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream()
    if package == "warp":
        return sys.modules["warp"].get_stream(array.device)
    given_stream = getattr(array, "__cuda_array_interface__", {}).get("stream")
    return _default_stream if given_stream is None else given_stream


def empty_like(array: Any, shape: tuple[int, ...]) -> Any:
    """An array of the same package, device and type. Raises ``UsageError`` if that package has no
    writable arrays."""
    package = package_of(array)
    if package == "torch":
        return array.new_empty(shape)
    if package == "cupy":
        with array.device:
            return sys.modules["cupy"].empty(shape, array.dtype)
    raise UsageError("out is missing: give an array of CuPy, PyTorch or Numba on b's GPU")


def _known_package(array: Any) -> str:
    package = package_of(array)
    if not package:
        raise UnsupportedError(
            "entries in a GPU's memory must be an array of CuPy, PyTorch, JAX or Warp"
        )
    return package


def copy_there(array: Any) -> Any:
    """A copy in the same memory, queued by the array's package. Raises ``UnsupportedError`` for
    packages that are not known here."""
    package = _known_package(array)
    if package == "torch":
        return array.detach().clone()
    if package in _immutable:
        return array.copy()  # a function that it is donated to deletes the array
    if package == "warp":
        return sys.modules["warp"].clone(array)
    with array.device:
        return array.copy()


def to_host(array: Any) -> np.ndarray:
    """A copy in NumPy's memory. Raises ``UnsupportedError`` like ``copy_there``."""
    package = _known_package(array)
    if package == "torch":
        sys.modules["torch"].cuda.synchronize(array.device)  # its current stream may differ by now
        return array.detach().cpu().numpy()
    if package in _immutable:
        return np.asarray(array)
    if package == "warp":
        return array.numpy()
    with array.device as device:
        device.synchronize()
        return array.get()


def package_of(array: Any) -> str:
    """The package that defines the array's type, or a type that it is derived from; "" if it is not
    known here."""
    for kind in type(array).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in _packages:
            return package
    return ""
