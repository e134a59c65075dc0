"""Functions that solve once, in the manner of SciPy."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from operator import index
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _heddle
from ._arrays import _row_shapes, check_form, forms, numbers, plain
from ._callbacks import takes_one_argument, type_of, watching
from ._errors import UsageError
from ._functions import is_operator, matvec_of, operator_of
from ._gpu import device_of, dtype_of_array, empty_like, gpu_array, on_gpu, package_of
from ._instead import refuse_no_matrix, refuse_no_numbers, refuse_no_object, refuse_tensor
from ._matrix import Adjoint, Matrix
from ._places import check_places
from ._result import Result
from ._settings import Taken
from ._solvers import Callback, Solver, uses_of_solver

Solution = tuple[NDArray[Any], int]
AnyCallback = Callback | Callable[[Any], Any]


def solve(
    A: Any,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    method: str = "auto",
    preconditioner: Any = "auto",
    callback: Callback | None = None,
    **settings: Any,
) -> Result:
    """Solves A x = b once, by a method that the matrix allows. The settings are those of
    ``Solver``, and ``detail`` of the result says why it was not solved, or which method took over.
    The history is recorded. If b is in a GPU's memory, it is solved there. An operator without
    entries, or an adjoint, needs a method that you name.

    >>> import numpy as np
    >>> import heddle
    >>> result = heddle.solve(np.diag([1.0, 2.0, 4.0]), [1.0, 1.0, 1.0])
    >>> result.x
    array([1.  , 0.5 , 0.25])
    >>> result.converged, len(result.history) == result.iterations + 1
    (True, True)
    """
    _solved.check_names(settings)
    settings.setdefault("record_history", True)
    if on_gpu(b):
        settings.setdefault("device", device_of(b))
    solver = Solver(_promoted(A, b), method, preconditioner, **settings)
    return solver.solve(b, x0=x0, callback=callback)


_solved = Taken("heddle.solve", *uses_of_solver)
_solved.shown(solve, Solver)


def _promoted(A: Any, b: ArrayLike, *least: Any) -> Any:
    """A in a type that also holds b and ``least``, as in SciPy's solvers. A ``heddle.Matrix`` is
    left unchanged."""
    if isinstance(A, (Matrix, Adjoint)):
        return A
    dtype_of_b = dtype_of_array(b) if on_gpu(b) else _plain_b(b).dtype
    if is_operator(A):
        wanted = np.result_type(getattr(A, "dtype", None) or np.float64, dtype_of_b, *least)
        maps = {name: getattr(A, name) for name in ("matvec", "rmatvec") if hasattr(A, name)}
        return SimpleNamespace(shape=A.shape, dtype=wanted, **maps)
    refuse_tensor(A)
    if not hasattr(A, "dtype"):
        refuse_no_matrix(A)
        dense = np.asarray(A)
        refuse_no_object(A, dense, "A")
        A = dense
    wanted = np.result_type(A.dtype, dtype_of_b, *least)
    if wanted == A.dtype:
        return A
    if hasattr(A, "tocsr") and package_of(A) not in ("cupy", "cupyx"):
        check_places(A)
    return A.astype(wanted)


def _plain_b(b: ArrayLike) -> NDArray[Any]:
    given = plain(b, "b")
    refuse_no_numbers(b, given, "b")
    return given


def _in_double(b: Any, dtype: np.dtype) -> Any:
    """An array of CuPy in the matrix's type; only single precision is converted."""
    single = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    if package_of(b) == "cupy" and b.dtype == single.get(dtype):
        return b.astype(dtype)
    return b


# SciPy allows any relative tolerance; x = 0 already meets 1.
_loosest = math.nextafter(1, 0)


def _at_least_0(name: str, value: Any) -> None:
    try:
        fits = not isinstance(value, (str, bytes)) and float(value) >= 0
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise UsageError(f"{name}={value!r} is not a number of at least 0")


