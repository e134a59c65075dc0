"""Heddle inside PETSc, by petsc4py: a preconditioner and a solver that options name.

    -pc_type python -pc_python_type heddle.petsc.PC
    -ksp_type python -ksp_python_type heddle.petsc.KSP

See docs/guide/doors.md. Errors of heddle are raised as ``Error``, which PETSc's callers catch as
``petsc4py.PETSc.Error``; the error of heddle is its cause.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from petsc4py import PETSc

from . import _errors, _heddle, _preconditioners
from ._matrix import Matrix
from ._settings import Taken, table
from ._solvers import Solver

_parsers: dict[str, Callable[[str], Any]] = {
    "number": float, "whole_number": int,
    "numbers": lambda text: [float(part) for part in text.split(",")]}  # fmt: skip
_kinds = {name: row["kind"] for row in table for name in (row["name"], row.get("alias"))}
_codes = {"memory": 55, "unsupported": 56, "size mismatch": 60, "usage": 62}  # of petscerror.h
_user_code = 83

_Reason = PETSc.KSP.ConvergedReason
_reasons = {
    "iteration limit": _Reason.DIVERGED_MAX_IT, "time limit": _Reason.DIVERGED_MAX_IT,
    "indefinite": _Reason.DIVERGED_INDEFINITE_MAT, "not finite": _Reason.DIVERGED_NANORINF,
    "not Hermitian": _Reason.DIVERGED_NONSYMMETRIC,
    "not symmetric": _Reason.DIVERGED_NONSYMMETRIC}  # fmt: skip


class Error(PETSc.Error):
    """An error of heddle, in one line. ``ierr`` is PETSc's code for its kind."""

    def __init__(self, message: str, kind: str = "usage") -> None:
        super().__init__(_codes.get(kind, _user_code))
        self._message = message

    def __str__(self) -> str:
        return self._message


class _Rows:
    """The matrix of heddle that has the rows and columns of a PETSc matrix that this rank owns."""

    def __init__(self) -> None:
        self.matrix: Any = None  # a Matrix, once it has taken values
        self._pattern: tuple[Any, ...] = ()

    def take(self, P: PETSc.Mat) -> bool:
        """Takes P's values. True if ``matrix`` is another now, because P's pattern or blocks are."""
        own = P.getDiagonalBlock()
        if "sbaij" in own.getType():  # which shows only its upper triangle
            own = own.convert("aij", PETSc.Mat())
        indptr, indices, data = own.getValuesCSR()
        pattern = indptr, indices, P.getBlockSize()
        if self.matrix is not None and all(map(np.array_equal, pattern, self._pattern)):
            self.matrix.update_values(self._entries(data))
            return False
        self._pattern = pattern
        self._blocks = _blocks_of(*pattern, data.dtype.kind == "c")
        shape = own.getSize()
        if self._blocks is not None:
            size, _, indices, indptr = self._blocks
            shape = shape[0] // size, shape[1] // size
        self.matrix = Matrix((self._entries(data), indices, indptr), shape)
        return True

    def _entries(self, data: NDArray[Any]) -> NDArray[Any]:
        if self._blocks is None:
            return data
        size, places, columns, _ = self._blocks
        entries = np.zeros((len(columns), size, size), data.dtype)
        entries.reshape(-1)[places] = data
        return entries


def _blocks_of(indptr: Any, indices: Any, size: int, is_complex: bool) -> tuple[Any, ...] | None:
    """The pattern in blocks: their size, the place of each number among those of all blocks, and the
    blocks' columns and row offsets. None if there are no entries of that size, or if blocks would
    hold more than 1.5 times the numbers of the pattern: then they take more memory than it."""
    rows = len(indptr) - 1
    if size not in ((3,) if is_complex else (2, 3, 4, 6)) or rows % size:
        return None
    row, count = np.repeat(np.arange(rows), np.diff(indptr)), rows // size
    key = row // size * count + indices // size
    runs = np.flatnonzero(np.diff(key, prepend=-1))  # each of numbers in one block and one row
    blocks, of = np.unique(key[runs], return_inverse=True)
    if 2 * blocks.size * size * size > 3 * indices.size:
        return None
    of = np.repeat(of, np.diff(runs, append=key.size))
    places = (of * size + row % size) * size + indices % size
    return size, places, blocks % count, np.searchsorted(blocks, np.arange(count + 1) * count)


def _fields(space: PETSc.NullSpace, rows: int) -> NDArray[Any] | None:
    """This rank's rows of the vectors of a null space, ``(k, rows)``; None if there is no space."""
    if not space:
        return None
    fields = [vector.getArray(readonly=True) for vector in space.getVecs()]
    if space.hasConstant():
        fields.append(np.ones(rows, PETSc.ScalarType))
    return np.array(fields) if fields else None


class _OnGpu:
    """A Vec's numbers in a GPU's memory."""

    def __init__(self, vector: PETSc.Vec, address: int, writable: bool) -> None:
        self.shape, self.dtype = (vector.getLocalSize(),), np.dtype(PETSc.ScalarType)
        self.__cuda_array_interface__ = {
            "shape": self.shape, "typestr": self.dtype.str, "data": (address, not writable),
            "version": 3}  # fmt: skip


