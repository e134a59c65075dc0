"""Heddle inside NVIDIA Warp: preconditioners for the solvers of ``warp.optim.linear``, and solvers
of their own, for the matrices of ``warp.sparse``.

``import heddle.warp`` needs Warp (warp-lang); ``import heddle`` does not import it."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray
from warp.optim.linear import LinearOperator
from warp.sparse import BsrMatrix

from . import _preconditioners, _solvers
from ._errors import SizeError, UnsupportedError, UsageError
from ._gpu import stream_number
from ._matrix import Matrix
from ._result import Result
from ._settings import Taken
from ._solvers import Callback

__all__ = ["Preconditioner", "Solver", "matrix", "preconditioner", "solve"]

_sizes = 1, 2, 3, 4, 6  # of blocks that are entries


@wp.kernel(enable_backward=False, module="unique")
def _gather(
    values: wp.array(dtype=Any), places: wp.array(dtype=wp.int32), packed: wp.array(dtype=Any)
):  # fmt: skip
    i = wp.tid()
    packed[i] = values[places[i]]


@wp.kernel(enable_backward=False, module="unique")
def _combine(
    alpha: Any, image: wp.array(dtype=Any), beta: Any, y: wp.array(dtype=Any),
    z: wp.array(dtype=Any),
):  # fmt: skip
    i = wp.tid()
    total = alpha * image[i]
    if beta != type(beta)(0):  # y may hold anything otherwise
        total += beta * y[i]
    z[i] = total


def matrix(A: BsrMatrix) -> Matrix:
    """A copy as ``heddle.Matrix``, for all else that Heddle does; blocks become entries. It does
    not follow A."""
    _check_matrix(A)
    offsets, columns, places = _pattern_of(A)
    values = A.values.numpy()
    values = values[: len(columns)] if places is None else values[places]
    if A.block_shape == (1, 1):
        values = values.reshape(-1)
    return Matrix((values, columns, offsets), (A.nrow, A.ncol))


def preconditioner(
    A: BsrMatrix,
    text: str = "auto",
    *,
    coordinates: Any = None, candidates: Any = None,
    **settings: Any,
) -> Preconditioner:  # fmt: skip
    """M^-1 of A, the ``M`` of ``warp.optim.linear.cg``, ``cr``, ``bicgstab`` and ``gmres``.

    Parameters
    ----------
    A
        Over scalars or blocks of 2, 3, 4 or 6, of ``float32`` or ``float64``.
    text, coordinates, candidates, settings
        As for ``heddle.preconditioner``, such as ``"multigrid"``, with a point for each row of
        blocks, also as arrays of Warp. ``device`` is that of A.
    """
    _preconditioner_takes.check_names(settings)
    settings.update(coordinates=coordinates, candidates=candidates)
    return Preconditioner(_Entries(A), text, settings)


_preconditioner_takes = Taken("heddle.warp.preconditioner", "storage", "multigrid")
_preconditioner_takes.shown(preconditioner)


class Preconditioner(LinearOperator):
    """M^-1, made by ``heddle.warp.preconditioner``: a ``LinearOperator`` of Warp. Its work is
    queued on Warp's current stream. It becomes part of a graph that Warp captures there if it was
    applied before, to arrays that are aligned alike; ``cr`` and ``gmres``, which the host drives,
    cannot."""

    def __init__(self, entries: _Entries, text: str, settings: dict[str, Any]) -> None:
        A = entries.A
        settings = _settings_for(A, settings)
        super().__init__(A.shape, A.dtype, A.device, matvec=None)
        self._entries = entries
        self._own = _preconditioners.preconditioner(entries.matrix, text, **settings)
        entries.follow_with(self._own._operator)
        self._image = wp.empty(A.shape[0], dtype=A.scalar_type, device=A.device)

    @property
    def matvec(self) -> Any:  # no attribute, so that no cycle keeps the memory
        return self._multiply

    def _multiply(self, x: wp.array, y: wp.array, z: wp.array, alpha: Any, beta: Any) -> None:
        """z = alpha M^-1 x + beta y; y may be z."""
        if alpha == 1 and beta == 0:
            return self.apply(x, z)
        self.apply(x, self._image)
        of = self._entries
        scalar, to = self.scalar_type, of.numbers(z, "z")
        rest = to if beta == 0 else of.numbers(y, "y")
        inputs = [scalar(alpha), self._image, scalar(beta), rest, to]
        wp.launch(_combine, dim=to.size, inputs=inputs, device=self.device)

    def apply(self, r: wp.array, z: wp.array) -> None:
        """z = M^-1 r."""
        of = self._entries
        of.refuse_capture_on_cpu()
        given, to = of.numbers(r, "r"), of.numbers(z, "z")
        if self.device.is_cpu:
            self._own.apply(given.numpy(), to.numpy())
        else:
            self._own.apply(given, to, stream=wp.get_stream(self.device))

    def update(self) -> None:
        """Takes the values that A has now, for the same pattern. Multigrid keeps its aggregates.
        While Warp captures only for jacobi, block-jacobi, fsai, isai, neumann, and multigrid whose
        levels the GPU makes, in full precision, which then keeps its estimates of eigenvalues; else
        it may wait for the GPU."""
        self._entries.update()
        if self.device.is_cpu:
            self._own.update()
        else:
            self._own.update(stream=wp.get_stream(self.device))

    def __repr__(self) -> str:
        return repr(self._own).replace("heddle.", "heddle.warp.", 1)


def solve(
    A: BsrMatrix,
    b: wp.array,
    x: wp.array,
    *,
    method: str = "auto",
    preconditioner: Any = "auto",
    callback: Callback | None = None,
    **settings: Any,
) -> Result:
    """Solves A x = b from the guess in x, as ``warp.optim.linear.cg`` does.

    Parameters
    ----------
    A
        A square matrix over scalars or blocks of 2, 3, 4 or 6, of ``float32`` or ``float64``.
    b, x
        Contiguous arrays of A's type and device, used in place: vectors of a block's size, or
        scalars, ``(n,)`` or ``(N, r)`` for N rows of blocks.
    method, preconditioner, callback, settings
        As for ``heddle.Solver``, ``coordinates`` and ``candidates`` of multigrid included, also as
        arrays of Warp. ``device`` is that of A.

    Returns Heddle's ``Result``: ``status``, ``iterations``, ``residual``. A solve that does not
    converge raises nothing, as in Warp; neither does a b that is not finite. ``UsageError``,
    ``SizeError`` or ``UnsupportedError`` are raised for arguments that do not fit.
    """
    return Solver(A, method, preconditioner, **settings).solve(b, x, callback=callback)


class Solver:
    """A solver that is kept, for new right-hand sides and new values of A; parameters are those of
    ``solve``. Only the making of it finds out about the pattern of A."""

    def __init__(
        self, A: BsrMatrix, method: str = "auto", preconditioner: Any = "auto", **settings: Any
    ) -> None:
        _solver_takes.check_names(settings)
        if isinstance(preconditioner, LinearOperator):
            raise UsageError(
                "preconditioner is a LinearOperator of Warp, which is for warp.optim.linear: name "
                "one of Heddle's, such as 'multigrid'"
            )
        self._entries = _Entries(A)
        self._own = _solvers.Solver(
            self._entries.matrix, method, preconditioner, **_settings_for(A, settings))  # fmt: skip
        self._entries.follow_with(self._own._base)
        self.A = A
        self._last: tuple[wp.array, Result | None] | None = None
        self._renew()

    def update(self) -> None:
        """Takes the values that A has now, for the same pattern; until then solves use the earlier
        ones. While Warp captures, it becomes part of the graph with preconditioners for which
        ``Preconditioner.update`` does."""
        self._entries.update()
        self._renew()

    def _renew(self) -> None:
        """Renews the preconditioner on a GPU, where a captured solve does not. The first call
        allocates."""
        M, device = getattr(self._own, "_M", None), self.A.device
        if device.is_cuda and M is not None:
            M.update(stream_number(wp.get_stream(device), None))

    def solve(self, b: wp.array, x: wp.array, *, callback: Callback | None = None) -> Result:
        """Solves A x = b from the guess in x, and returns when x is ready."""
        of = self._entries
        of.refuse_capture_on_cpu()
        if of.A.device.is_capturing:
            raise UsageError("solve waits for the GPU, which a capture does not: call enqueue")
        given, to = of.numbers(b, "b"), of.numbers(x, "x")
        if of.A.device.is_cpu:
            given, to = given.numpy(), to.numpy()
        result = self._own.solve(given, to, x0=to, callback=callback)
        result.x = x
        return result

    def enqueue(self, b: wp.array, x: wp.array) -> None:
        """Solves A x = b from the guess in x in the order of Warp's current stream, and returns at
        once; ``wait`` returns the result. The solve is one graph, which the first call for two
        arrays makes. While Warp captures that stream, it becomes part of Warp's graph, if the same
        arrays were enqueued or prepared before; ``heddle.Solver.enqueue`` says which solvers can.
        On the CPU it is ``solve``."""
        if self.A.device.is_cpu:
            self._last = x, self.solve(b, x)
            return
        given, to = self._entries.numbers(b, "b"), self._entries.numbers(x, "x")
        self._own.enqueue(given, to, stream=wp.get_stream(self.A.device))
        self._last = x, None

    def prepare_enqueue(self, b: wp.array, x: wp.array) -> None:
        """Does what the first ``enqueue`` of these arrays does before it queues the solve. x is
        left as it is."""
        given, to = self._entries.numbers(b, "b"), self._entries.numbers(x, "x")
        if self.A.device.is_cuda:
            self._own.prepare_enqueue(given, to)

    def wait(self) -> Result:
        """Waits for the solves that were enqueued, and returns the result of the last one. It does
        not wait for graphs of Warp's: synchronize with their launches first."""
        if self._last is None:
            raise UsageError("no solve was enqueued to wait for: call enqueue first")
        x, result = self._last
        if result is None:
            result = self._own.wait()
            result.x = x
        return result

    def __repr__(self) -> str:
        return repr(self._own).replace("heddle.", "heddle.warp.", 1)