def _in_scipys_manner(
    method: str, A: Any, b: ArrayLike, x0: Any, rtol: float, atol: float, maxiter: int | None,
    M: Any, callback: Any, settings: dict[str, Any], *, restart: int | None = None,
    callback_type: str | None = None, shift: float = 0.0,
) -> Solution:  # fmt: skip
    _taken_by[method].check_names(settings)
    if restart is not None:
        callback_type = type_of(callback, callback_type)
    elif callback is not None and takes_one_argument(callback):
        callback_type = "x"
    matrix = _promoted(A, b)
    given: Any = b
    if on_gpu(b):
        settings.setdefault("device", device_of(b))
    else:
        given = _plain_b(b)
    _at_least_0("rtol", rtol)
    _at_least_0("atol", atol)
    if isinstance(x0, str):
        if x0 != "Mb" or isinstance(M, str):
            raise UsageError(f"x0={x0!r}: the only text is 'Mb', M times b, if M is not a text")
        x0 = given if M is None else matvec_of(M)(given)
    numbers_of_x = math.prod(given.shape)
    length = 1  # iterations that count as one
    if restart is not None:
        settings["restart"] = min(index(restart), max(numbers_of_x, 1))
        if callback_type != "legacy":
            length = max(settings["restart"], 1)  # the solver itself refuses a smaller number
    count = 10 * numbers_of_x if maxiter is None else index(maxiter)
    solver = Solver(
        matrix,
        method,
        M,
        rtol=min(rtol, _loosest),
        atol=min(atol, sys.float_info.max),
        maxiter=min(length * count, sys.maxsize),
        shift=-shift,
        **settings,
    )
    shown = watching(callback, callback_type, solver, given)
    result = solver.solve(given, x0=x0, callback=callback if shown is None else shown)
    if shown is not None:
        shown.end(result)
    x = result.x
    if solver.entry in ("real", "complex"):  # SciPy returns a vector, not a column
        x = x.reshape(-1)
    if result.converged:
        return x, 0
    limits = "iteration limit", "time limit", "accuracy limit", "stagnated"
    return x, max(math.ceil(result.iterations / length), 1) if result.status in limits else -1


_manner = """

    Takes the arguments of ``scipy.sparse.linalg.{name}``. A: a ``heddle.Matrix``, a SciPy sparse
    matrix or ``LinearOperator``, or a dense array. Converged is |b - A x| <= max(rtol |b|, atol). M
    stands for A^-1: a ``LinearOperator``, a matrix, a function, or a text as ``Solver`` takes it.
    The settings are those of storage, solvers and multigrid.

    Returns ``(x, info)``. info is 0 if it converged; the number of iterations, of gmres that of
    restarts, if a limit, of iterations or of accuracy, ended it; -1 if the matrix does not suit the
    method or the method broke down: ``heddle.solve`` tells which.

    A ``callback`` that takes two arguments is called as ``callback(iteration, relative_residual)``
    after each iteration except the last; one that takes a single argument as SciPy's is{what}.

    >>> import numpy as np
    >>> import heddle
    >>> heddle.{name}(np.diag([1.0, 2.0]), np.array([2.0, 2.0]))
    (array([2., 1.]), 0)
    """


_of_others = """, with x
    in a new array, also after the last one; not on a GPU"""
_of_gmres = """, with
    what ``callback_type`` names: ``"x"``, after each restart and not on a GPU; ``"pr_norm"``, the
    relative residual after each iteration; ``"legacy"``, the same, and ``maxiter`` then counts
    iterations. SciPy's default, ``"legacy"``, warns"""


def cg(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5, atol: float = 0.0,
       maxiter: int | None = None, M: Any = None, callback: AnyCallback | None = None,
       **settings: Any) -> Solution:  # fmt: skip
    """Conjugate gradients, for Hermitian positive definite matrices."""
    return _in_scipys_manner("cg", A, b, x0, rtol, atol, maxiter, M, callback, settings)


def minres(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
           shift: float = 0.0, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
           callback: AnyCallback | None = None, **settings: Any) -> Solution:  # fmt: skip
    """MINRES, for Hermitian matrices, indefinite ones too: (A - ``shift`` I) x = b. ``Solver`` adds
    its ``shift``, this function subtracts it, as SciPy's does."""
    return _in_scipys_manner("minres", A, b, x0, rtol, atol, maxiter, M, callback, settings,
                             shift=float(shift))  # fmt: skip


