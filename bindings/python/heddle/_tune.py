"""The fastest plan of a matrix on a device: measured once, kept in a profile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from operator import index
from typing import Any

from . import _heddle
from ._errors import UsageError
from ._matrix import Matrix
from ._settings import Taken

# The method is the objective; the others are results of a search.
_found = ("objective", "plan", "node", "dense", "launch", "cycle", "smoother", "strength",
          "level_precision")  # fmt: skip
_tuned = Taken("heddle.tune", "storage", "tuning", "multigrid", but=_found)
_evaluated = Taken("Profile.loss", "storage", "tuning", "multigrid", but=_found)


class Profile:
    """Measurements of matrices on a device: ``Solver(A, profile=...)`` takes the plan for A's
    pattern, or for a similar one, from it. Made by ``tune`` and ``Profile.read``.

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
        """Reads a file that ``write`` or ``heddle tune`` wrote, see docs/reference/profiles.md.
        Raises ``FileError`` and ``UsageError``."""
        return Profile(_heddle.Profile.read(os.fspath(path)))

    def write(self, path: str | os.PathLike[str], *, merge: bool = False) -> None:
        """Writes the profile to a file. ``merge`` adds to the file's profile, which must be of the
        same device, and replaces its records of the same matrices."""
        self._own.write(os.fspath(path), merge)

    def plan_for(
        self, A: Matrix, *, method: str = "cg", device: str = "cpu", threads: int = 0
    ) -> str:
        """The plan for a matrix: the one for its pattern or a similar one; else the one chosen
        without a profile. Raises ``UsageError`` for the profile of another device."""
        return self._own.choose(A._own, device, index(threads), method)

    @_evaluated.shown
    def loss(
        self, A: Matrix, *, method: str = "cg",
        callback: Callable[[int, int, float], Any] | None = None, **settings: Any,
    ) -> float:  # fmt: skip
        """The loss of the plan of this profile's domain on a matrix, compared with the best plan
        that a search finds there, as a share of the best plan's time; infinite if the domain's plan
        cannot run. The arguments are those of ``tune``."""
        texts = {"objective": str(method), **_evaluated.texts(settings)}
        return self._own.evaluate(A._own, _heddle.Settings(texts), callback)

    @property
    def content(self) -> dict[str, Any]:
        """The content of a file of this profile."""
        return json.loads(self._own.json)

    @property
    def plan(self) -> str | None:
        """The plan of the last matrix, in all its keys; ``None`` if there is none."""
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


@_tuned.shown
def tune(
    A: Any,
    method: str = "cg",
    *,
    domain: str | None = None,
    callback: Callable[[int, int, float], Any] | None = None,
    **settings: Any,
) -> Profile:
    """Measures which plan is the fastest for a matrix on a device, like ``heddle tune``: nothing
    else should run there.

    Parameters
    ----------
    A
        A ``Matrix``, or an object that makes one; or a dict of several, of one entry, by their
        names, which have a ``domain`` in common: the plan that is best over all is kept for others
        like them.
    method
        The method whose iteration is measured, or ``"product"``; ``"multigrid"`` tunes the settings
        of multigrid, which ``profile.content["multigrids"]`` reports. With ``storage="hisparse"``
        the size of a tree's nodes is tuned.
    domain
        The name of the domain that the matrices have in common.
    callback
        ``callback(tried, expected, seconds_left)``, now and then. An exception that it raises, and
        Ctrl-C, end the search.
    {settings}

    >>> import heddle
    >>> A = heddle.generate("elasticity", 500)
    >>> profile = heddle.tune(A, "cg", seconds=0.2, threads=1)
    >>> solver = heddle.Solver(A, "cg", profile=profile, threads=1)
    """
    texts = _heddle.Settings({"objective": str(method), **_tuned.texts(settings)})
    names = list(map(str, A)) if isinstance(A, dict) else None
    given = list(A.values()) if isinstance(A, dict) else [A]
    if not given:
        raise UsageError("there is no matrix to tune")
    matrices = [one if isinstance(one, Matrix) else Matrix(one) for one in given]
    own = _heddle.Profile.tune([one._own for one in matrices], names, domain, texts, callback)
    return Profile(own)
