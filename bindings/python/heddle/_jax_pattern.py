"""The places of JAX's sparse matrices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.experimental.sparse import BCOO, BCSR
from numpy.typing import NDArray

from ._errors import SizeError, UnsupportedError, UsageError
from ._instead import refuse_no_system
from ._matrix import Matrix


def _untransformed(array: Any) -> Any:
    """The array without what JAX follows to it, if it knows its numbers; else a tracer."""
    return lax.stop_gradient(array) if isinstance(array, jax.core.Tracer) else array


def is_known(array: Any) -> bool:
    """True if JAX computes with the array's numbers now, and does not only trace."""
    return not isinstance(_untransformed(array), jax.core.Tracer)


def known(array: Any) -> Any:
    if not is_known(array):
        raise UsageError(
            "A is traced by JAX, so that its places and numbers are not known: make solver = "
            "heddle.jax.Solver(A) outside of the function that JAX transforms, and call "
            "solver.solve(b, values) inside"
        )
    return _untransformed(array)


class Pattern:
    """Places, row by row, of a square matrix whose values come in the order of ``row`` and
    ``column``. JAX keeps values for no place at all and, in a BCOO, several for one, which add
    up."""

    def __init__(self, size: int, row: NDArray[Any], column: NDArray[Any]) -> None:
        inside = (row < size) & (column < size)
        keys, places = np.unique(row[inside] * size + column[inside], return_inverse=True)
        self.size, self.nnz = size, len(keys)
        self.row, self.column = (one.astype(np.int32) for one in np.divmod(keys, max(size, 1)))
        # The place of each value; beyond the end if it has none.
        self._places = np.full(len(row), self.nnz, np.int32)
        self._places[inside] = places
        self._is_in_order = np.array_equal(self._places, np.arange(self.nnz))

    def entries(self, values: Array) -> Array:
        """Values of the places."""
        if values.shape != self._places.shape:
            raise SizeError(f"values has the shape {values.shape}, not {self._places.shape}")
        if self._is_in_order:
            return values
        return jnp.zeros(self.nnz, values.dtype).at[self._places].add(values, mode="drop")

    def matrix(self, given: Any) -> Matrix:
        """The matrix of values that are known."""
        given = np.asarray(known(given))
        values = np.zeros(self.nnz + 1, given.dtype)
        np.add.at(values, self._places, given)
        return Matrix((values[:-1], (self.row, self.column)), (self.size, self.size))


def pattern_of(A: Any) -> Pattern:
    if isinstance(A, (Array, np.ndarray)):
        raise UsageError(
            "A is a dense array: jax.experimental.sparse.BCSR.fromdense(A) is a sparse one"
        )
    if not isinstance(A, (BCSR, BCOO)):
        raise UsageError(
            f"A is of the type {type(A).__name__}, not a BCSR, a BCOO or a heddle.Matrix"
        )
    if A.n_batch or A.n_dense or A.ndim != 2:
        raise UnsupportedError(
            "A has batches or dense dimensions: a heddle.Matrix has blocks as entries"
        )
    if A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise UnsupportedError(
            f"A is of {A.dtype}: float32, float64, complex64 and complex128 are solved"
        )
    refuse_no_system(A.shape, "real")
    if isinstance(A, BCSR):
        column = np.asarray(known(A.indices), np.int64)
        row = np.searchsorted(np.asarray(known(A.indptr)), np.arange(A.nse), "right") - 1
    else:
        row, column = np.asarray(known(A.indices), np.int64).reshape(-1, 2).T
    return Pattern(A.shape[0], row, column)
