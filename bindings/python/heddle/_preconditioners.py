"""Preconditioners as ``Solver`` takes them: by text, or functions of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _heddle
from ._arrays import _row_shapes, check_form, forms, numbers
from ._errors import SizeError, UsageError
from ._functions import OnGpu, calling, matvec_of


def preconditioner_of(
    operator: _heddle.Operator, entry: str, dtype: np.dtype, given: Any, varies: bool, **told: Any
) -> _heddle.Preconditioner | None:
    """``told``: what multigrid is told, each None where it is not."""
    told = {key: value for key, value in told.items() if value is not None}
    if not isinstance(given, str):
        if told:
            raise UsageError(f"{next(iter(told))} is for the preconditioner multigrid")
        shape = operator.rows, *_row_shapes[entry]
        function = calling(matvec_of(given), shape, dtype, operator.gpu)
        if isinstance(function, OnGpu):
            function.begin(operator)
        return _heddle.Preconditioner.of_function(operator, function, varies)
    if told:
        made = multigrid_told(operator.rows, entry, dtype, **told)
        return _heddle.Preconditioner.multigrid(operator, given, *made)
    return None if given == "none" else _heddle.Preconditioner.named(operator, given)


def multigrid_told(
    rows: int, entry: str, dtype: np.dtype, strength: float | None = None,
    coordinates: ArrayLike | None = None, candidates: ArrayLike | str | None = None,
) -> tuple[float, Any, Any, bool]:  # fmt: skip
    """What the library takes: the strength, points, fields, and whether these are adaptive."""
    points = fields = None
    shape = rows, *_row_shapes[entry]
    if coordinates is not None:
        if entry not in ("block2", "block3"):
            raise UsageError(f"coordinates are of block2 or block3 entries, not of {entry}")
        points = numbers(coordinates, np.dtype(np.float64), "coordinates")
        check_form(points, shape, "coordinates")
    adaptive = isinstance(candidates, str)
    if adaptive and candidates != "adaptive":
        raise UsageError(f"candidates={candidates!r}; of texts there is 'adaptive'")
    if candidates is not None and not adaptive:
        fields = numbers(candidates, dtype, "candidates")
        if fields.shape in forms(shape):
            fields = fields.reshape(1, *shape)
        if fields.shape[1:] != shape:
            raise SizeError(f"candidates has the shape {fields.shape}, not (k, {shape})")
    return 0.08 if strength is None else float(strength), points, fields, adaptive
