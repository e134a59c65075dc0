"""The result of a solve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _pictures
from ._errors import UsageError


class Result:
    """The result of a solve.

    Attributes
    ----------
    x
        The solution, in the form of b: the array itself if ``out`` was given.
    status
        How the solve ended: ``"converged"``, ``"iteration limit"``, ``"not Hermitian"``, ...
    iterations
    residual
        \\|b - A x| / |b|, computed for this x.
    returned
        Which x this is: ``"last"``, the one of the last iteration; ``"best"``, the one of the least
        residual among those computed; ``"guess"``.
    residual_norm, backward_error, seconds
        See ``Report`` in docs/reference/cpp.md.
    detail
        Why it ended so, and what to do about it, in the words of the command line; ``""`` if the
        status says all.
    """

    __slots__ = (
        "x", "method", "status", "iterations", "residual", "residual_norm", "backward_error",
        "seconds", "detail", "returned", "_history")  # fmt: skip
    status: str
    iterations: int
    residual: float
    residual_norm: float
    backward_error: float
    seconds: float
    detail: str
    returned: str

    def __init__(self, x: NDArray[Any], method: str, report: list[Any], history: Any) -> None:
        self.x = x
        self.method = method
        (self.status, self.iterations, self.residual, self.residual_norm, self.backward_error,
         self.seconds, self.detail, self.returned) = report  # fmt: skip
        self._history = history

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
        why = f" ({self.detail})" if self.detail else ""
        return (
            f"<heddle.Result: {self.status} after {self.iterations} iterations of "
            f"{self.method}{why}, residual {self.residual:.3g}, {self.seconds:.3g} s>"
        )
