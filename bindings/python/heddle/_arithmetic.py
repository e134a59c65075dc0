"""Matrices made from matrices: transposed ones, sums, multiples and copies."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ._errors import UnsupportedError
from ._in_scipy import InScipy, have_one_order, in_entries_of, rows_of


class Arithmetic(InScipy):
    """The part of ``Matrix`` that makes others. Each result is a matrix of its own, with the values
    that its operands have now."""

    def _with(self, data: Any) -> Self:
        """A matrix with other values at the places of this one."""
        return type(self)((data, self.indices, self.indptr), self.shape)

    def copy(self) -> Self:
        """A matrix with the same entries, without operators or solvers."""
        return self._with(self.data)

    def __reduce__(self) -> Any:
        return type(self), ((self.data, self.indices, self.indptr), self.shape)

    @property
    def T(self) -> Self:
        """The transposed matrix, of numbers or of blocks, which are transposed too; a copy, while
        ``A.H`` follows A. Quaternions have an adjoint only: for others this raises
        ``UnsupportedError``.

        >>> import numpy as np
        >>> import heddle
        >>> heddle.Matrix(np.array([[1j, 0], [2, 1]])).T @ np.array([1.0, 0])
        array([0.+1.j, 0.+0.j])
        """
        if "quaternion" in self.entry:
            raise UnsupportedError(
                f"a matrix of {self.entry} entries has no transposed one: products of quaternions "
                "do not commute; A.H is the adjoint"
            )
        data = self.data.swapaxes(1, 2) if self.data.ndim > 1 else self.data
        return type(self)((data, (self.indices, rows_of(self))), self.shape[::-1])

    def __add__(self, other: Any) -> Self:
        """The sum of two matrices of one size and entry, or of one and a SciPy matrix; a place has
        an entry if one of them has one there."""
        return self._sum(other, 1)

    def __sub__(self, other: Any) -> Self:
        return self._sum(other, -1)

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Self:
        return (-self)._sum(other, 1)

    def _sum(self, other: Any, sign: int) -> Any:
        if not hasattr(other, "tocsr"):
            return NotImplemented
        other = in_entries_of(self, other)
        more = other.data if sign > 0 else -other.data
        if have_one_order(self, other):
            return self._with(self.data + more)
        row = np.concatenate([rows_of(self), rows_of(other)])
        column = np.concatenate([self.indices, other.indices])
        return type(self)((np.concatenate([self.data, more]), (row, column)), self.shape)

    def __mul__(self, factor: Any) -> Self:
        """The multiple by a real number or, of complex entries and real numbers, by a complex one.

        >>> import numpy as np
        >>> import heddle
        >>> A = heddle.Matrix(np.diag([1.0, 2.0]))
        >>> (A + 2 * A - A / 2).data
        array([2.5, 5. ])
        """
        return self._with(self.data * factor) if _is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        return self._with(self.data / divisor) if _is_number(divisor) else NotImplemented

    def __neg__(self) -> Self:
        return self._with(-self.data)


def _is_number(given: Any) -> bool:
    is_scalar = isinstance(given, (int, float, complex, np.number, np.ndarray)) and np.ndim(given) == 0
    return is_scalar and np.asarray(given).dtype.kind in "biufc"
