"""Solves as functions of JAX, with derivatives to the right-hand side and to the entries of A.

``import heddle.jax`` needs JAX; ``import heddle`` does not import it."""

from __future__ import annotations

import math
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.experimental.sparse import BCOO, BCSR
from numpy.typing import NDArray

from . import _heddle, _solvers
from ._arrays import _entry_shapes, _row_shapes
from ._errors import SizeError, UnsupportedError, UsageError
from ._jax_pattern import Pattern, is_known, known, pattern_of
from ._jax_primitive import apply_inverse, bytes_of_report, key_for
from ._matrix import Matrix
from ._mirror import Mirror
from ._ranks import OnRanks
from ._right_hand_sides import NotConvergedError, as_given, good, one_after_another
from ._settings import Taken

__all__ = ["NotConvergedError", "Solver", "solve"]


def solve(
    A: BCSR | BCOO | Matrix,
    b: Array,
    *,
    values: Array | None = None,
    method: str = "auto",
    preconditioner: Any = "auto",
    x0: Array | None = None,
    **settings: Any,
) -> Array:
    """The x with A x = b, an array of b's shape.

    Parameters
    ----------
    A
        A square ``BCSR`` or ``BCOO`` whose numbers are known: in a function that JAX traces, use a
        ``Solver`` that was made outside. Or a ``heddle.Matrix``, of entries of any kind.
    b
        Shape ``(n,)``, or ``(n, k)`` with a right-hand side in each column, n being the numbers of
        a vector. For compound entries also ``(N, r)``, a row for each row of A, or ``(N, k, r)``.
    values
        For a ``heddle.Matrix``: entries, shape ``(nnz, ...)`` in the order of ``A.data``, which get
        a gradient. Without them A's own are constants.
    x0
        The guess, of b's shape. It has no gradient.
    method, preconditioner, settings
        Those of ``heddle.Solver``. ``device`` is that of A, or JAX's default for a
        ``heddle.Matrix``.

    All arrays have one dtype, of single or double precision. Derivatives to b and to the entries,
    forward and backward and of any order, are solves too, with A or its adjoint, and as accurate as
    ``rtol`` says. ``jax.vmap`` over b solves for the batch at once, over entries for one system
    after the other.

    Raises ``NotConvergedError`` in place of an x or a gradient beyond ``rtol``, except for one that
    is as good as its precision allows (``"accuracy limit"``). A compiled function raises these
    words in JAX's own ``JaxRuntimeError``; on a GPU, for which nothing waits, such an x is NaN.
    """
    if isinstance(A, Matrix):
        if values is not None and is_known(values):
            A = Matrix(A)  # with the values, before a method is chosen for them
            A.update_values(np.asarray(known(_check(values, "values", A))))
    elif values is not None:
        raise UsageError("values are for a heddle.Matrix: a BCSR or a BCOO has its own")
    elif isinstance(getattr(A, "data", None), jax.core.Tracer):  # else they are constants
        values = A.data
    return Solver(A, method, preconditioner, **settings).solve(b, values, x0=x0)


