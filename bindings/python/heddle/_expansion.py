"""Entries recovered from a matrix of the real numbers by which they act."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import _entry_shapes, stored
from ._errors import SizeError, UnsupportedError, UsageError
from ._matrix import Matrix
from ._places import check_places
from ._tiles import tiles_of

def fold(A: Any, entry: str) -> Matrix:
    """A matrix of entries from its real expansion, in which each entry is the tile of real numbers
    that acts like it: 2 x 2 for a complex number, 4 x 4 for a quaternion w, x, y, z, 8 x 8 for a
    dual quaternion, R x R for a block, 6 x 6 for a complex 3 x 3 block.

    Parameters
    ----------
    A
        A real SciPy sparse matrix or array, ``Matrix`` or dense array. A tile is an entry if it has a
        number that is stored, or not zero.
    entry
        The entry of the result.

    Raises ``SizeError`` if A does not consist of whole tiles, and ``UnsupportedError`` for the
    first tile that is not such an entry, to 1e-12 of its largest number.

    >>> import numpy as np
    >>> import heddle
    >>> A = heddle.fold(np.array([[1.0, -2], [2, 1]]), "complex")
    >>> A.data
    array([1.+2.j])
    """
    if entry not in _entry_shapes:
        raise UsageError(f"no entry is named {entry!r}; there are: {', '.join(_entry_shapes)}")
    tiles = tiles_of(entry)
    size = tiles.shape[1]
    if len(A.shape) != 2 or A.shape[0] % size or A.shape[1] % size:
        raise SizeError(f"a matrix of shape {tuple(A.shape)} does not divide into {size} x {size}")
    shape = A.shape[0] // size, A.shape[1] // size
    if isinstance(A, Matrix):
        A = A.tocsr()
    if hasattr(A, "tobsr"):
        check_places(A)
        found = A.tobsr(blocksize=(size, size), copy=True)
        found.sum_duplicates()
        data, column = found.data, found.indices
        row = np.repeat(np.arange(shape[0]), np.diff(found.indptr))
    else:
        apart = np.asarray(A).reshape(shape[0], size, shape[1], size).swapaxes(1, 2)
        row, column = np.nonzero(apart.any(axis=(2, 3)))
        data = apart[row, column]
    if data.dtype.kind == "c":
        raise UnsupportedError("the expansion of a matrix has real numbers")
    return Matrix((_folded(stored(data), tiles, entry, row, column), (row, column)), shape)


def _folded(
    data: NDArray[Any], tiles: NDArray[Any], entry: str, row: ArrayLike, column: ArrayLike
) -> NDArray[Any]:
    flat = tiles.reshape(len(tiles), -1)
    first = np.abs(flat).argmax(axis=1)  # the largest component and its sign
    components = data.reshape(len(data), -1)[:, first] * flat[np.arange(len(flat)), first]
    off = np.abs(data - np.tensordot(components, tiles, 1)).max(axis=(1, 2), initial=0)
    wrong = np.flatnonzero(~(off <= 1e-12 * np.abs(data).max(axis=(1, 2), initial=0)))
    if wrong.size:
        place = np.asarray(row)[wrong[0]], np.asarray(column)[wrong[0]]
        raise UnsupportedError(
            f"the tile at row {place[0]}, column {place[1]} is not a {entry} entry"
        )
    components = components.astype(data.dtype, copy=False)
    if entry in ("complex", "complex-block3"):
        components = np.ascontiguousarray(components).view(np.result_type(data, np.complex64))
    return np.ascontiguousarray(components.reshape(len(data), *_entry_shapes[entry]))

