"""Preconditioners: texts or functions of Python for ``Solver``, and objects for other loops."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _heddle
from ._arrays import _row_shapes, check_form, forms, numbers
from ._errors import SizeError, UsageError
from ._functions import OnGpu, calling, matvec_of
from ._gpu import empty_like, on_gpu, place_of, stream_number
from ._instead import refuse_no_system
from ._matrix import Matrix
from ._planned import operator_for
from ._settings import Taken

_taken = Taken("heddle.preconditioner", "storage", "multigrid")


@_taken.shown
def preconditioner(
    A: Any,
    text: str = "auto",
    *,
    coordinates: ArrayLike | None = None, candidates: ArrayLike | str | None = None,
    **settings: Any,
) -> Preconditioner:
    """M^-1 of a matrix, for loops of your own and of other packages.

    Parameters
    ----------
    A
        A ``Matrix``, an object that makes one, or the adjoint ``A.H`` of one.
    text
        As for ``Solver``: ``"multigrid"``, ``"block-jacobi:2"``, ``"jacobi*fsai"``; ``"auto"`` is
        ``"jacobi"`` if a diagonal entry has an inverse, else ``"none"``.
    coordinates, candidates
        For multigrid: a point for each row of ``block2`` or ``block3`` entries; fields that A
        nearly maps to zero, or ``"adaptive"``.
    {settings}

    >>> import numpy as np
    >>> import scipy.sparse.linalg as spla
    >>> import heddle
    >>> A = heddle.generate("elasticity", 300)
    >>> n = 3 * A.shape[0]
    >>> S = spla.LinearOperator((n, n), matvec=lambda x: A @ x)
    >>> M = heddle.preconditioner(A, "multigrid")
    >>> x, info = spla.cg(S, np.ones(n), M=M.aspreconditioner())
    >>> info
    0
    """
    if isinstance(candidates, str):
        settings["candidates"], candidates = candidates, None
    by_use = _taken.by_use(_taken.texts(settings))
    operator, base, entry, dtype, generation = operator_for(
        A, "cg", by_use.get("storage", {}), None)  # fmt: skip
    refuse_no_system((operator.rows, operator.columns), entry)
    if text == "auto" and isinstance(base, Matrix):
        text = _heddle.choose_preconditioner(base._own)[0]
    of_multigrid = _heddle.Settings(by_use.get("multigrid", {}))
    use_arrays(of_multigrid, operator.rows, entry, dtype, coordinates, candidates)
    own = _heddle.Preconditioner.named(operator, text, of_multigrid)
    return Preconditioner(operator, own, text, base, entry, dtype, generation)


class Preconditioner:
    """M^-1, made by ``heddle.preconditioner``.

    It is a linear operator in the sense of SciPy, of ``shape`` ``(n, n)`` in numbers, with ``matvec``
    and ``rmatvec``; ``M @ r`` takes vectors in the forms that ``heddle.Matrix`` takes. It does not
    follow new values of the matrix until ``update()``.
    """

    __array_ufunc__ = None

    def __init__(
        self, operator: _heddle.Operator, own: _heddle.Preconditioner, text: str, matrix: Any,
        entry: str, dtype: np.dtype, generation: int | None,
    ) -> None:  # fmt: skip
        self._operator, self._own = operator, own
        self._matrix, self._generation = matrix, generation  # the latter of a tree's entries
        self._vector = operator.rows, *_row_shapes[entry]
        self._is_adjoint = False
        n = math.prod(self._vector)
        self.text, self.entry, self.dtype, self.shape = text, entry, dtype, (n, n)

    @property
    def H(self) -> Preconditioner:
        """The adjoint: M itself for fsai and multigrid. jacobi, block-jacobi with a number, neumann,
        direct, and what is composed of all these have one too."""
        other = copy.copy(self)
        other._is_adjoint = not self._is_adjoint
        return other

    def apply(self, r: Any, out: Any = None, *, stream: Any = None) -> Any:
        """z = M^-1 r. Returns z, which is ``out`` if given: a contiguous array of the matrix's type,
        without memory in common with r.

        On a GPU r and z may lie in its memory, as contiguous arrays of CuPy, PyTorch or Numba. The
        work is then queued: on ``stream``, by default the one on which r's package works now. While
        that is captured the work becomes part of the caller's graph, if M was applied before; the
        caller keeps r and z as long as the graph. ``cr``, ``gmres`` and ``direct``, which the host
        drives, cannot be captured.
        """
        if out is None:
            out = empty_like(r, r.shape) if on_gpu(r) else np.empty(np.shape(r), self.dtype)
        there = [array for array in (r, out) if on_gpu(array)]
        number = stream_number(stream, there[0]) if there else 0
        kept = []
        for array, name, writable in ((r, "r", False), (out, "out", True)):
            of = number if on_gpu(array) else None
            kept.append(place_of(
                array, self._operator, self.dtype, name, stream=of, writable=writable))  # fmt: skip
            check_form(kept[-1][0], self._vector, name)
        self._own.apply_at(kept[0][1], kept[1][1], self._is_adjoint, number)
        return out

    __matmul__ = matvec = apply

    def rmatvec(self, r: Any) -> Any:
        return self.H.apply(r)

    def update(self, *, stream: Any = None) -> None:
        """Takes the matrix's new values, after ``A.update_values``. On a GPU in the order of
        ``stream``, by default Heddle's own; while that is captured only for jacobi, block-jacobi,
        fsai, isai, neumann, and multigrid whose levels the GPU makes, in full precision, which then
        keeps its estimates of eigenvalues. A tree takes no new values."""
        if self._generation is not None and self._generation != self._matrix._generation:
            raise UsageError("the matrix has new values, which a tree cannot take: remake M")
        self._own.update(0 if stream is None else stream_number(stream, None))

    def aspreconditioner(self) -> Any:
        """A ``LinearOperator`` of SciPy or, for a matrix on a GPU, of CuPy: the ``M`` of their
        solvers, and of PyAMG's."""
        if self._operator.gpu < 0:
            from scipy.sparse.linalg import LinearOperator
        else:
            from cupyx.scipy.sparse.linalg import LinearOperator
        return LinearOperator(self.shape, self.matvec, self.rmatvec, dtype=self.dtype)

    def __repr__(self) -> str:
        adjoint = "adjoint of " if self._is_adjoint else ""
        return (
            f"<heddle.Preconditioner: {adjoint}{self.text} for {self._vector[0]} rows of "
            f"{self.entry} entries>"
        )


