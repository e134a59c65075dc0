"""Solvers that are kept, and functions in SciPy's manner."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from numbers import Real
from operator import index
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle, _pictures
from ._errors import SizeError, UnsupportedError, UsageError
from ._gpu import device_of, dtype_of_array, empty_like, gpu_array, on_gpu, stream_number
from ._matrix import Adjoint, Matrix, _row_shapes, check_form, dtype_of, forms, numbers
from ._tune import Profile

Callback = Callable[[int, float], Any]


class Result:
    """What came of a solve.

    Attributes
    ----------
    x
        The solution, of the form of b: the array itself where ``out`` was given.
    status
        How it ended: ``"converged"``, ``"iteration limit"``, ``"not Hermitian"``, ...
    iterations
    residual
        \\|b - A x| / |b|, computed for this x.
    residual_norm, backward_error, seconds
        See ``Report`` in docs/cpp.md.
    """

    __slots__ = ("x", "method", "_told", "_history")

    def __init__(self, x: NDArray[Any], method: str, told: list[Any], history: Any) -> None:
        self.x = x
        self.method = method
        self._told = told
        self._history = history

    status: str = property(lambda self: self._told[0])  # type: ignore[assignment]
    iterations: int = property(lambda self: self._told[1])  # type: ignore[assignment]
    residual: float = property(lambda self: self._told[2])  # type: ignore[assignment]
    residual_norm: float = property(lambda self: self._told[3])  # type: ignore[assignment]
    backward_error: float = property(lambda self: self._told[4])  # type: ignore[assignment]
    seconds: float = property(lambda self: self._told[5])  # type: ignore[assignment]

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def history(self) -> NDArray[np.float64]:
        """The relative residual before each iteration and after the last. Raises ``UsageError``
        unless the solver records it (``record_history=True``)."""
        if self._history is None:
            raise UsageError("the solver does not record the history: pass record_history=True")
        return self._history

    def plot_history(self, ax: Any = None) -> Any:
        """Draws the history on a logarithmic scale, in matplotlib's axes or new ones, which it
        returns."""
        return _pictures.plot_history(self, ax)

    def _repr_html_(self) -> str:
        return _pictures.html_of(self, self._history)

    def __repr__(self) -> str:
        return (
            f"<heddle.Result: {self.status} after {self.iterations} iterations of {self.method}, "
            f"residual {self.residual:.3g}, {self.seconds:.3g} s>"
        )


def _matvec_of(M: Any) -> Callable[[NDArray[Any]], Any]:
    if hasattr(M, "matvec"):
        return M.matvec
    if callable(M):
        return M
    return lambda r: M @ r


def _writing(function: Callable[[NDArray[Any]], Any]) -> Callable[..., None]:
    """As the library calls functions: y is the solver's memory."""

    def write(x: NDArray[Any], y: NDArray[Any]) -> None:
        image = numbers(function(x), y.dtype, "the function's result")
        check_form(image, y.shape, "the function's result")
        y[...] = image.reshape(y.shape)

    return write


