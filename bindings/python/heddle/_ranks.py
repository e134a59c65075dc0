"""Ranks: threads of the process that share a matrix's rows, each with its own GPU or without."""

from __future__ import annotations

from operator import index
from typing import Any

from numpy.typing import NDArray

from . import _heddle
from ._errors import UnsupportedError, UsageError
from ._functions import is_operator
from ._gpu import one_name
from ._matrix import Adjoint, Matrix


def ranks_worth_it(A: Any, texts: dict[str, str]) -> tuple[int | None, str]:
    """The number of ranks that ``heddle solve --ranks auto`` takes on the named devices, all GPUs
    of one host or none, and their names; no ranks if one device is predicted to be as good."""
    if not isinstance(A, Matrix):
        raise UnsupportedError("ranks share a matrix, not an adjoint or an operator")
    devices = list(dict.fromkeys(devices_of(texts)))
    if "cpu" in devices and len(devices) > 1:
        raise UsageError(f"device={texts['device']!r}: ranks are all on GPUs, or all on the CPU")
    counts = range(2, len(devices) + 1) if devices[0] != "cpu" else ()
    if not counts:
        return None, devices[0]
    best = A._own.best_ranks(_heddle.Settings({
        "device": devices[0], "scaling": "nvlink", "rates": "device",
        "partition": texts.get("partition", "entries"),
        "ranks": " ".join(map(str, counts))}))  # fmt: skip
    return (None, devices[0]) if best == 1 else (best, ",".join(devices[:best]))


def devices_of(texts: dict[str, str]) -> list[str]:
    """The names of the devices, which commas separate if there are several ranks."""
    return [one_name(name) for name in texts.get("device", "cpu").split(",")]


class OnRanks:
    """Stands in for an operator: a matrix whose rows ranks share, anew for each solve."""

    plan = ""

    def __init__(self, A: Any, ranks: int, texts: dict[str, str]) -> None:
        if isinstance(A, Adjoint) or is_operator(A):
            raise UnsupportedError("ranks share a matrix, not an adjoint or an operator")
        self.matrix = A if isinstance(A, Matrix) else Matrix(A)
        self.rows = self.matrix.shape[0]
        self._ranks, self._devices = index(ranks), devices_of(texts)
        if len(self._devices) not in (1, self._ranks):
            raise UsageError(
                f"device={texts['device']!r} names {len(self._devices)} devices for {ranks} ranks: "
                "one for each, or one for all"
            )
        if "threads" in texts:  # the total; the library takes those of one rank
            texts["threads"] = str(max(1, int(texts["threads"]) // max(1, self._ranks)))

    @property
    def gpu(self) -> int:
        raise UsageError("ranks need arrays in the host's memory")

    def solver(
        self, method: str, preconditioner: Any, shift: float, settings: _heddle.Settings,
        records_history: bool, null_space: NDArray[Any] | None,
    ) -> _heddle.RankSolver:  # fmt: skip
        """``null_space``: several vectors, one after the other."""
        if not isinstance(preconditioner, str):
            raise UnsupportedError("ranks need preconditioners given by their text")
        return _heddle.RankSolver.make(
            self.matrix._own, self._ranks, self._devices, method, preconditioner, shift, settings,
            records_history, null_space)  # fmt: skip
