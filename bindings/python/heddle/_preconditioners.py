"""The preconditioners that ``Solver`` takes: texts, or functions of Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _heddle
from ._arrays import _row_shapes, check_form, forms, numbers
from ._errors import SizeError, UsageError
from ._functions import OnGpu, calling, matvec_of


def preconditioner_of(
    operator: _heddle.Operator, entry: str, dtype: np.dtype, given: Any, varies: bool,
    settings: _heddle.Settings,
) -> _heddle.Preconditioner | None:  # fmt: skip
    if isinstance(given, str):
        return None if given == "none" else _heddle.Preconditioner.named(operator, given, settings)
    shape = operator.rows, *_row_shapes[entry]
    of_numbers = operator.rows if shape == (operator.rows,) else None
    function = calling(matvec_of(given, of_numbers), shape, dtype, operator.gpu)
    if isinstance(function, OnGpu):
        function.begin(operator)
    return _heddle.Preconditioner.of_function(operator, function, varies)


def arrays_of_multigrid(
    rows: int, entry: str, dtype: np.dtype, coordinates: ArrayLike | None,
    candidates: ArrayLike | None,
) -> tuple[Any, Any]:  # fmt: skip
    """Points and fields in the form that the library takes."""
    points = fields = None
    shape = rows, *_row_shapes[entry]
    if coordinates is not None:
        points = numbers(coordinates, np.dtype(np.float64), "coordinates")
        if entry not in ("block2", "block3"):
            raise UsageError(
                f"coordinates are for block2 or block3 entries, not {entry}{_how_to_block(points)}"
            )
        check_form(points, shape, "coordinates", ": a point for each row of entries")
    if candidates is not None:
        fields = _fields(numbers(candidates, dtype, "candidates"), shape)
    return points, fields


def _how_to_block(points: Any) -> str:
    """The call that makes a matrix of blocks, one for each of these points, from one of numbers."""
    size = points.shape[1] if points.ndim == 2 and points.shape[1] in (2, 3) else 3
    return (
        f": blocks of {size} x {size} numbers are the entries of A.tobsr(({size}, {size})), A being "
        f"a SciPy sparse matrix, or of heddle.fold(A, 'block{size}')"
    )


def _fields(given: Any, shape: tuple[int, ...]) -> Any:
    """Fields one after the other, ``(k, *shape)``; made from that shape, from flat fields, from a
    single field, or from the columns in which PyAMG keeps them."""
    size = math.prod(shape)
    if given.shape in forms(shape):
        return given.reshape(1, *shape)
    if given.shape[1:] in (shape, (size,)):
        return given.reshape(-1, *shape)
    if given.ndim == 2 and given.shape[0] == size:
        return np.ascontiguousarray(given.T).reshape(-1, *shape)
    k, flat = "k, " + ", ".join(map(str, shape)), f"(k, {size}) or ({size}, k)"
    wanted = f"{flat}" if shape == (size,) else f"({k}), {flat}"
    raise SizeError(f"candidates has the shape {given.shape}, not {wanted} of k fields")