class Solver:
    """A solver that is kept: memory is allocated once, and each solve may bring another right-hand
    side.

    Parameters
    ----------
    A
        A ``Matrix``; what makes one; the adjoint ``A.H`` of one; or a SciPy ``LinearOperator`` (an
        object with ``shape``, ``dtype`` and ``matvec``) of real or complex numbers, on the CPU.
    method
        ``"auto"``: one that the matrix allows; or ``"cg"``, ``"minres"``, ``"cr"``, ``"bicgstab"``,
        ``"bicgstab2"``, ``"gmres"``, ``"fgmres"``, ``"cocg"``, ``"cocr"``, ``"chebyshev"``,
        ``"richardson"``.
    preconditioner
        A text such as ``"jacobi"``, ``"block-jacobi:2"``, ``"jacobi*fsai"``, see
        docs/command-line.md; ``None``; or z = M^-1 r of your own: a function, a SciPy
        ``LinearOperator``, or a matrix that stands for M^-1. Functions get an array of the solver's
        own memory, which must not be kept.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:N"`` or ``"auto"``: a GPU where one works.
    threads
        On the CPU; 0 takes every core that the process may use.
    plan
        See docs/plans.md; ``None``: chosen for the matrix.
    profile
        From which the plan is chosen: a ``Profile``, or the path of one. ``None``: those that
        docs/profiles.md names.

        The matrix keeps a copy of its entries for each device, number of threads and plan.
    rtol, atol
        Converged is \\|b - A x| <= max(rtol \\|b|, atol). ``rtol=None`` is 1e-10 in double
        precision, 1e-5 in single.
    maxiter
        Iterations at most.
    restart
        Of gmres and fgmres.
    time_limit
        Seconds.
    null_space
        Vectors v with A v = 0 and v* A = 0, of b's shape, or several, one after the other: the
        system is solved in the space orthogonal to them, and b is projected into it.
    varies
        Whether a function as preconditioner may be another map each time; then only fgmres takes it.

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
        preconditioner: Any = "jacobi",
        *,
        device: str = "cpu",
        threads: int = 0,
        plan: str | None = None,
        profile: Profile | str | os.PathLike[str] | None = None,
        rtol: float | None = None,
        atol: float = 0.0,
        maxiter: int = 10000,
        restart: int = 30,
        time_limit: float = math.inf,
        record_history: bool = False,
        null_space: ArrayLike | None = None,
        varies: bool = False,
    ) -> None:
        if preconditioner is None:
            preconditioner = "none"
        named = isinstance(preconditioner, str)
        if isinstance(A, Adjoint):
            if plan is not None or profile is not None:
                raise UsageError("an adjoint has the plan of its matrix")
            operator = A.operator(device, index(threads))
            self.A = A
            self.entry, self.dtype = A.H.entry, A.H.dtype
            if method == "auto":
                raise UsageError("method='auto' looks at entries, which an adjoint does not show")
            if preconditioner == "jacobi":
                preconditioner = "none"  # without entries
        elif not isinstance(A, Matrix) and _is_operator(A):
            if plan is not None or profile is not None:
                raise UsageError("a plan stores a matrix, and this operator has none")
            operator, self.entry, self.dtype = _operator_of(A, device)
            self.A = A
            if method == "auto":
                raise UsageError("method='auto' looks at entries, which this operator has not")
            if preconditioner == "jacobi":
                preconditioner = "none"  # without entries
        else:
            matrix = A if isinstance(A, Matrix) else Matrix(A)
            if profile is not None:
                if plan is not None:
                    raise UsageError("a plan and a profile to choose one from")
                if not isinstance(profile, Profile):
                    profile = Profile.read(profile)
                of = "cg" if method == "auto" else method
                plan = profile.plan_for(matrix, method=of, device=device, threads=threads)
            operator = matrix.operator(device, index(threads), 0, plan)
            self.A = matrix
            self.entry, self.dtype = matrix.entry, matrix.dtype
            if method == "auto":
                text = preconditioner if named else "none"
                method = _heddle.choose_method(matrix._own, operator, text)
        if not named:
            own = _heddle.Preconditioner.of_function(
                operator, _writing(_matvec_of(preconditioner)), varies
            )
        elif preconditioner == "none":
            own = None
        else:
            own = _heddle.Preconditioner.named(operator, preconditioner)
        self.method = method
        self._operator = operator
        self._queued: Any = None  # x of the last enqueued solve, and what that uses
        self._shape = (operator.rows, *_row_shapes[self.entry])
        self._forms = forms(self._shape)
        self._own = _heddle.Solver.make(
            operator,
            method,
            own,
            tolerance=-1.0 if rtol is None else float(rtol),
            absolute_tolerance=float(atol),
            max_iterations=min(index(maxiter), 2**63 - 1),
            restart=min(index(restart), 2**31 - 1),
            time_limit=float(time_limit),
            record_history=record_history,
        )
        if null_space is not None:
            vectors = null_space
            if not on_gpu(vectors):
                vectors = numbers(vectors, self.dtype, "null_space")
            if vectors.shape in self._forms:
                vectors = vectors.reshape(1, *self._shape)
            keeps, place = self._place(
                vectors, "null_space", shape=(len(vectors), *self._shape)
            )
            self._own.set_null_space(len(vectors), place)
            del keeps

    def solve(
        self,
        b: ArrayLike,
        out: NDArray[Any] | None = None,
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
            ``UnsupportedError``. For a solver on a GPU also an array of CuPy, PyTorch, JAX or Numba
            in that GPU, which is contiguous and of the matrix's type.
        out
            Where x goes: a contiguous array of the matrix's type, which is never copied, in either
            memory. Without it x is an array of b's package.
        x0
            Where to start from; zero without it. ``x0=out`` starts from what ``out`` holds.
        callback
            ``callback(iteration, relative_residual)`` after each iteration but the last. What it
            raises ends the solve and is raised here.
        """
        dtype = self.dtype
        if type(b) is not np.ndarray or (out is not None and type(out) is not np.ndarray):
            if on_gpu(b) or on_gpu(out):
                return self._solve_in_place(b, out, x0, callback)
        if type(b) is np.ndarray and b.dtype is dtype and b.flags.carray:
            given = b
        else:
            given = numbers(b, dtype, "b")
        if given.shape not in self._forms:
            check_form(given, self._shape, "b")
        if out is None:
            x = np.empty(given.shape, dtype)
        else:
            if not isinstance(out, np.ndarray) or out.dtype != dtype or not out.flags.carray:
                raise UnsupportedError(f"out is not a contiguous, writable array of {dtype}")
            check_form(out, self._shape, "out")
            x = out
        if x0 is not None and x0 is not x:
            if on_gpu(x0):
                raise UsageError("x0 lies in a GPU's memory, and out in the host's")
            start = numbers(x0, dtype, "x0")
            check_form(start, self._shape, "x0")
            x[...] = start.reshape(x.shape)
        *told, history = self._own.solve(given, x, x0 is None, callback)
        return Result(x, self.method, told, history)

    @property
    def plan(self) -> str:
        """The plan of the stored matrix, see docs/plans.md; empty for an operator without one."""
        return self._operator.plan

    def solve_all(
        self,
        b: ArrayLike,
        out: NDArray[Any] | None = None,
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
            after the other; of the types that ``solve`` takes, in either memory.
        out, x0
            As for ``solve``, of the same shape.

        Each has the result that it has alone, but for seconds; histories are not kept.

        >>> import numpy as np
        >>> import heddle
        >>> solver = heddle.Solver(np.diag([1.0, 2.0]))
        >>> [result.x for result in solver.solve_all(np.array([[2.0, 2.0], [4.0, 4.0]]))]
        [array([2., 1.]), array([4., 2.])]
        """
        if not on_gpu(b):
            b = numbers(b, self.dtype, "b")
        count = len(b) if len(b.shape) > 0 else 0
        shape = (count, *self._shape)
        keeps, b_place = self._place(b, "b", shape=shape)
        if out is None:
            out = empty_like(b, shape) if on_gpu(b) else np.empty(shape, self.dtype)
        if x0 is not None and x0 is not out:
            out[...] = x0  # on its package's stream, which is then told
        x_keeps, x_place = self._place(out, "out", writable=True, shape=shape)
        told = self._own.solve_all(count, b_place, x_place, x0 is None, callback)
        del keeps, x_keeps  # which lived so long
        return [Result(x, self.method, all, None) for x, (*all, _) in zip(out, told)]

    def _solve_in_place(self, b: Any, out: Any, x0: Any, callback: Callback | None) -> Result:
        """Of arrays some of which lie in a GPU's memory; the others lie in the host's."""
        keeps, b_place = self._place(b, "b")
        x = empty_like(b, b.shape) if out is None else out
        x_keeps, x_place = self._place(x, "out", writable=True)
        from_zero = x0 is None
        x0_keeps, guess = (None, None) if from_zero or x0 is x else self._place(x0, "x0")
        *told, history = self._own.solve_at(b_place, x_place, guess, from_zero, callback)
        del keeps, x_keeps, x0_keeps  # which lived so long
        return Result(x, self.method, told, history)

    def _place(
        self, array: Any, name: str, stream: int | None = None, writable: bool = False,
        shape: tuple[int, ...] | None = None,
    ) -> tuple[Any, tuple[int, bool]]:  # fmt: skip
        """What keeps the array alive, and where it lies. ``shape``: of several vectors."""
        if not on_gpu(array):
            if stream is not None:
                raise UsageError(f"{name} lies in the host's memory; enqueue takes a GPU's")
            if writable and not (isinstance(array, np.ndarray) and array.flags.carray):
                raise UnsupportedError(f"{name} is not a contiguous, writable array")
            given = array if writable else numbers(array, self.dtype, name)
            if given.dtype != self.dtype:
                raise UnsupportedError(f"{name} is of {given.dtype}, not of {self.dtype}")
            self._check_shape(given, shape, name)
            return given, (given.ctypes.data, False)
        given = gpu_array(
            array, self._operator, self.dtype, name, stream=stream, writable=writable
        )
        self._check_shape(given, shape, name)
        return given, given.place

    def _check_shape(self, given: Any, shape: tuple[int, ...] | None, name: str) -> None:
        if shape is None:
            check_form(given, self._shape, name)
        elif tuple(given.shape) != shape:
            raise SizeError(f"{name} has the shape {tuple(given.shape)}, not {shape}")

    def enqueue(self, b: Any, x: Any, *, stream: Any = None) -> None:
        """Solves A x = b from the guess in x, in the order of a stream: behind what the stream
        holds now, and before what it gets next. Returns at once; ``wait`` tells what came of it.

        For a solver on a GPU whose plan says ``loop=graph`` or ``loop=persistent``. The solve is
        one CUDA graph, made by the first call for these two arrays; ``docs/embedding.md`` says more.

        Parameters
        ----------
        b, x
            Contiguous arrays of the matrix's type in the GPU's memory, of the shapes that ``solve``
            takes. The solver keeps both until its next ``enqueue``.
        stream
            Of CuPy, of PyTorch, of CUDA Python, or the number of a ``cudaStream_t``; ``None`` is
            the one on which x's package works now, else the default stream. While it is being captured,
            the solve becomes part of the caller's graph, if ``prepare_enqueue`` was called before.
        """
        number = stream_number(stream, x)
        kept = self._places_of(b, x, number)
        self._own.enqueue(kept[0][1], kept[1][1], number)
        self._queued = x, kept

    def prepare_enqueue(self, b: Any, x: Any) -> None:
        """Does what the first ``enqueue`` of these arrays does before it queues the solve."""
        kept = self._places_of(b, x, self._operator.stream)
        self._own.prepare_enqueue(kept[0][1], kept[1][1])

    def _places_of(self, b: Any, x: Any, stream: int) -> tuple[Any, Any]:
        if self._operator.gpu < 0:
            raise UnsupportedError("enqueue needs a solver on a GPU: device='cuda'")
        return self._place(b, "b", stream), self._place(x, "x", stream, writable=True)

    def wait(self) -> Result:
        """Waits for the solves that were enqueued. The result is that of the last one; its
        ``seconds`` are NaN. Raises ``UsageError`` where none was enqueued."""
        *told, history = self._own.wait()
        x, _ = self._queued
        return Result(x, self.method, told, history)

    def cancel(self) -> None:
        """From any thread: the enqueued solve that runs, or else the next one, ends as
        ``"cancelled"`` within 16 iterations."""
        self._own.cancel()

    def __repr__(self) -> str:
        return f"<heddle.Solver: {self.method} for {self._shape[0]} rows of {self.entry} entries>"


def solve(
    A: Any,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    method: str = "auto",
    preconditioner: Any = "jacobi",
    callback: Callback | None = None,
    **options: Any,
) -> Result:
    """Solves A x = b once, by a method that the matrix allows; the options are those of ``Solver``.
    The history is recorded. A b in a GPU's memory is solved there.

    >>> import numpy as np
    >>> import heddle
    >>> result = heddle.solve(np.diag([1.0, 2.0, 4.0]), [1.0, 1.0, 1.0])
    >>> result.x
    array([1.  , 0.5 , 0.25])
    >>> result.converged, len(result.history) == result.iterations + 1
    (True, True)
    """
    options.setdefault("record_history", True)
    if on_gpu(b):
        options.setdefault("device", device_of(b))
    solver = Solver(_promoted(A, b), method, preconditioner, **options)
    return solver.solve(b, x0=x0, callback=callback)


def _is_operator(A: Any) -> bool:
    return hasattr(A, "matvec") and not hasattr(A, "tocsr")


def _operator_of(A: Any, device: str) -> tuple[_heddle.Operator, str, np.dtype]:
    if device != "cpu":
        raise UnsupportedError("an operator in Python works on the CPU")
    rows, columns = A.shape
    if rows != columns:
        raise SizeError(f"A x = b needs a square operator, not {rows} x {columns}")
    given = np.dtype(getattr(A, "dtype", None) or np.float64)
    if given.kind in "bui":
        given = np.dtype(np.float64)
    if given.char not in "fdFD":
        raise UnsupportedError(f"an operator of {given}; there are single and double precision")
    entry = "complex" if given.kind == "c" else "real"
    precision = "single" if given.char in "fF" else "double"
    operator = _heddle.Operator.of_function(rows, entry, precision, _writing(A.matvec))
    return operator, entry, dtype_of(entry, precision)


def _promoted(A: Any, b: ArrayLike) -> Any:
    """A in a type that holds b as well, as SciPy's solvers have it. A ``heddle.Matrix`` stays as it
    is."""
    if isinstance(A, (Matrix, Adjoint)):
        return A
    dtype_of_b = dtype_of_array(b) if on_gpu(b) else np.asarray(b).dtype
    if _is_operator(A):
        wanted = np.result_type(getattr(A, "dtype", None) or np.float64, dtype_of_b)
        return SimpleNamespace(shape=A.shape, dtype=wanted, matvec=A.matvec)
    if not hasattr(A, "dtype"):
        A = np.asarray(A)
    wanted = np.result_type(A.dtype, dtype_of_b)
    return A if wanted == A.dtype else A.astype(wanted)


# A relative tolerance of SciPy's may be any number; 1 is met by x = 0.
_loosest = math.nextafter(1, 0)


def _in_scipys_manner(
    method: str, A: Any, b: ArrayLike, x0: Any, rtol: float, atol: float,
    maxiter: int | None, M: Any, callback: Callback | None, **options: Any,
) -> tuple[NDArray[Any], int]:  # fmt: skip
    matrix = _promoted(A, b)
    given = b
    if on_gpu(b):
        options["device"] = device_of(b)
    else:
        given = np.asarray(b)
    if not isinstance(atol, Real) or not atol >= 0:
        raise UsageError(f"atol={atol!r} is no number of at least 0")
    if isinstance(x0, str):
        if x0 != "Mb" or isinstance(M, str):
            raise UsageError(f"x0={x0!r}; of texts there is 'Mb', M times b, where M is no text")
        x0 = given if M is None else _matvec_of(M)(given)
    solver = Solver(
        matrix,
        method,
        M,
        rtol=min(rtol, _loosest),
        atol=min(atol, sys.float_info.max),
        maxiter=10 * math.prod(given.shape) if maxiter is None else maxiter,
        **options,
    )
    result = solver.solve(given, x0=x0, callback=callback)
    if result.converged:
        return result.x, 0
    limits = "iteration limit", "time limit", "accuracy limit", "stagnated"
    return result.x, max(result.iterations, 1) if result.status in limits else -1


_manner = """

    Takes the arguments of ``scipy.sparse.linalg.{name}``. A: a ``heddle.Matrix``, a SciPy sparse
    matrix or ``LinearOperator``, or a dense array. Converged is |b - A x| <= max(rtol |b|, atol). M
    stands for A^-1: a ``LinearOperator``, a matrix, a function, or a text as ``Solver`` takes it.

    Returns ``(x, info)``. info is 0 if it converged; the number of iterations if a limit, of
    iterations or of accuracy, ended it; -1 if the matrix does not suit the method or the method
    broke down: ``heddle.solve`` tells which.

    Unlike SciPy's, ``callback(iteration, relative_residual)`` gets two numbers, since x is not at
    hand while iterating.

    >>> import numpy as np
    >>> import heddle
    >>> heddle.{name}(np.diag([1.0, 2.0]), np.array([2.0, 2.0]))
    (array([2., 1.]), 0)
    """


def cg(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: int | None = None, M: Any = None,
       callback: Callback | None = None) -> tuple[NDArray[Any], int]:  # fmt: skip
    """Conjugate gradient, for Hermitian positive definite matrices."""
    return _in_scipys_manner("cg", A, b, x0, rtol, atol, maxiter, M, callback)


def minres(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
           atol: float = 0.0, maxiter: int | None = None, M: Any = None,
           callback: Callback | None = None) -> tuple[NDArray[Any], int]:  # fmt: skip
    """MINRES, for Hermitian matrices, indefinite ones too."""
    return _in_scipys_manner("minres", A, b, x0, rtol, atol, maxiter, M, callback)


def bicgstab(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
             atol: float = 0.0, maxiter: int | None = None, M: Any = None,
             callback: Callback | None = None) -> tuple[NDArray[Any], int]:  # fmt: skip
    """BiCGStab, for any square matrix."""
    return _in_scipys_manner("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback)


def gmres(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
          atol: float = 0.0, restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: Callback | None = None) -> tuple[NDArray[Any], int]:  # fmt: skip
    """GMRES, restarted after ``restart`` iterations (20 without it, as in SciPy), for any square
    matrix; ``maxiter`` counts restarts."""
    size = math.prod(b.shape if on_gpu(b) else np.shape(b))
    length = min(20, size) if restart is None else restart
    iterations = None if maxiter is None else maxiter * length
    return _in_scipys_manner("gmres", A, b, x0, rtol, atol, iterations, M, callback,
                             restart=length)  # fmt: skip


for _function in (cg, minres, bicgstab, gmres):
    _function.__doc__ = (_function.__doc__ or "") + _manner.format(name=_function.__name__)
