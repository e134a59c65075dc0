"""Operators and preconditioners defined by functions of Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _heddle
from ._arrays import check_form, dtype_of, numbers
from ._errors import SizeError, UnsupportedError, UsageError
from ._gpu import one_name
from ._instead import refuse_no_preconditioner


def matvec_of(M: Any, numbers: int | None = None) -> Callable[[NDArray[Any]], Any]:
    """M as a function. ``numbers``: the numbers of a vector, if M maps numbers. Raises
    ``UsageError`` and ``SizeError``."""
    refuse_no_preconditioner(M, numbers)
    if hasattr(M, "matvec"):
        return M.matvec
    if callable(M):
        return M
    return lambda r: M @ r


def writing(function: Callable[[NDArray[Any]], Any]) -> Callable[..., None]:
    """The function in the form that the library calls: y is the solver's memory."""

    def write(x: NDArray[Any], y: NDArray[Any]) -> None:
        image = numbers(function(x), y.dtype, "the function's result")
        check_form(image, y.shape, "the function's result")
        y[...] = image.reshape(y.shape)

    return write


class OnGpu:
    """A function in the form that the library calls on a GPU: with addresses of its memory, which
    the function gets as an array of CuPy, on the operator's stream."""

    def __init__(
        self, function: Callable[[Any], Any], shape: tuple[int, ...], dtype: np.dtype, gpu: int,
        shape_of_x: tuple[int, ...],
    ) -> None:  # fmt: skip
        self._function, self._gpu = function, gpu
        self._shape, self._shape_of_x, self._dtype = shape, shape_of_x, dtype

    def begin(self, operator: _heddle.Operator) -> None:
        """Called once the operator exists, so that a device that does not work is refused first."""
        try:
            import cupy
        except ImportError:
            raise UsageError(
                "functions for a GPU get arrays of CuPy, which is not installed"
            ) from None
        self._cupy = cupy
        self._stream = cupy.cuda.ExternalStream(operator.stream, self._gpu)

    def _array(self, address: int, shape: tuple[int, ...]) -> Any:
        cuda = self._cupy.cuda
        size = math.prod(shape) * self._dtype.itemsize
        memory = cuda.UnownedMemory(address, size, None, self._gpu)
        return self._cupy.ndarray(shape, self._dtype, cuda.MemoryPointer(memory, 0))

    def __call__(self, x: int, y: int) -> None:
        cuda = self._cupy.cuda
        with cuda.Device(self._gpu), self._stream:
            image = self._cupy.asarray(self._function(self._array(x, self._shape_of_x)))
            if not np.can_cast(image.dtype, self._dtype, "safe"):
                raise UnsupportedError(
                    f"the function's result has dtype {image.dtype}, but the matrix has "
                    f"{self._dtype}"
                )
            check_form(image, self._shape, "the function's result")
            self._array(y, self._shape)[...] = image.reshape(self._shape)


def calling(
    function: Callable[[Any], Any], shape: tuple[int, ...], dtype: np.dtype, gpu: int,
    shape_of_x: tuple[int, ...] | None = None,
) -> Callable[..., None]:  # fmt: skip
    """The function in the form that the library calls, on a GPU or, if -1, on the CPU. ``shape``:
    of its results, and of its arguments unless ``shape_of_x`` is given."""
    if gpu < 0:
        return writing(function)
    return OnGpu(function, shape, dtype, gpu, shape if shape_of_x is None else shape_of_x)


def is_operator(A: Any) -> bool:
    return hasattr(A, "matvec") and not hasattr(A, "tocsr")


def operator_of(
    A: Any, stored: dict[str, str], *, with_adjoint: bool = False
) -> tuple[_heddle.Operator, str, np.dtype]:
    """The operator of A, its entry and dtype. ``stored``: settings of the device.
    ``with_adjoint``: of any shape, with A's ``rmatvec``; else A must be square."""
    rows, columns = A.shape
    if rows != columns and not with_adjoint:
        raise SizeError(f"A x = b needs a square operator, not {rows} x {columns}")
    if with_adjoint and not hasattr(A, "rmatvec"):
        raise UsageError("A has no rmatvec, the product with its adjoint, which least squares need")
    given = np.dtype(getattr(A, "dtype", None) or np.float64)
    if given.kind in "bui" or given.char == "e":
        given = np.dtype(np.float64)
    if given.char not in "fdFD":
        raise UnsupportedError(f"an operator of {given} is not supported, only single and double")
    entry = "complex" if given.kind == "c" else "real"
    precision = "single" if given.char in "fF" else "double"
    dtype, place = dtype_of(entry, precision), one_name(stored.get("device", "cpu"))
    number = place.removeprefix("cuda:")
    gpu = int(number) if place != number and number.isdigit() else -1
    function = calling(A.matvec, (rows,), dtype, gpu, (columns,))
    adjoint = calling(A.rmatvec, (columns,), dtype, gpu, (rows,)) if with_adjoint else None
    operator = _heddle.Operator.of_function(
        rows, columns, entry, precision, function, adjoint, _heddle.Settings(stored))  # fmt: skip
    for one in (function, adjoint):
        if isinstance(one, OnGpu):
            one.begin(operator)
    return operator, entry, dtype
