"""The adjoint of a matrix next to it, in the host's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _solvers
from ._errors import UnsupportedError
from ._in_scipy import rows_of
from ._matrix import Matrix

# Two entries that should mirror each other may differ by the rounding of their sums, in units of
# the largest entry of either row.
roundings = 64


def adjoint_of(values: Any, entry: str) -> Any:
    """The adjoint of each entry, of an array of NumPy or JAX."""
    if entry == "quaternion":
        return values * np.array([1, -1, -1, -1], values.dtype)
    if entry == "dual-quaternion":
        raise UnsupportedError("dual quaternions have no adjoint, and so no gradients")
    return (values.swapaxes(1, 2) if values.ndim == 3 else values).conj()


class Mirror:
    """The pattern of A next to its transpose: ``transposed`` has the place in A of each entry of
    A*, row by row."""

    def __init__(self, A: Matrix) -> None:
        row, column = rows_of(A), A.indices.astype(np.int64)
        self.row, self.column = row.astype(np.int32), A.indices
        self.entry, self.shape = A.entry, A.shape
        keys, mirrored = row * A.shape[0] + column, column * A.shape[0] + row
        self._order, self.transposed = np.argsort(keys), np.argsort(mirrored)
        self._is_symmetric = np.array_equal(keys[self._order], mirrored[self.transposed])

    def is_hermitian(self, values: NDArray[Any]) -> bool:
        """True if A = A* up to rounding."""
        if not self._is_symmetric or len(values) == 0:
            return self._is_symmetric
        size = np.abs(values).reshape(len(values), -1).max(1)
        largest = np.zeros(self.shape[0], size.dtype)
        np.maximum.at(largest, self.row, size)
        scale = np.minimum(largest[self.row], largest[self.column])[self._order]
        apart = values[self._order] - adjoint_of(values, self.entry)[self.transposed]
        limit = roundings * np.finfo(size.dtype).eps * scale
        return bool((np.abs(apart).reshape(len(values), -1).max(1) <= limit).all())

    def adjoint(self, values: Any) -> Any:
        """The entries of A*, of an array of NumPy or JAX."""
        return adjoint_of(values, self.entry)[self.transposed]

    def solver(
        self, values: NDArray[Any], method: str, preconditioner: Any, settings: dict[str, Any]
    ) -> _solvers.Solver:
        """A solver of A* with these entries of A*."""
        if not (preconditioner is None or isinstance(preconditioner, str)):
            raise UnsupportedError(
                "a gradient solves with A^H, which is not A: its preconditioner must be a text"
            )
        counts = np.bincount(self.column, minlength=self.shape[0])
        places = self.row[self.transposed], np.append(0, np.cumsum(counts))
        return _solvers.Solver(
            Matrix((values, *places), self.shape), method, preconditioner, **settings
        )