_solver_takes = Taken("heddle.warp.Solver", *_solvers.uses_of_solver)
_solver_takes.shown(Solver, _solvers.Solver)
_solver_takes.shown(solve, _solvers.Solver)


class _Entries:
    """The entries of a BsrMatrix: the ``heddle.Matrix`` of its pattern, and the way of new values
    there."""

    def __init__(self, A: BsrMatrix) -> None:
        _check_matrix(A)
        self.A, self._dtype, self._device = A, A.dtype, A.device
        self.refuse_capture_on_cpu()
        if A.device.is_capturing:
            raise UsageError("this waits for the GPU, which a capture does not: call it before")
        self.matrix = matrix(A)
        self._arrays = _arrays_of(A)
        self._find_places(_pattern_of(A)[2])

    def follow_with(self, operator: Any) -> None:
        """Names the operator whose entries are updated."""
        self._operator = operator
        if self._device.is_cuda:
            self._stream = wp.Stream(self._device, cuda_stream=operator.stream)

    def _find_places(self, places: NDArray[Any] | None) -> None:
        self._places: Any = places
        if places is not None:
            self._places_there = wp.array(places, dtype=wp.int32, device=self._device)
            self._packed = wp.empty(len(places), dtype=self._dtype, device=self._device)

    def update(self) -> None:
        self.refuse_capture_on_cpu()
        self._check_pattern()
        values, count = self.A.values, self.matrix.nnz
        if count == 0:
            return
        caller = wp.get_stream(self._device) if self._device.is_cuda else None
        if self._places is not None:
            if caller and not self._device.is_capturing:
                caller.wait_stream(self._stream)  # which may read what was packed last
            inputs = [values, self._places_there, self._packed]
            wp.launch(_gather, dim=count, inputs=inputs, device=self._device)
            values = self._packed
        values = _flat(values, count)
        if caller is None:
            return self.matrix.update_values(values.numpy())
        try:
            self._operator.update_values_at((values.ptr, True), count, stream_number(caller, None))
        finally:  # before A's values are written again, and before a capture ends
            caller.wait_stream(self._stream)
        self.matrix._newer = values
        self.matrix._generation += 1

    def _check_pattern(self) -> None:
        """Raises ``UsageError`` for another pattern. On a GPU an equal one is assumed where A has
        the same arrays: looking would wait."""
        A, arrays = self.A, _arrays_of(self.A)
        is_same = all(one is other for one, other in zip(arrays, self._arrays, strict=True))
        if self._device.is_cuda and is_same:
            return
        if self._device.is_capturing:
            raise UsageError("A has other arrays than before: call update once before the capture")
        _check_matrix(A)
        offsets, columns, places = _pattern_of(A)
        mine = self.matrix
        if (
            (A.dtype, A.device, (A.nrow, A.ncol)) != (self._dtype, self._device, mine.shape)
            or not np.array_equal(offsets, mine.indptr)
            or not np.array_equal(columns, mine.indices)
        ):
            raise UsageError("A has another pattern than when this was made: make another for it")
        self._arrays = arrays
        if places is None or not np.array_equal(places, self._places):
            self._find_places(places)

    def refuse_capture_on_cpu(self) -> None:
        if self._device.is_cpu and self._device.is_capturing:
            raise UsageError(
                "a capture on the CPU records kernels of Warp alone, so its graph would lack "
                "Heddle's work: call this outside of it"
            )

    def numbers(self, array: Any, name: str) -> wp.array:
        """The array flat, in place. Raises an error for one that is no vector of A's."""
        A = self.A
        if not isinstance(array, wp.array):
            raise UsageError(f"{name} is of the type {type(array).__name__}, not a warp.array")
        if array.device != self._device:
            raise UsageError(f"{name} is on the device {array.device}, but A on {self._device}")
        scalar, size = _scalar_of(array.dtype), A.block_shape[0]
        if scalar is not A.scalar_type:
            raise UnsupportedError(
                f"{name} is of {_name_of(scalar)}, but A of {_name_of(A.scalar_type)}: convert one "
                "of them"
            )
        n = A.shape[0]
        is_vector = array.ndim == 1 or array.shape == (A.nrow, size)
        if not is_vector or array.size * wp.types.type_size(array.dtype) != n:
            fields = f" or ({A.nrow},) of vectors of {size}" if size > 1 else ""
            raise SizeError(
                f"{name} has the shape {array.shape} of {_name_of(array.dtype)}, not ({n},)"
                f"{fields}"
            )
        if not array.is_contiguous:
            raise UnsupportedError(f"{name} is not contiguous: {name}.contiguous() is")
        return _flat(array, array.size)