@contextlib.contextmanager
def _numbers(vector: PETSc.Vec, *, writable: bool = False, gpu: bool = False) -> Iterator[Any]:
    """This rank's numbers of a Vec, in place: in the host's memory, or in that of its GPU."""
    if gpu and "cuda" in vector.getType():
        mode = "rw" if writable else "r"
        address = vector.getCUDAHandle(mode)
        try:
            yield _OnGpu(vector, address, writable)
        finally:
            vector.restoreCUDAHandle(address, mode)
    else:
        with vector.getBuffer(readonly=not writable) as numbers:
            yield numbers


class _Context:
    """Settings from the program and from PETSc's options, and the matrix that they are for."""

    _kind: str  # of options
    _named: tuple[str, ...]  # options that are no settings of heddle
    _taken: Taken

    def __init__(self, **given: Any) -> None:
        self._program, self._prefix = given, ""
        self._database: dict[str, Any] = {}
        self._rows = _Rows()
        self._last: tuple[Any, ...] | None = None

    def setFromOptions(self, of: PETSc.Object) -> None:
        self._prefix = f"{of.getOptionsPrefix() or ''}{self._kind}_heddle_"
        options = PETSc.Options(self._prefix)
        self._database = {name: self._value(options, name) for name in options.getAll()}

    def _value(self, options: PETSc.Options, name: str) -> Any:
        """The option's value, after a check if it is a setting. Raises ``Error``."""
        if name in self._named:
            return options.getString(name)
        kind, value = _kinds.get(name), options.getString(name)
        with contextlib.suppress(ValueError):  # the check refuses such a text
            value = _parsers[kind](value) if kind in _parsers else value
        with self._errors(f"-{self._prefix}{name}: "):
            if kind == "yes_or_no":
                value = options.getBool(name)
            _heddle.Settings(self._taken.texts({name: value}))
        return value

    @contextlib.contextmanager
    def _errors(self, before: str = "") -> Iterator[None]:
        """Makes errors of heddle PETSc's, and names the options that took part."""
        try:
            yield
        except _errors.Error as error:
            given = [f"-{self._prefix}{name} {value}" for name, value in self._database.items()]
            after = f" (with {' '.join(given)})" if given and not before else ""
            raise Error(f"{before}{error}{after}", error.kind) from error

    def _settings(self, P: PETSc.Mat) -> dict[str, Any]:
        settings = {**self._program, **self._database}
        if P.comm.size > 1:  # ranks share the cores
            settings.setdefault("threads", 1)
        return settings

    def _is_new(self, P: PETSc.Mat, *used: Any) -> bool:
        """Takes P's values. True if more than values changed since the last call: P's pattern,
        ``used``, or anything if the values are in a tree."""
        last, self._last = self._last, used
        if self._rows.take(P) or last is None or "storage" in used[0]:
            return True
        return not all(map(np.array_equal, last, used))


class PC(_Context):
    """Heddle's preconditioners as a PC of PETSc, each rank's for the rows and columns that it owns.

    Parameters
    ----------
    type
        A preconditioner's text as ``heddle.preconditioner`` takes it, here ``-pc_heddle_type``; by
        default ``"multigrid"`` if these rows and columns are Hermitian, else ``"auto"``.
    settings
        Settings of ``heddle.preconditioner``, here ``-pc_heddle_cycle`` and so on. Options replace
        those of the program.

    ``preconditioner`` is heddle's ``Preconditioner``, once the PC is set up. In a program:
    ``pc.setType("python")``, then ``pc.setPythonContext(heddle.petsc.PC(type="multigrid"))``.
    """

    _kind, _named, _taken = "pc", ("type",), _preconditioners._taken

    def __init__(self, type: str | None = None, **settings: Any) -> None:
        super().__init__(**({} if type is None else {"type": type}), **settings)
        self.preconditioner: Any = None  # a _preconditioners.Preconditioner, once it is set up

    def setUp(self, pc: PETSc.PC) -> None:
        P = pc.getOperators()[1]
        rows = P.getLocalSize()[0]
        settings, fields = self._settings(P), _fields(P.getNearNullSpace(), rows)
        with self._errors():
            if not self._is_new(P, {**settings}, fields) and self.preconditioner is not None:
                self.preconditioner.update()
                return
            self.preconditioner = None  # its memory is free for the next one
            matrix = self._rows.matrix
            text = settings.pop("type", None)
            if text is None:
                is_hermitian = _heddle.choose_method(matrix._own, None, "none") == "cg"
                text = "multigrid" if is_hermitian else "auto"
            settings = _with_fields(settings, text, fields)
            self.preconditioner = _preconditioners.preconditioner(matrix, text, **settings)

    def apply(self, pc: PETSc.PC, x: PETSc.Vec, y: PETSc.Vec) -> None:
        M = self.preconditioner
        gpu = M._operator.gpu >= 0
        with self._errors(), _numbers(x, gpu=gpu) as r, _numbers(y, gpu=gpu, writable=True) as z:
            M.apply(r, z)

    def applyTranspose(self, pc: PETSc.PC, x: PETSc.Vec, y: PETSc.Vec) -> None:
        M = self.preconditioner.H
        with self._errors(), _numbers(x) as r, _numbers(y, writable=True) as z:
            M.apply(r.conj(), z)  # no copy of real numbers
            if z.dtype.kind == "c":
                np.conj(z, out=z)

    def view(self, pc: PETSc.PC, viewer: PETSc.Viewer) -> None:
        _view(self.preconditioner, viewer)