class Solver:
    """A solver that is kept, for new right-hand sides and new values of A; parameters are those of
    ``solve``. Only its making finds out about the pattern of A: make it outside of the functions
    that JAX compiles, and solve inside.

    Compiled functions keep their solver. It solves for one call at a time."""

    def __init__(
        self,
        A: BCSR | BCOO | Matrix,
        method: str = "auto",
        preconditioner: Any = "auto",
        **settings: Any,
    ) -> None:
        _taken.check_names(settings)
        self._pattern: Pattern | None = None
        if isinstance(A, Matrix):
            self.A = Matrix(A)  # a copy, whose values only this solver changes
            with jax.ensure_compile_time_eval():
                device = next(iter(jnp.zeros(()).devices()))
        else:
            self._pattern = pattern_of(A)
            self.A = self._pattern.matrix(A.data)
            device = next(iter(known(A.data).devices()))
        if device.platform != "cpu" and "ranks" not in settings:
            settings.setdefault("device", f"cuda:{device.id}")
        self._arguments = method, preconditioner, settings
        self._own = _System(_solvers.Solver(self.A, method, preconditioner, **settings))
        self._adjoint: _System | None = None
        self._mirror: Mirror | None = None
        self._rows = (self.A.shape[0], *_row_shapes[self.A.entry])
        # Held from new values to the end of their solve.
        self._lock = threading.RLock()
        self.key = key_for(self)

    def solve(self, b: Array, values: Array | None = None, *, x0: Array | None = None) -> Array:
        """The x with A x = b, as ``heddle.jax.solve`` returns it.

        ``values``: new entries of A, in the order of the ``data`` of the BCSR, the BCOO or the
        ``heddle.Matrix`` that the solver was made of. Without them they are those that A had
        then."""
        rows = self._as_rows(b, "b")
        if x0 is not None and np.shape(x0) != np.shape(b):
            raise SizeError(f"x0 has the shape {np.shape(x0)}, but b {np.shape(b)}")
        guess = None if x0 is None else self._as_rows(x0, "x0")
        if values is not None:
            values = self._entries(_check(values, "values", self.A))
        x, _ = apply_inverse(self, values, rows, guess)
        return as_given(x, np.shape(b), self._rows)

    def _as_rows(self, b: Array, name: str) -> Array:
        return one_after_another(_check(b, name, self.A), name, self._rows)

    def _entries(self, values: Array) -> Array:
        """Given values in the order of ``self.A``."""
        if self._pattern is not None:
            return self._pattern.entries(values)
        shape = self.A.nnz, *_entry_shapes[self.A.entry]
        if values.shape != shape:
            raise SizeError(f"values has the shape {values.shape}, not {shape}")
        return values

    # The part that the primitive uses.

    @property
    def on_gpu(self) -> bool:
        return self._own.gpu is not None

    @property
    def mirror(self) -> Mirror:
        if self._mirror is None:
            self._mirror = Mirror(self.A)
        return self._mirror

    def solve_on_host(
        self, values: NDArray[Any] | None, b: NDArray[Any], x: NDArray[Any],
        report: NDArray[np.int32], adjoint: bool, raises: bool,
    ) -> None:  # fmt: skip
        """Solves from the guesses in x, and writes x and the reports."""
        with self._lock:
            self._own.take(values)
            system = self._own
            if adjoint and not self.mirror.is_hermitian(self.A.data):
                system = self.prepare_adjoint()
                system.take(self.mirror.adjoint(self.A.data))
            results = system.own.solve_all(b, x, x0=x) if len(b) else []
        for numbers, result in zip(report, results):
            numbers[0] = _heddle.outcomes.index(result.status)
            numbers[4:6].view(np.int64)[0] = result.iterations
        if raises and any(result.status not in good for result in results):
            words = "the adjoint solve of a gradient" if adjoint else "the solve"
            raise NotConvergedError(words, results)

    def enqueue(
        self, values: int | None, b: int, x: int, report: int, count: int, adjoint: bool,
        stream: int,
    ) -> None:  # fmt: skip
        """The same by addresses in a GPU's memory, in the order of a stream. An adjoint is solved
        with given entries of A*, and by a solver of its own: the host is not to wait for the
        knowledge that A is Hermitian."""
        with self._lock:
            system = self.prepare_adjoint() if adjoint else self._own
            system.enqueue(values, b, x, report, count, stream)

    def prepare_adjoint(self) -> _System:
        with self._lock:
            if self._adjoint is None:
                values = self.mirror.adjoint(self.A.data)
                self._adjoint = _System(self.mirror.solver(values, *self._arguments))
            return self._adjoint

    def __repr__(self) -> str:
        return f"<heddle.jax.Solver: {self._own.own!r}>"


_taken = Taken("heddle.jax.Solver", *_solvers.uses_of_solver)
_taken.shown(Solver, _solvers.Solver)
_taken.shown(solve, _solvers.Solver)


class _System:
    """A solver, and the entries that its matrix has while none are given."""

    def __init__(self, own: _solvers.Solver) -> None:
        self.own = own
        is_on_gpu = not isinstance(own._base, OnRanks) and own._base.gpu >= 0
        self.gpu: Any = own._base if is_on_gpu else None
        self._constants: NDArray[Any] | None = None  # as long as A has them: None
        self._has_others = False  # on the GPU
        self._bytes = math.prod((own.A.shape[0], *_row_shapes[own.A.entry])) * own.dtype.itemsize

    def take(self, values: NDArray[Any] | None) -> None:
        A = self.own.A
        values = self._constants if values is None else values
        if values is None or np.array_equal(values, A.data):
            return
        if self._constants is None:
            self._constants = A.data.copy()
        A.update_values(values)

    def enqueue(
        self, values: int | None, b: int, x: int, report: int, count: int, stream: int
    ) -> None:
        A = self.own.A  # has its constants still
        if values is not None:
            self.gpu.update_values_at((values, True), A.nnz, stream)
        elif self._has_others:
            self.gpu.update_values(A.data)
        self._has_others = values is not None
        for k in range(count):
            places = ((first + k * self._bytes, True) for first in (b, x))
            self.own._own.enqueue(*places, stream, report + k * bytes_of_report)


def _check(given: Any, name: str, A: Matrix) -> Array:
    if not isinstance(given, (Array, np.ndarray)):
        raise UsageError(f"{name} is of the type {type(given).__name__}, not an array")
    given = jnp.asarray(given)
    if given.dtype != A.dtype:
        advice = "convert one of them"
        if A.precision == "double" and not jax.config.jax_enable_x64:
            advice = "jax.config.update('jax_enable_x64', True) allows doubles"
        raise UnsupportedError(f"{name} is of {given.dtype}, but A of {A.dtype}: {advice}")
    return given
