"""The fastest plan of a matrix on a device: measured once, kept in a profile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from operator import index
from typing import Any

from . import _heddle
from ._matrix import Matrix


class Profile:
    """What was measured of matrices on a device: ``Solver(A, profile=...)`` takes the plan of A's
    pattern from it, or of a similar one. Made by ``tune`` and ``Profile.read``.

    >>> import heddle
    >>> A = heddle.generate("poisson", 1000)
    >>> profile = heddle.tune(A, search="predict")        # "predict" measures nothing
    >>> heddle.Solver(A, "cg", profile=profile).plan == profile.plan_for(A)
    True
    """

    def __init__(self, own: _heddle.Profile) -> None:
        self._own = own

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Profile:
        """A file that ``write`` or ``heddle tune`` wrote, see docs/profiles.md. Raises
        ``FileError`` and ``UsageError``."""
        return Profile(_heddle.Profile.read(os.fspath(path)))

    def write(self, path: str | os.PathLike[str], *, merge: bool = False) -> None:
        """``merge`` adds to the file's profile, which must be of the same device, and replaces what
        it has of the same matrices."""
        self._own.write(os.fspath(path), merge)

    def plan_for(
        self, A: Matrix, *, method: str = "cg", device: str = "cpu", threads: int = 0
    ) -> str:
        """The plan for a matrix: of its pattern, or of a similar one; without that, the one that is
        chosen without a profile. Raises ``UsageError`` for the profile of another device."""
        return self._own.choose(A._own, device, index(threads), method)

    @property
    def content(self) -> dict[str, Any]:
        """What a file of this profile holds."""
        return json.loads(self._own.json)

    @property
    def plan(self) -> str | None:
        """The plan of the last matrix, in all its keys; ``None`` where there is none."""
        records = self.content["records"]
        return records[-1]["plan"] if records else None

    def __repr__(self) -> str:
        content = self.content
        records = content["records"]
        words = f"<heddle.Profile: {content['device']['name']}, {len(records)} matrices"
        if len(records) == 1:
            words = words.removesuffix("matrices") + "matrix"
            speedup = records[0].get("speedup")
            if speedup is not None:
                words += f", {speedup:.2f} times as fast as CSR"
        return words + ">"


def tune(
    A: Any,
    method: str = "cg",
    *,
    device: str = "cpu",
    threads: int = 0,
    search: str = "pruned",
    seconds: float = 0.0,
    max_memory_ratio: float = 2.0,
    callback: Callable[[int, int, float], Any] | None = None,
) -> Profile:
    """Measures which plan is the fastest for a matrix on a device, as ``heddle tune`` does: nothing
    else should run there.

    Parameters
    ----------
    A
        A ``Matrix``, or what makes one.
    method
        Whose iteration is measured, or ``"product"``.
    device, threads
        As ``Solver`` takes them.
    search
        ``"pruned"``: some per cent of the time of ``"full"``, over everything that a plan holds;
        ``"full"``: every plan of the papers' space; ``"predict"``: no measurement.
    seconds
        At which the search ends; 0: when it is done, on a GPU after some seconds.
    max_memory_ratio
        Plans that take more memory than so many times CSR are skipped.
    callback
        ``callback(tried, expected, seconds_left)``, now and then. What it raises, and Ctrl-C, end
        the search.

    >>> import heddle
    >>> A = heddle.generate("elasticity", 500)
    >>> profile = heddle.tune(A, "cg", seconds=0.2, threads=1)
    >>> solver = heddle.Solver(A, "cg", profile=profile, threads=1)
    """
    matrix = A if isinstance(A, Matrix) else Matrix(A)
    own = _heddle.Profile.tune(
        matrix._own, device, index(threads), method, search, float(seconds),
        float(max_memory_ratio), callback,
    )  # fmt: skip
    return Profile(own)