def _check_matrix(A: Any) -> None:
    if not isinstance(A, BsrMatrix):
        raise UsageError(f"A is of the type {type(A).__name__}, not a warp.sparse.BsrMatrix")
    rows, columns = A.block_shape
    if rows != columns or rows not in _sizes:
        raise UnsupportedError(
            f"A has blocks of {rows} x {columns}: entries are scalars and blocks of 2 x 2, 3 x 3, "
            "4 x 4 and 6 x 6"
        )
    if A.scalar_type not in (wp.float32, wp.float64):
        raise UnsupportedError(
            f"A is of {_name_of(A.scalar_type)}: matrices of float32 and float64 are solved"
        )
    if not A.values.is_contiguous:
        raise UnsupportedError("the values of A are not contiguous: A.values.contiguous() is")


def _pattern_of(A: BsrMatrix) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Row offsets and columns of the entries, and their places in the arrays of A; ``None`` if
    these follow one another. The arrays may be longer than that, and ``nnz`` larger."""
    offsets, columns = A.offsets.numpy()[: A.nrow + 1], A.columns.numpy()
    counts = getattr(A, "row_counts", None)
    if counts is None:
        return offsets, columns[: offsets[-1]], None
    counts = counts.numpy()[: A.nrow]  # rows have room for more entries
    packed = np.append(0, np.cumsum(counts))
    places = np.arange(packed[-1]) + np.repeat(offsets[:-1] - packed[:-1], counts)
    return packed, columns[places], places


def _arrays_of(A: BsrMatrix) -> tuple[Any, ...]:
    return A.offsets, A.columns, getattr(A, "row_counts", None)


def _settings_for(A: BsrMatrix, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with A's device, and with arrays that Heddle reads."""
    device = f"cuda:{A.device.ordinal}" if A.device.is_cuda else "cpu"
    if settings.get("device") is not None:
        raise UsageError(f"device is that of A, {device}: leave it out")
    if A.device.is_cuda and settings.get("ranks") is not None:
        raise UnsupportedError(f"ranks take arrays in the host's memory, but A is on {device}")
    taken = {name: value.numpy() if isinstance(value, wp.array) else value
             for name, value in settings.items()}  # fmt: skip
    return {**taken, "device": device}


def _flat(array: wp.array, count: int) -> wp.array:
    """The scalars of the first ``count`` elements, in place."""
    size, scalar = count * wp.types.type_size(array.dtype), _scalar_of(array.dtype)
    flat = wp.array(ptr=array.ptr, dtype=scalar, shape=(size,), device=array.device)
    flat._ref = array  # which owns the memory
    return flat


def _scalar_of(dtype: Any) -> Any:
    return getattr(dtype, "_wp_scalar_type_", dtype)


def _name_of(dtype: Any) -> str:
    return getattr(dtype, "__name__", str(dtype))
