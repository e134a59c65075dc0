"""Solvers that are kept."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _heddle
from ._arrays import _row_shapes, check_form, forms, numbers, writable
from ._edits import edited_tree
from ._errors import SingularError, SizeError, UnsupportedError, UsageError
from ._gpu import copy_there, empty_like, on_gpu, package_of, place_of, stream_number
from ._instead import refuse_no_system
from ._matrix import Adjoint, Matrix
from ._planned import is_matrix, operator_for
from ._preconditioners import preconditioner_of, use_arrays
from ._ranks import OnRanks, ranks_worth_it
from ._result import Result
from ._settings import Taken
from ._tune import Profile

Callback = Callable[[int, float], Any]

# Iterations of a solve after which it is worth checking for a better form of the matrix.
_many_iterations = 100

uses_of_solver = "storage", "ranks", "solver", "multigrid"
_taken = Taken("heddle.Solver", *uses_of_solver)


def _method_named(method: str) -> str:
    """The name, with "auto" in lower case. Raises ``UsageError`` for a method that ``Solver`` does
    not take."""
    if not isinstance(method, str):
        raise UsageError(f"method={method!r} is not a text, such as 'auto' or 'cg'")
    instead = "lsmr is a function of its own, for least squares: heddle.lsmr(A, b)"
    if method.lower() == "lsmr":
        raise UsageError(instead)
    try:
        _heddle.choose_other_method(method, "converged", 0)
    except UsageError as error:
        raise UsageError(f"{error}; {instead}") from None
    return "auto" if method.lower() == "auto" else method


def _copy_of(x: Any) -> Any:
    """A copy of a guess; None for None, and for an array of a package whose arrays cannot be copied
    on the GPU."""
    if x is None or (on_gpu(x) and not package_of(x)):
        return None
    return copy_there(x) if on_gpu(x) else np.array(x)


@_taken.shown
class Solver:
    """A solver that is kept: memory is allocated once, and each solve may have another right-hand
    side.

    Parameters
    ----------
    A
        A ``Matrix``; an object that makes one; the adjoint ``A.H`` of one; or a ``LinearOperator``
        of SciPy or, on a GPU, CuPy (an object with ``shape``, ``dtype`` and ``matvec``) of real or
        complex numbers.
    method
        ``"auto"``: one that the matrix allows, and another if a solve shows that it does not; or
        ``"cg"``, ``"minres"``, ``"cr"``, ``"bicgstab"``, ``"bicgstab2"``, ``"gmres"``,
        ``"fgmres"``, ``"cocg"``, ``"cocr"``, ``"chebyshev"``, ``"richardson"``, ``"block-cg"``,
        which solves the up to 16 systems of ``solve_all`` in one Krylov space.
    preconditioner
        ``"auto"``: ``"jacobi"`` if a diagonal entry has an inverse, else none; another text,
        such as ``"block-jacobi:2"``, ``"jacobi*fsai"``, see docs/reference/command-line.md;
        ``None``; or your own z = M^-1 r: a function, a SciPy ``LinearOperator``, or a matrix that
        stands for M^-1. Functions get an array in the solver's own memory, which must not be kept;
        on a GPU it is an array of CuPy.
    profile
        The profile from which the plan is chosen: a ``Profile``, or the path of one. ``None``:
        those that docs/reference/profiles.md names.

        The matrix keeps a copy of its entries for each device, number of threads and plan. A tree,
        ``storage="hisparse"``, has the entries that A has now: after ``update_values`` its solves
        raise ``UsageError``.
    null_space
        A vector v with A v = 0 and v* A = 0, of b's shape, or several, in the form in which
        ``solve_all`` takes right-hand sides: the system is solved in the space orthogonal to them,
        and b is projected into it.
    shift
        Solve (A + shift I) x = b, with a real shift; only preconditioners made of products work
        for that matrix.
    coordinates, candidates
        For multigrid, see docs/guide/multigrid.md: a point for each row of ``block2`` or
        ``block3`` entries; fields that A nearly maps to zero, or ``"adaptive"``.
    varies
        A function as preconditioner may be another map each time; then only fgmres takes it.
    ranks
        The number of ranks to solve on, threads that share the rows, as in ``heddle solve --ranks``
        and docs/guide/distributed.md; ``device`` names one device for all of them or, with commas,
        one for each. ``"auto"`` takes as many of these as are predicted to be worth it. Each solve
        distributes the matrix anew, and takes arrays in the host's memory.
    {settings}

    >>> import numpy as np
    >>> import heddle
    >>> A = heddle.generate("dirac", 1000)
    >>> solver = heddle.Solver(A, "cg", rtol=1e-8)
    >>> b = np.zeros((A.shape[0], 4))
    >>> b[:, 0] = 1                           # w of each quaternion w, x, y, z
    >>> solver.solve(b).status
    'converged'
    """

    def __init__(
        self,
        A: Any,
        method: str = "auto",
        preconditioner: Any = "auto",
        *,
        profile: Profile | str | os.PathLike[str] | None = None,
        null_space: ArrayLike | None = None,
        shift: float = 0.0,
        coordinates: ArrayLike | None = None, candidates: ArrayLike | str | None = None,
        varies: bool = False,
        ranks: int | str | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(candidates, str):
            settings["candidates"], candidates = candidates, None
        texts = _taken.texts(settings)
        checked = _heddle.Settings(texts)  # checked by the library before any work
        method = _method_named(method)
        named = isinstance(preconditioner, str)
        has_entries = is_matrix(A) and shift == 0
        of_entries = named and preconditioner in ("auto", "jacobi")
        if preconditioner is None or (of_entries and not has_entries):
            preconditioner, named = "none", True
        takes_multigrid = named and preconditioner != "none"  # else the library refuses it
        if texts or coordinates is not None or candidates is not None:
            self._refuse_unused(texts, takes_multigrid, ranks, coordinates, candidates)
        self._notes: list[str] = []  # notes on choices, for results
        self._advice: str | None = None  # advice on the matrix, once requested
        self._store(A, method, texts, profile, ranks)
        refuse_no_system(self.A.shape, self.entry)
        self._is_tree = self._generation is not None
        if named and preconditioner == "auto":
            preconditioner, why = _heddle.choose_preconditioner(self.A._own)
            if preconditioner == "none":
                self._notes.append(f"jacobi was not taken: {why}")
        self.preconditioner = preconditioner
        self._texts = texts
        self._given = preconditioner, varies, coordinates, candidates, null_space, float(shift)
        self._is_free = method == "auto"
        on_ranks = isinstance(self._base, OnRanks)
        if method == "auto":
            stored = None if on_ranks else self._shifted()
            text = preconditioner if named else "none"
            method = _heddle.choose_method(self.A._own, stored, text)
        self.method = method
        self._shape = (self._base.rows, *_row_shapes[self.entry])
        self._forms = forms(self._shape)
        self._begin(None if on_ranks else checked)

    @staticmethod
    def _refuse_unused(
        texts: dict[str, str], takes_multigrid: bool, ranks: Any, coordinates: Any, candidates: Any
    ) -> None:
        """Raises ``UsageError`` for settings that do not reach the library."""
        uses = _taken.by_use(texts)
        if "ranks" in uses and ranks is None:
            name = next(iter(uses["ranks"]))
            raise UsageError(f"{name} is for ranks: give their number, as ranks=2")
        if not takes_multigrid:
            arrays = {"coordinates": coordinates, "candidates": candidates}
            given = [name for name, array in arrays.items() if array is not None]
            for name in (*uses.get("multigrid", ()), *given):
                raise UsageError(f"{name} is for the preconditioner multigrid")

    def _store(self, A: Any, method: str, texts: dict[str, str], profile: Any, ranks: Any) -> None:
        """Brings A to a device, or to ranks; ``texts`` then holds the ranks' devices and threads."""
        self._base: Any  # an _heddle.Operator, or OnRanks
        if ranks == "auto":
            A = A if not is_matrix(A) or isinstance(A, Matrix) else Matrix(A)
            ranks, texts["device"] = ranks_worth_it(A, texts)
        if ranks is None:
            stored = _taken.by_use(texts).get("storage", {})
            self._base, self.A, self.entry, self.dtype, self._generation = operator_for(
                A, method, stored, profile)  # fmt: skip
            return
        if profile is not None:
            raise UnsupportedError("profile is not for ranks")
        self._base = OnRanks(A, ranks, texts)
        self.A, self._generation = self._base.matrix, None
        self.entry, self.dtype = self.A.entry, self.A.dtype

    def _shifted(self) -> _heddle.Operator:
        shift = self._given[-1]
        return self._base.shifted(shift) if shift != 0 else self._base

    def _begin(self, settings: _heddle.Settings | None = None) -> None:
        """Makes the library's solver from ``_base``. ``settings``: if they have been made."""
        try:
            self._make(settings)
        except SingularError:
            words = self._entry_not_finite()
            if not words:
                raise
            raise UsageError(words) from None

    def _make(self, settings: _heddle.Settings | None) -> None:
        preconditioner, varies, coordinates, candidates, null_space, shift = self._given
        # A chosen method need not take all settings of the methods that could have been chosen.
        texts = _taken.for_method(self.method, self._texts) if self._is_free else self._texts
        if settings is None or len(texts) < len(self._texts):
            settings = _heddle.Settings(texts)
        records = texts.get("record_history") in ("true", "1")
        use_arrays(settings, self._base.rows, self.entry, self.dtype, coordinates, candidates)
        vectors = self._null_vectors(null_space)
        if isinstance(self._base, OnRanks):
            if on_gpu(vectors):
                raise UsageError("ranks need arrays in the host's memory, but null_space is not")
            self._operator: Any = self._base
            self._own: Any = self._base.solver(
                self.method, preconditioner, shift, settings, records, vectors)  # fmt: skip
        else:
            self._operator = self._shifted()
            own = preconditioner_of(
                self._operator, self.entry, self.dtype, preconditioner, varies, settings)  # fmt: skip
            self._M = own
            self._own = _heddle.Solver.make(self._operator, self.method, own, settings, records)
        # x and the arrays that each enqueued solve uses, by address, the latest last. Declared
        # after `_own`, which waits for these solves when it is deleted: attributes are deleted in
        # their order.
        self._queued: dict[Any, tuple[Any, Any]] = {}
        if vectors is not None and not isinstance(self._base, OnRanks):
            shape = len(vectors), *self._shape
            _kept, place = self._place(vectors, "null_space", shape=shape)
            self._own.set_null_space(len(vectors), place)

    def _null_vectors(self, given: Any) -> Any:
        """The null vectors in the shape ``(k, *self._shape)``, or None."""
        if given is None:
            return None
        vectors = self._one_after_another(given, "null_space")
        if tuple(vectors.shape) in self._forms:
            vectors = vectors.reshape(1, *self._shape)
        self._check_shape(vectors, (len(vectors), *self._shape), "null_space")
        return vectors

    def edited(self, *, set: Any = None, add: Any = None, remove: Any = None) -> Solver:
        """A solver of the edited matrix, if the storage is ``"hisparse"``: its tree shares all
        nodes with this one's except those that the edits touch; edits are as for ``Matrix.edited``.
        This solver is unchanged; the other has its options, and no ``A``.

        >>> import numpy as np
        >>> import heddle
        >>> solver = heddle.Solver(np.diag([2.0, 4.0]), storage="hisparse")
        >>> solver.edited(set=([8.0], ([1], [1]))).solve([2.0, 8.0]).x
        array([1., 1.])
        """
        if not self._is_tree:
            raise UsageError("a solver takes edits only of a tree: storage='hisparse'")
        self._check_entries()
        other = copy.copy(self)
        other.A = other._generation = None
        other._notes = self._notes.copy()
        other._base = edited_tree(self._base, self.entry, self.dtype, set, add, remove)
        other._begin()
        return other

    def solve(
        self,
        b: ArrayLike,
        out: Any = None,
        *,
        x0: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Solves A x = b.

        Parameters
        ----------
        b
            Shape ``(n,)`` numbers, ``(n, 4)`` quaternions w, x, y, z, ``(n, 3)`` for 3x3 blocks; or
            all of it flat. No copy is made of a contiguous array of the matrix's type. A type that
            would lose digits, such as double for a matrix in single precision, raises
            ``UnsupportedError``. For a solver on a GPU, b may also be an array of CuPy, PyTorch,
            JAX or Numba on that GPU, contiguous and of the matrix's type.
        out
            Where x goes: a contiguous array of the matrix's type, which is never copied. It lies in
            either memory, is of NumPy or accessible by DLPack (PyTorch's tensors), and shares no
            memory with b. Without it x is an array of NumPy or, for a b in a GPU's memory, of CuPy
            or PyTorch; for a b of JAX or Numba there, it must be given.
        x0
            The guess to start from, of the types and shapes that b may have; zero by default.
            ``x0=out`` starts from the values in ``out``.
        callback
            ``callback(iteration, relative_residual)`` after each iteration except the last. An
            exception that it raises ends the solve and is raised here.
        """
        kept = _copy_of(out) if self._is_free and x0 is out else None  # a solve overwrites it
        result = self._solve_once(b, out, x0, callback)
        while self._is_free and self._turns_from(result.status, result.iterations):
            result = self._solve_once(b, out, x0 if kept is None else kept, callback)
        return result

    def _turns_from(self, status: str, iterations: int) -> bool:
        """True if another method takes over, as in the command line, when none was named."""
        if status == "converged":
            return False
        other, why = _heddle.choose_other_method(self.method, status, iterations)
        if not other:
            return False
        self.method = other
        self._notes.append(f"{other} took over: {why}")
        self._begin()
        return True

    def _result(self, x: Any, report: list[Any], history: Any) -> Result:
        if report[0] == "not finite":
            report[6] = self._entry_not_finite() or report[6]
        words = [report[6], *self._notes]
        if report[1] >= _many_iterations and isinstance(self.A, Matrix):
            if self._advice is None:
                self._advice = self.A._own.advice()
            words.append(self._advice)
        report[6] = "; ".join(filter(None, words))
        return Result(x, self.method, report, history)

    def _entry_not_finite(self) -> str:
        """The matrix's first entry that is not finite, in words; empty if there is none, or no
        matrix."""
        matrix = self.A.H if isinstance(self.A, Adjoint) else self.A
        if not isinstance(matrix, Matrix):
            return ""
        finite = np.isfinite(matrix.data.reshape(matrix.nnz, -1)).all(axis=1)
        if finite.all():
            return ""
        first = int(finite.argmin())
        row = int(np.searchsorted(matrix.indptr, first, "right")) - 1
        column = matrix.indices[first]
        return f"the entry of A at row {row}, column {column} (counted from 0) is not finite"

    def _solve_once(self, b: Any, out: Any, x0: Any, callback: Callback | None) -> Result:
        self._check_entries()
        dtype = self.dtype
        if type(b) is not np.ndarray or (out is not None and type(out) is not np.ndarray):
            if on_gpu(b) or on_gpu(out):
                return self._solve_in_place(b, out, x0, callback)
        if type(b) is np.ndarray and b.dtype is dtype and b.flags.carray:
            given = b
        else:
            given = numbers(b, dtype, "b")
        if given.shape not in self._forms:
            check_form(given, self._shape, "b", self._several(given))
        if out is None:
            out = x = np.empty(given.shape, dtype)
        else:
            x = writable(out, dtype, "out")
            check_form(x, self._shape, "out")
        if x0 is None or x0 is out:
            *report, history = self._own.solve(given, x, x0 is None, callback)
        else:
            if on_gpu(x0):
                raise UsageError("x0 is in a GPU's memory, but out in the host's")
            start = numbers(x0, dtype, "x0")
            check_form(start, self._shape, "x0")
            places = ((array.ctypes.data, False) for array in (given, x, start))
            *report, history = self._own.solve_at(*places, False, callback)
        return self._result(out, report, history)

    @property
    def plan(self) -> str:
        """The plan of the stored matrix, see docs/reference/plans.md; empty for an operator without
        one."""
        return self._operator.plan

    def solve_all(
        self,
        b: ArrayLike,
        out: Any = None,
        *,
        x0: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> list[Result]:
        """Solves A x = b for several b, side by side where that is faster: products then read the
        matrix once for up to 8 of them.

        Parameters
        ----------
        b
            Shape ``(k, n)`` for numbers, ``(k, n, 4)`` for quaternions, ...: one right-hand side
            after the other; of the types that ``solve`` takes, in either memory. In the host's
            memory also ``(n, k)``, ``(n, k, 4)``: one per column, if k is not n; this is copied.
            If k is n, each row is a right-hand side: pass ``b.T`` for those in the columns of b.
        out, x0
            Same as for ``solve``, of either shape; an ``out`` with one solution per column is
            written at the end.

        Each system has the same result as alone, except for seconds; histories are not kept.

        >>> import numpy as np
        >>> import heddle
        >>> solver = heddle.Solver(np.diag([1.0, 2.0]))
        >>> [result.x for result in solver.solve_all(np.array([[2.0, 2.0], [4.0, 4.0]]))]
        [array([2., 1.]), array([4., 2.])]
        """
        self._check_entries()
        given = self._one_after_another(b, "b")
        count = len(given) if len(given.shape) > 0 else 0
        shape = (count, *self._shape)
        keeps, b_place = self._place(given, "b", shape=shape)
        x0_is_out = x0 is not None and x0 is out
        columns = None  # the caller's, which get the solutions at the end
        if out is None:
            out = empty_like(given, shape) if on_gpu(given) else np.empty(shape, self.dtype)
        elif self._has_columns(out):
            columns = writable(out, self.dtype, "out").swapaxes(0, 1)
            out = np.ascontiguousarray(columns)
        x_keeps, x_place = self._place(out, "out", writable=True, shape=shape)
        from_zero = x0 is None
        x0_keeps, guess = None, None
        if not from_zero and not x0_is_out:
            x0_keeps, guess = self._place(self._one_after_another(x0, "x0"), "x0", shape=shape)
        kept = _copy_of(out) if self._is_free and x0_is_out else None  # a solve overwrites it
        reports = self._own.solve_all(count, b_place, x_place, guess, from_zero, callback)
        while self._is_free and any(self._turns_from(*one[:2]) for one in reports):
            if kept is not None:
                x0_keeps, guess = self._place(kept, "x0", shape=shape)
            reports = self._own.solve_all(count, b_place, x_place, guess, from_zero, callback)
        del keeps, x_keeps, x0_keeps  # needed up to here
        if columns is not None:
            columns[...] = out
            out = columns
        return [self._result(x, all, None) for x, (*all, _) in zip(out, reports)]

    def _has_columns(self, given: Any) -> bool:
        """True if the shape is ``(n, k, ...)``, and not ``(k, n, ...)``."""
        shape = tuple(getattr(given, "shape", ()))
        is_of_columns = len(shape) > 1 and (shape[0], *shape[2:]) == self._shape
        return is_of_columns and shape[1:] != self._shape and not on_gpu(given)

    def _one_after_another(self, given: Any, name: str) -> Any:
        if on_gpu(given):
            return given
        array = numbers(given, self.dtype, name)
        return np.ascontiguousarray(array.swapaxes(0, 1)) if self._has_columns(array) else array

    def _several(self, b: Any) -> str:
        """Advice for an error of ``solve``, which takes one right-hand side, if b has several."""
        is_several = self._has_columns(b) or b.shape[1:] == self._shape
        return "; Solver.solve_all solves for several right-hand sides" if is_several else ""

    def _solve_in_place(self, b: Any, out: Any, x0: Any, callback: Callback | None) -> Result:
        """Solves with arrays some of which lie in a GPU's memory; the others lie in the host's."""
        keeps, b_place = self._place(b, "b")
        x = empty_like(b, b.shape) if out is None else out
        x_keeps, x_place = self._place(x, "out", writable=True)
        from_zero = x0 is None
        x0_keeps, guess = (None, None) if from_zero or x0 is x else self._place(x0, "x0")
        *report, history = self._own.solve_at(b_place, x_place, guess, from_zero, callback)
        del keeps, x_keeps, x0_keeps  # needed up to here
        return self._result(x, report, history)

    def _place(
        self, array: Any, name: str, stream: int | None = None, writable: bool = False,
        shape: tuple[int, ...] | None = None,
    ) -> tuple[Any, tuple[int, bool]]:  # fmt: skip
        """The object that keeps the array alive, and where it lies. ``shape``: the shape of several
        vectors."""
        given = place_of(array, self._operator, self.dtype, name, stream=stream, writable=writable)
        self._check_shape(given[0], shape, name)
        return given

    def _check_entries(self) -> None:
        if isinstance(self._base, OnRanks):
            self.A._own  # noqa: B018  with the newest entries
        if self._generation is not None and self._generation != self.A._generation:
            raise UsageError("the matrix has new values, which a tree cannot take: remake the solver")

    def _check_shape(self, given: Any, shape: tuple[int, ...] | None, name: str) -> None:
        if shape is None:
            check_form(given, self._shape, name)
        elif tuple(given.shape) != shape:
            raise SizeError(
                f"{name} has the shape {tuple(given.shape)}, not {shape}: vectors one "
                "after the other"
            )

    def enqueue(self, b: Any, x: Any, *, stream: Any = None) -> None:
        """Solves A x = b from the guess in x, in the order of a stream: after the work that the
        stream holds now, and before work queued later. Returns at once; ``wait`` returns the
        result.

        For a solver on a GPU whose plan says ``loop=graph`` or ``loop=persistent``. The solve is
        one CUDA graph, made by the first call for these two arrays; see
        ``docs/guide/embedding.md``.

        Parameters
        ----------
        b, x
            Contiguous arrays of the matrix's type in the GPU's memory, of the shapes that ``solve``
            takes. The solver keeps all enqueued arrays until ``wait`` has returned. The caller must
            keep those of a captured solve as long as the graph.
        stream
            A stream of CuPy, PyTorch or CUDA Python, or the number of a ``cudaStream_t``; ``None``
            is the one on which x's package works now, else the default stream. While it is being
            captured, the solve becomes part of the caller's graph, if ``prepare_enqueue`` was
            called before. Until the capture ends, call nothing else of heddle for that GPU, and let
            none of heddle's objects there be destroyed.
        """
        queue, number = self._queue(), stream_number(stream, x)
        kept = self._places_of(b, x, number)
        key = kept[0][1], kept[1][1]
        queue.enqueue(*key, number)
        self._queued.pop(key, None)
        self._queued[key] = x, kept

    def prepare_enqueue(self, b: Any, x: Any) -> None:
        """Does what the first ``enqueue`` of these arrays does before it queues the solve."""
        queue, kept = self._queue(), self._places_of(b, x, self._operator.stream)
        queue.prepare_enqueue(kept[0][1], kept[1][1])

    def _queue(self) -> _heddle.Solver:
        """The library's solver. Raises ``UnsupportedError`` for ranks, which have no queue."""
        if isinstance(self._base, OnRanks):
            raise UnsupportedError("a solver on ranks enqueues nothing: solve returns the result")
        self._is_free = False  # graphs of the caller's hold what another method would destroy
        return self._own

    def _places_of(self, b: Any, x: Any, stream: int) -> tuple[Any, Any]:
        self._check_entries()
        if self._operator.gpu < 0:
            raise UnsupportedError("enqueue needs a solver on a GPU: device='cuda'")
        return self._place(b, "b", stream), self._place(x, "x", stream, writable=True)

    def wait(self) -> Result:
        """Waits for the solves that were enqueued. The result is that of the last one; its
        ``seconds`` are NaN. Raises ``UsageError`` if none has ended since the last ``solve``. It
        does not wait for graphs of the caller's: first synchronize the stream of their replays."""
        *report, history = self._queue().wait()
        key, (x, kept) = next(reversed(self._queued.items()))
        self._queued = {key: (x, kept)}
        return self._result(x, report, history)

    def cancel(self) -> None:
        """From any thread: ends the enqueued solve that is running, or else the next one, as
        ``"cancelled"`` within 16 iterations."""
        self._queue().cancel()

    def __repr__(self) -> str:
        return f"<heddle.Solver: {self.method} for {self._shape[0]} rows of {self.entry} entries>"
