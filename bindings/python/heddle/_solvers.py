"""Solvers that are kept, and functions in SciPy's manner."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle
from ._errors import SizeError, UnsupportedError, UsageError
from ._matrix import Matrix, _row_shapes, check_form, dtype_of, forms, numbers

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
        A ``Matrix``; what makes one; or a SciPy ``LinearOperator`` (an object with ``shape``,
        ``dtype`` and ``matvec``) of real or complex numbers, on the CPU.
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
        ``"cpu"``, ``"cuda"``, ``"cuda:N"`` or ``"auto"``: a GPU where one works. Arrays lie in the
        host's memory in any case.
    threads
        On the CPU; 0 takes every core that the process may use.
    plan
        See docs/plans.md; ``None``: chosen for the matrix.

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
        rtol: float | None = None,
        atol: float = 0.0,
        maxiter: int = 10000,
        restart: int = 30,
        time_limit: float = math.inf,
        record_history: bool = False,
        varies: bool = False,
    ) -> None:
        if preconditioner is None:
            preconditioner = "none"
        named = isinstance(preconditioner, str)
        if not isinstance(A, Matrix) and _is_operator(A):
            operator, self.entry, self.dtype = _operator_of(A, device)
            self.A = A
            if method == "auto":
                raise UsageError("method='auto' looks at entries, which this operator has not")
            if preconditioner == "jacobi":
                preconditioner = "none"  # without entries
        else:
            matrix = A if isinstance(A, Matrix) else Matrix(A)
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
            ``UnsupportedError``.
        out
            Where x goes: a contiguous array of the matrix's type, which is never copied.
        x0
            Where to start from; zero without it. ``x0=out`` starts from what ``out`` holds.
        callback
            ``callback(iteration, relative_residual)`` after each iteration but the last. What it
            raises ends the solve and is raised here.
        """
        dtype = self.dtype
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
            start = numbers(x0, dtype, "x0")
            check_form(start, self._shape, "x0")
            x[...] = start.reshape(x.shape)
        *told, history = self._own.solve(given, x, x0 is None, callback)
        return Result(x, self.method, told, history)

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
    The history is recorded.

    >>> import numpy as np
    >>> import heddle
    >>> result = heddle.solve(np.diag([1.0, 2.0, 4.0]), [1.0, 1.0, 1.0])
    >>> result.x
    array([1.  , 0.5 , 0.25])
    >>> result.converged, len(result.history) == result.iterations + 1
    (True, True)
    """
    options.setdefault("record_history", True)
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
    if isinstance(A, Matrix):
        return A
    if _is_operator(A):
        wanted = np.result_type(getattr(A, "dtype", None) or np.float64, np.asarray(b).dtype)
        return SimpleNamespace(shape=A.shape, dtype=wanted, matvec=A.matvec)
    if not hasattr(A, "dtype"):
        A = np.asarray(A)
    wanted = np.result_type(A.dtype, np.asarray(b).dtype)
    return A if wanted == A.dtype else A.astype(wanted)


def _in_scipys_manner(
    method: str, A: Any, b: ArrayLike, x0: ArrayLike | None, rtol: float, atol: float,
    maxiter: int | None, M: Any, callback: Callback | None, **options: Any,
) -> tuple[NDArray[Any], int]:  # fmt: skip
    matrix = _promoted(A, b)
    given = np.asarray(b)
    solver = Solver(
        matrix,
        method,
        M,
        rtol=rtol,
        atol=0.0 if atol is None else atol,
        maxiter=10 * given.size if maxiter is None else maxiter,
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
    length = min(20, np.asarray(b).size) if restart is None else restart
    iterations = None if maxiter is None else maxiter * length
    return _in_scipys_manner("gmres", A, b, x0, rtol, atol, iterations, M, callback,
                             restart=length)  # fmt: skip


for _function in (cg, minres, bicgstab, gmres):
    _function.__doc__ = (_function.__doc__ or "") + _manner.format(name=_function.__name__)
