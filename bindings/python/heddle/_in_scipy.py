"""Matrices in the forms of SciPy, and new values from these forms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import _entry_shapes, _row_shapes
from ._assembled import Assembled
from ._errors import SizeError, UnsupportedError, UsageError
from ._places import check_places
from ._tiles import blocks_of


class InScipy(Assembled):
    """The part of ``Matrix`` that copies it to SciPy."""

    def _sizes(self) -> tuple[int, int]:
        """Rows and columns, counted in numbers."""
        size = (_row_shapes[self.entry] or (1,))[0]
        return size * self.shape[0], size * self.shape[1]

    def tobsr(self) -> Any:
        """A copy as SciPy's ``bsr_array``, a block for each entry, in the order of ``A.data``: the
        block itself; for a quaternion the real 4 x 4 block that acts like it, 8 x 8 for a dual one;
        1 x 1 for a number. ``heddle.fold`` finds the quaternions again.

        >>> import numpy as np
        >>> import heddle
        >>> i = heddle.Matrix((np.array([[0.0, 1, 0, 0]]), ([0], [0])), shape=(1, 1))
        >>> i.tobsr().toarray()
        array([[ 0., -1.,  0.,  0.],
               [ 1.,  0.,  0.,  0.],
               [ 0.,  0.,  0., -1.],
               [ 0.,  0.,  1.,  0.]])
        """
        from scipy.sparse import bsr_array

        blocks = blocks_of(self.entry, self.data)
        return bsr_array((blocks, self.indices.copy(), self.indptr.copy()), self._sizes())

    def tocsr(self) -> Any:
        """A copy as SciPy's ``csr_array`` of real or complex numbers: entries that are no numbers
        are the blocks of ``tobsr``, whose zeros are stored too, as the pattern is that of A.

        >>> import heddle
        >>> A = heddle.generate("elasticity", 300)
        >>> A.shape[0] * 3 == A.tocsr().shape[0]
        True
        """
        if _row_shapes[self.entry]:
            return self.tobsr().tocsr()
        from scipy.sparse import csr_array

        arrays = self.data.copy(), self.indices.copy(), self.indptr.copy()
        return csr_array(arrays, self.shape)

    def toarray(self) -> NDArray[Any]:
        """The numbers of ``tocsr`` in a dense array."""
        return self.tocsr().toarray()


def in_entries_of(A: Any, other: Any) -> Any:
    """A SciPy matrix as a ``Matrix``, in blocks if A has them; a ``Matrix`` itself. Raises
    ``SizeError`` and ``UnsupportedError`` for one whose values are no values of A."""
    if not isinstance(other, Assembled):
        if "block" in A.entry and hasattr(other, "tobsr"):
            check_places(other)
            size = _row_shapes[A.entry][0]
            if other.shape[0] % size == 0 and other.shape[1] % size == 0:
                other = other.tobsr(blocksize=(size, size))
        other = type(A)(other)
    if _entry_shapes[other.entry] != _entry_shapes[A.entry]:
        raise UnsupportedError(f"one matrix has {A.entry} entries, the other {other.entry}")
    if other.shape != A.shape:
        raise SizeError(f"one matrix is {A.shape[0]} x {A.shape[1]}, the other "
                        f"{other.shape[0]} x {other.shape[1]}")  # fmt: skip
    return other


def rows_of(A: Any) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))


def have_one_order(A: Any, other: Any) -> bool:
    """True if both matrices have entries at the same places in the same order."""
    return np.array_equal(A.indptr, other.indptr) and np.array_equal(A.indices, other.indices)


def values_at_places_of(A: Any, given: Any) -> NDArray[Any]:
    """The values of a matrix of A's pattern in the order of ``A.data``. Raises ``UsageError`` for
    the first place that only one of them has."""
    other = in_entries_of(A, given)
    if have_one_order(A, other):
        return other.data
    columns = max(A.shape[1], 1)
    places, others = (rows_of(one) * columns + one.indices for one in (A, other))
    alone = np.setxor1d(places, others, assume_unique=True)
    if len(alone):
        row, column = divmod(int(alone[0]), columns)
        is_new = alone[0] in others
        raise UsageError(
            f"the matrix has {'an' if is_new else 'no'} entry at row {row}, column {column}, but A "
            f"has {'none' if is_new else 'one'}: an update keeps the pattern"
        )
    values = np.empty_like(other.data)
    values[np.argsort(places, kind="stable")] = other.data[np.argsort(others, kind="stable")]
    return values
