"""Callbacks in SciPy's manner: of one argument, the x of an iteration or its residual."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import UnsupportedError, UsageError
from ._result import Result
from ._solvers import Solver

types = "x", "pr_norm", "legacy"


def takes_one_argument(callback: Any) -> bool:
    """True for a function that one argument fits, and two do not."""
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # none, or one without a signature
        return False

    def fits(*arguments: int) -> bool:
        try:
            signature.bind(*arguments)
        except TypeError:
            return False
        return True

    return fits(0) and not fits(0, 0)


def type_of(callback: Any, given: str | None) -> str | None:
    """What a callback of ``gmres`` gets: one of ``types``, or None if two numbers. Raises
    ``UsageError``."""
    if given is not None and given not in types:
        raise UsageError(f"callback_type={given!r}: there are {', '.join(types)}")
    if callback is None or (given is None and not takes_one_argument(callback)):
        return None
    if given is None:
        warnings.warn(
            "heddle.gmres called without specifying `callback_type`, whose default in SciPy, "
            "'legacy', will change there: callback_type='pr_norm' keeps the numbers that the "
            "callback gets, and counts restarts by maxiter",
            DeprecationWarning,
            stacklevel=4,
        )
    return given or "legacy"


class _Shown:
    """The callback of a solve, with two numbers. The last iteration before a restart, and that of
    the solve, are not shown to it; where methods keep a basis, x is that of the last restart."""

    def __init__(self, function: Callable[[Any], Any], solver: Solver) -> None:
        self._function, self._solver = function, solver
        self._last = 0

    def __call__(self, iteration: int, residual: float) -> None:
        if iteration > self._last:  # else of a solver that preconditions
            skipped = iteration - self._last - 1
            self._last = iteration
            self._show(residual, skipped)

    def _show(self, residual: float, skipped: int) -> None:
        raise NotImplementedError

    def _reached(self) -> NDArray[Any]:
        x = np.empty(self._solver._shape, self._solver.dtype)
        self._solver._own.iterate(x)
        return x


class Iterates(_Shown):
    """Gives the function the x of each iteration in a new array, or that of each restart."""

    def __init__(
        self, function: Callable[[Any], Any], solver: Solver, b: Any, restarts: bool
    ) -> None:
        if solver._operator.gpu >= 0:
            raise UnsupportedError(
                "x is not at hand while a GPU iterates: callback(iteration, relative_residual) "
                "gets two numbers"
            )
        super().__init__(function, solver)
        self._restarts = restarts
        self._shape = (-1,) if len(solver._shape) == 1 else np.shape(b)

    def _show(self, residual: float, skipped: int) -> None:
        if skipped or not self._restarts:
            self._function(self._reached().reshape(self._shape))

    def end(self, result: Result) -> None:
        if result.iterations > (0 if self._restarts else self._last):
            self._function(result.x.reshape(self._shape).copy())


class Residuals(_Shown):
    """Gives the function the relative residual of each iteration, before a restart the true one."""

    def __init__(self, function: Callable[[float], Any], solver: Solver, b: Any) -> None:
        super().__init__(function, solver)
        self._b = b if solver._operator.gpu < 0 else None

    def _show(self, residual: float, skipped: int) -> None:
        if skipped == 1 and self._b is not None:
            x = self._reached()
            image = np.empty_like(x)
            self._solver._operator.apply(x, image)
            left = np.reshape(self._b, x.shape) - image
            self._function(np.linalg.norm(left) / np.linalg.norm(self._b))
        self._function(np.float64(residual))

    def end(self, result: Result) -> None:
        if result.iterations > self._last:
            self._function(np.float64(result.residual))


def watching(
    callback: Any, callback_type: str | None, solver: Solver, b: Any
) -> Iterates | Residuals | None:
    """What the solver calls; None for the callback itself. ``callback_type``: see ``type_of``."""
    if callback is None or callback_type is None:
        return None
    if callback_type != "x":
        return Residuals(callback, solver, b)
    return Iterates(callback, solver, b, solver.method == "gmres")
