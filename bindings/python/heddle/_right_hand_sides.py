"""Right-hand sides in the shapes that ``heddle.torch`` and ``heddle.jax`` take, and the error of a
solve for them."""

from __future__ import annotations

import math
from typing import Any

from ._errors import NotConvergedError as _NotConvergedError
from ._errors import SizeError
from ._result import Result

# Solutions up to rtol, or as good as a direct solver's: |b - A x| is at the rounding of A x.
good = "converged", "accuracy limit"


class NotConvergedError(_NotConvergedError):
    """A solve that did not converge: ``status`` and ``residual`` say how it ended, ``results`` has
    the ``heddle.Result`` of each right-hand side."""

    def __init__(self, words: str, results: list[Result]) -> None:
        self.results = results
        failed = next(result for result in results if result.status not in good)
        self.status, self.residual = failed.status, failed.residual
        why = f" ({failed.detail})" if failed.detail else ""
        super().__init__(
            f"{words} ended as {failed.status!r} after {failed.iterations} iterations, with the "
            f"residual {failed.residual:.3g}{why}"
        )


def one_after_another(b: Any, name: str, rows: tuple[int, ...]) -> Any:
    """A tensor, or an array, of right-hand sides one after the other, ``(k, N, ...)``, for a matrix
    whose vectors have the shape ``rows``."""
    (N, *row), n, shape = rows, math.prod(rows), tuple(b.shape)
    if shape in ((n,), rows):
        return b.reshape(1, *rows)
    if b.ndim == 2 and shape[0] == n:
        return b.T.reshape(-1, *rows)
    if row and b.ndim == 3 and (shape[0], shape[2]) == (N, *row):
        return b.swapaxes(0, 1)
    allowed = [f"({n},)", f"({n}, k)", *(f"({N}, {r}) or ({N}, k, {r})" for r in row)]
    raise SizeError(f"{name} has the shape {shape}, not {' or '.join(allowed)}")


def as_given(x: Any, shape: tuple[int, ...], rows: tuple[int, ...]) -> Any:
    """Solutions one after the other in the shape in which their right-hand sides came."""
    n = math.prod(rows)
    if len(shape) == 3 and shape[-1:] == rows[1:]:
        return x.swapaxes(0, 1)
    is_columns = len(shape) == 2 and shape[0] == n
    return x.reshape(-1, n).T if is_columns else x.reshape(shape)