def bicgstab(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
             atol: float = 0.0, maxiter: int | None = None, M: Any = None,
             callback: AnyCallback | None = None, **settings: Any) -> Solution:  # fmt: skip
    """BiCGStab, for any square matrix."""
    return _in_scipys_manner("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, settings)


def gmres(A: Any, b: ArrayLike, x0: ArrayLike | None = None, *, rtol: float = 1e-5,
          atol: float = 0.0, restart: int | None = None, maxiter: int | None = None, M: Any = None,
          callback: AnyCallback | None = None, callback_type: str | None = None,
          **settings: Any) -> Solution:  # fmt: skip
    """GMRES, restarted after ``restart`` iterations (20 by default, at most n, as in SciPy), for
    any square matrix; ``maxiter`` counts restarts, and is 10 n by default. M preconditions from the
    right, SciPy's from the left."""
    return _in_scipys_manner("gmres", A, b, x0, rtol, atol, maxiter, M, callback, settings,
                             restart=20 if restart is None else restart,
                             callback_type=callback_type)  # fmt: skip


def lsmr(
    A: Any, b: ArrayLike, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6,
    maxiter: int | None = None, x0: ArrayLike | None = None, *, callback: Callback | None = None,
    **settings: Any,
) -> tuple[NDArray[Any], int, int, float, float, float, float, float]:  # fmt: skip
    """LSMR: the x that minimizes |b - A x|^2 + damp^2 |x|^2, for a matrix A of any shape, or a
    ``LinearOperator`` with ``rmatvec``; if there are several, the one of the least norm, unless x0
    is given.

    Takes the arguments of ``scipy.sparse.linalg.lsmr`` except ``conlim`` and ``show``; the smaller
    of the two tolerances counts. Like SciPy's it works in double precision, except with a
    ``heddle.Matrix`` in single. If b is in a GPU's memory, it is solved there.
    ``callback(iteration, |A^H r| / (|A| |r|))``. The settings are those of storage and of least
    squares.

    Returns ``(x, istop, itn, normr, normar, norma, conda, normx)``. istop is 1 if A x = b is
    solved, 2 if |A^H r| is small, 5 if rounding prevented further progress, 7 after ``maxiter``
    iterations (by default the smaller side of A), -1 for any other status.

    >>> import numpy as np
    >>> import heddle
    >>> x, istop, *_ = heddle.lsmr(np.array([[1.0, 0], [0, 1], [1, 1]]), [1.0, 0, 1])
    >>> np.round(x, 6) + 0.0, istop
    (array([1., 0.]), 1)
    """
    _at_least_0("atol", atol)
    _at_least_0("btol", btol)
    texts = _least_squares.texts(settings)
    matrix = _promoted(A, b, np.float64)
    in_place = on_gpu(b)
    if in_place:
        texts.setdefault("device", device_of(b))
    operator, entry, dtype = _with_adjoint(matrix, _least_squares.by_use(texts).get("storage", {}))
    tolerance = min(atol, btol, _loosest)
    row = _row_shapes[entry]
    b_shape, x_shape = (operator.rows, *row), (operator.columns, *row)
    given = _in_double(b, dtype) if in_place else numbers(b, dtype, "b")
    check_form(given, b_shape, "b")
    form = forms(x_shape)[forms(b_shape).index(tuple(given.shape))]
    x = empty_like(given, form) if in_place else np.empty(form, dtype)
    if x0 is None:
        x[...] = 0
    elif on_gpu(x0) != in_place:
        raise UsageError("x0 and b are in different memories")
    else:
        start: Any = x0 if in_place else numbers(x0, dtype, "x0")
        check_form(start, x_shape, "x0")
        x[...] = start.reshape(form)
    if maxiter is None:
        maxiter = min(math.prod(b_shape), math.prod(x_shape))
    texts |= {"damping": repr(float(damp)), "tolerance": repr(float(tolerance)),
             "max_iterations": str(index(maxiter))}  # fmt: skip
    own = _heddle.LeastSquares.make(operator, _heddle.Settings(texts))
    if in_place:
        kept = [gpu_array(array, operator, dtype, name)
                for array, name in ((given, "b"), (x, "x"))]  # fmt: skip
        b_place, x_place = (array.place for array in kept)
    else:
        b_place, x_place = ((array.ctypes.data, False) for array in (given, x))
    status, iterations, *norms = own.solve(b_place, x_place, callback)
    normr, normar, norma, conda, normx = norms
    if status == "converged":
        norm_of_b = math.sqrt(float((abs(given) ** 2).sum()))
        solved = normr <= tolerance * (norm_of_b + norma * normx)
        istop = 1 if solved else 2
    else:
        istop = {"accuracy limit": 5, "iteration limit": 7}.get(status, -1)
    return x, istop, iterations, normr, normar, norma, conda, normx


def _with_adjoint(A: Any, stored: dict[str, str]) -> tuple[_heddle.Operator, str, np.dtype]:
    """An operator with an adjoint, its entry and dtype. ``stored``: settings of storage."""
    if is_operator(A):
        if stored.keys() - {"device", "threads"}:
            raise UsageError("a plan is for a stored matrix, and this operator has none")
        return operator_of(A, stored, with_adjoint=True)
    matrix = A if isinstance(A, (Matrix, Adjoint)) else Matrix(A)
    held = matrix.H if isinstance(matrix, Adjoint) else matrix
    return matrix._stored_as(stored), held.entry, held.dtype


_least_squares = Taken(
    "heddle.lsmr", "storage", "least_squares",
    but=("damping", "tolerance", "max_iterations", "record_history"))  # fmt: skip
_least_squares.shown(lsmr)
_taken_by: dict[str, Taken] = {}
for _function in (cg, minres, bicgstab, gmres):
    _name = _function.__name__
    _function.__doc__ = (_function.__doc__ or "") + _manner.format(
        name=_name, what=_of_gmres if _name == "gmres" else _of_others)
    _taken_by[_name] = Taken(
        f"heddle.{_name}", "storage", "solver", "multigrid",
        but=("tolerance", "absolute_tolerance", "max_iterations"))  # fmt: skip
    _taken_by[_name].shown(_function)