def preconditioner_of(
    operator: _heddle.Operator, entry: str, dtype: np.dtype, given: Any, varies: bool,
    settings: _heddle.Settings,
) -> _heddle.Preconditioner | None:  # fmt: skip
    if isinstance(given, str):
        return None if given == "none" else _heddle.Preconditioner.named(operator, given, settings)
    if isinstance(given, Preconditioner):
        if given._operator is operator and not given._is_adjoint:
            return given._own
        given = given.apply
    shape = operator.rows, *_row_shapes[entry]
    of_numbers = operator.rows if shape == (operator.rows,) else None
    function = calling(matvec_of(given, of_numbers), shape, dtype, operator.gpu)
    if isinstance(function, OnGpu):
        function.begin(operator)
    return _heddle.Preconditioner.of_function(operator, function, varies)


def use_arrays(
    settings: _heddle.Settings, rows: int, entry: str, dtype: np.dtype,
    coordinates: ArrayLike | None, candidates: ArrayLike | None,
) -> None:  # fmt: skip
    """Gives multigrid's points and fields to the settings."""
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
    if points is not None or fields is not None:
        settings.use_arrays(points, fields)


def _how_to_block(points: Any) -> str:
    """The call that makes a matrix of blocks, one for each of these points, from one of numbers."""
    size = points.shape[1] if points.ndim == 2 and points.shape[1] in (2, 3) else 3
    return (
        f": blocks of {size} x {size} numbers are the entries of A.tobsr(({size}, {size})), A being "
        f"a SciPy sparse matrix, of heddle.fold(A, 'block{size}'), or of the tensor "
        f"A.to_sparse_coo().to_sparse_bsr(({size}, {size})) of PyTorch"
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
