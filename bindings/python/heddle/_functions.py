"""Operators and preconditioners by functions of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _heddle
from ._errors import SizeError, UnsupportedError
from ._matrix import check_form, dtype_of, numbers


def matvec_of(M: Any) -> Callable[[NDArray[Any]], Any]:
    if hasattr(M, "matvec"):
        return M.matvec
    if callable(M):
        return M
    return lambda r: M @ r


def writing(function: Callable[[NDArray[Any]], Any]) -> Callable[..., None]:
    """As the library calls functions: y is the solver's memory."""

    def write(x: NDArray[Any], y: NDArray[Any]) -> None:
        image = numbers(function(x), y.dtype, "the function's result")
        check_form(image, y.shape, "the function's result")
        y[...] = image.reshape(y.shape)

    return write


def is_operator(A: Any) -> bool:
    return hasattr(A, "matvec") and not hasattr(A, "tocsr")


def operator_of(A: Any, device: str) -> tuple[_heddle.Operator, str, np.dtype]:
    if device != "cpu":
        raise UnsupportedError("an operator in Python works on the CPU")
    rows, columns = A.shape
    if rows != columns:
        raise SizeError(f"A x = b needs a square operator, not {rows} x {columns}")
    given = np.dtype(getattr(A, "dtype", None) or np.float64)
    if given.kind in "bui":
        given = np.dtype(np.float64)
    if given.char not in "fdFD":
        raise UnsupportedError(f"an operator of {given}; there are single and double precision")
    entry = "complex" if given.kind == "c" else "real"
    precision = "single" if given.char in "fF" else "double"
    operator = _heddle.Operator.of_function(rows, entry, precision, writing(A.matvec))
    return operator, entry, dtype_of(entry, precision)
