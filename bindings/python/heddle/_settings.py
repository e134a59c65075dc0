"""The options of solvers and searches as the library takes them."""

from __future__ import annotations

from operator import index
from typing import Any

from . import _heddle
from ._errors import UsageError


def text_or_none(value: int | str | None) -> str | None:
    return None if value is None else str(value)


def method_named(method: str) -> str:
    """The name, which is "auto" in no other letters. Raises ``UsageError`` for what ``Solver`` does
    not take."""
    if not isinstance(method, str):
        raise UsageError(f"method={method!r} is no text, such as 'auto' or 'cg'")
    instead = "lsmr is a function of its own, for least squares: heddle.lsmr(A, b)"
    if method.lower() == "lsmr":
        raise UsageError(instead)
    try:
        _heddle.choose_other_method(method, "converged", 0)
    except UsageError as error:
        raise UsageError(f"{error}; {instead}") from None
    return "auto" if method.lower() == "auto" else method


def at_least_0(name: str, value: Any) -> None:
    try:
        fits = not isinstance(value, (str, bytes)) and float(value) >= 0
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise UsageError(f"{name}={value!r} is no number of at least 0")


def settings_of(
    *, rtol: float | None, atol: float, maxiter: int, restart: int, time_limit: float,
    record_history: bool, interval: tuple[float, float] | None, omega: float | None,
    basis_precision: str, field_precision: str, keep: str,
) -> _heddle.SolverOptions:  # fmt: skip
    for name, kind in (("basis_precision", basis_precision), ("field_precision", field_precision)):
        if kind not in ("full", "single"):
            raise UsageError(f"{name} is 'full' or 'single', not {kind!r}")
    if keep not in ("last", "best"):
        raise UsageError(f"keep is 'last' or 'best', not {keep!r}")
    # Numbers that stand for "none" in heddle.h.
    if rtol is not None:
        at_least_0("rtol", rtol)
    if omega == 0:
        raise UsageError("omega is finite and not 0")
    if interval is not None and not any(interval):
        raise UsageError("an interval needs 0 < lower < upper, both finite")
    return _heddle.SolverOptions(
        tolerance=-1.0 if rtol is None else float(rtol),
        absolute_tolerance=float(atol),
        max_iterations=min(index(maxiter), 2**63 - 1),
        restart=min(index(restart), 2**31 - 1),
        time_limit=float(time_limit),
        record_history=record_history,
        lower=float(interval[0]) if interval is not None else 0.0,
        upper=float(interval[1]) if interval is not None else 0.0,
        omega=0.0 if omega is None else float(omega),
        basis_in_single=basis_precision == "single",
        fields_in_single=field_precision == "single",
        keep_best=keep == "best",
    )