class KSP(_Context):
    """Heddle's solver as a KSP of PETSc, on one rank. It has the KSP's rtol, atol and max_it, for
    the true residual, and does not use the KSP's PC.

    Parameters
    ----------
    method, preconditioner
        Texts as ``heddle.Solver`` takes them, here ``-ksp_heddle_method`` and
        ``-ksp_heddle_preconditioner``.
    settings
        Settings of ``heddle.Solver``, here ``-ksp_heddle_restart`` and so on.

    ``result`` is heddle's ``Result`` of the last solve, with what it has to say of it.
    """

    _kind, _named = "ksp", ("method", "preconditioner")
    _taken = Taken("heddle.petsc.KSP", "storage", "solver", "multigrid",
                   but=("tolerance", "absolute_tolerance", "max_iterations", "record_history"))  # fmt: skip

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._state: Any = None
        self.solver: Any = None  # a Solver, once it is set up
        self.result: Any = None

    def create(self, ksp: PETSc.KSP) -> None:
        ksp.getPC().setType("none")

    def solve(self, ksp: PETSc.KSP, b: PETSc.Vec, x: PETSc.Vec) -> None:
        with self._errors():
            self._set_up(ksp)
            norm, gpu = b.norm(), self.solver._operator.gpu >= 0
            with _numbers(b, gpu=gpu) as given, _numbers(x, gpu=gpu, writable=True) as out:
                self.result = result = self.solver.solve(
                    given, out, x0=out if ksp.getInitialGuessNonzero() else None,
                    callback=lambda iteration, residual: _tell(ksp, iteration, residual * norm))  # fmt: skip
        _tell(ksp, result.iterations, result.residual_norm)
        reason = _reasons.get(result.status, _Reason.DIVERGED_BREAKDOWN)
        if result.converged:
            is_small = result.residual_norm <= ksp.getTolerances()[1]
            reason = _Reason.CONVERGED_ATOL if is_small else _Reason.CONVERGED_RTOL
        ksp.setConvergedReason(reason)

    def _set_up(self, ksp: PETSc.KSP) -> None:
        A, P = ksp.getOperators()
        pc = ksp.getPC()
        if ksp.comm.size > 1:
            raise Error("heddle.petsc.KSP is for one rank: heddle.petsc.PC is for several")
        if A != P:
            raise Error("heddle.petsc.KSP takes one matrix: heddle.petsc.PC takes a P other than A")
        if PETSc.Options(pc.getOptionsPrefix()).getString("pc_type", pc.getType()) != "none":
            raise Error(
                "heddle.petsc.KSP does not use the KSP's PC: name heddle's preconditioner by "
                f"-{ksp.getOptionsPrefix() or ''}ksp_heddle_preconditioner"
            )
        rtol, atol, _, max_it = ksp.getTolerances()
        settings = self._settings(A) | {"rtol": rtol, "atol": atol, "maxiter": max_it}
        state = A, A.stateGet(), settings
        if state == self._state:
            return
        rows = A.getSize()[0]
        fields, null = _fields(A.getNearNullSpace(), rows), _fields(A.getNullSpace(), rows)
        if self._is_new(A, settings, fields, null) or self.solver is None:
            self.solver = None
            own = _with_fields(settings, settings.get("preconditioner"), fields)
            self.solver = Solver(self._rows.matrix, null_space=null, **own)
        self._state = state

    def view(self, ksp: PETSc.KSP, viewer: PETSc.Viewer) -> None:
        _view(self.solver, viewer)


def _with_fields(settings: dict[str, Any], text: Any, fields: Any) -> dict[str, Any]:
    """The settings with the near-null space for multigrid, if they say nothing of their own."""
    own = "multigrid" not in str(text) or settings.keys() & {"candidates", "coordinates"}
    return settings if own else {**settings, "candidates": fields}


def _view(made: Any, viewer: PETSc.Viewer) -> None:
    if viewer.getType() == "ascii":
        viewer.printfASCII(f"  {repr(made).strip('<>') if made else 'heddle: not set up'}\n")


def _tell(ksp: PETSc.KSP, iteration: int, norm: float) -> None:
    """Gives monitors and the KSP's history the residual's norm."""
    ksp.setIterationNumber(iteration)
    ksp.setResidualNorm(norm)
    ksp.logConvergenceHistory(norm)
    ksp.monitor(iteration, norm)
